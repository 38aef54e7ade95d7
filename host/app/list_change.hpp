// What servers list otherwise than before, as whoever observes a host hears of it.
//
// Threads: [value]. Good as long as what they are made of.
#pragma once

#include "catalogue/catalogue.hpp"
#include "core/observer.hpp"

namespace patchbay::app {

core::ListChange change_of(const catalogue::Drift& drift);
// Of the tools of one server, which has just listed them.
core::ListChange change_of_tools(const catalogue::Catalogue& catalogue,
                                 const catalogue::Catalogue::Listings::value_type& listing);

}  // namespace patchbay::app
