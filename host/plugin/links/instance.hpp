// A plugin as this host has entered it, in the eyes of its links: what they hand it when something is
// opened, and where it is noted that it broke the contract. The services are what implements it.
//
// Threads: [loop], except where it says [any].
#pragma once

#include "plugin/abi.hpp"

#include <cstddef>
#include <string>

namespace patchbay::plugin {

class Instance {
public:
    virtual const std::string& plugin() const = 0;  // its id; one string for good [any]
    // What its entry was handed, and what it made of that: null before and after.
    virtual const patchbay_host* host() const = 0;
    virtual const patchbay_plugin* made() const = 0;
    // Notes that the plugin broke the contract; the first reason is kept. [any]
    virtual void misbehaved(std::string what) = 0;

    // Channels and authenticators that the plugin has made and not yet destroyed.
    std::size_t channels = 0;

protected:
    ~Instance() = default;
};

}  // namespace patchbay::plugin
