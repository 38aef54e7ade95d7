// Which tools the host itself has, as a client is told of them, and what they may be called with.
//
// Their names begin with "patchbay__", as no tool of a server does: those begin with "mcp__".
//
// Threads: [value]. Errors: Invalid, of arguments that the tool's schema has no room for.
#pragma once

#include "core/result.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace patchbay::gateway {

struct HostTool {
    enum class Does {
        CallTool,  // which Operations makes a call like any other
        ListResources,
        ReadResource,
        Reply,
        Search,
        Restart,
        Status,
        StartConversation
    };
    static constexpr std::int64_t kMostFound = 50, kUsuallyFound = 10;          // of a search
    static constexpr std::int64_t kMostResources = 500, kUsualResources = 100;  // of a page

    Does does;
    std::string_view name, about;
    std::string_view input, output, annotations;  // raw JSON; output may be empty: whatever comes

    bool is_of_a_conversation() const {
        return does == Does::Reply || does == Does::StartConversation;
    }
    std::string definition() const;  // raw
    Result<boost::json::object> read_arguments(std::string_view raw) const;
};

std::span<const HostTool> host_tools();  // by their names

}  // namespace patchbay::gateway
