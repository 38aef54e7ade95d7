// What a server listed as text, so that the next host knows it before its server is there.
//
// Threads: [value].
// Errors:  Invalid: the text is none of these; what it holds is judged as what a server says.
// Limits:  those of a page of tools (protocol/tool.hpp); of other lists json_depth, items_per_list and list_bytes.
#pragma once

#include "catalogue/catalogue.hpp"
#include "core/result.hpp"

#include <string>
#include <string_view>

namespace patchbay::catalogue {

// `limits`: those that it was judged by when it was heard. Behind an index, by which from_text() finds the tools of what
// is as it was written, and judged by the same limits, without parsing it; all else is parsed and judged.
std::string to_text(const Listing& listing, const core::Limits& limits);
// `definition`: of whom it is expected to be.
Result<Listing> from_text(std::string_view text, const std::string& definition,
                          const core::Limits& limits);

std::string to_text(List list, const Items& items);
Result<Items> items_from_text(std::string_view text, List list, const Origin& origin,
                              const core::Limits& limits);

}  // namespace patchbay::catalogue
