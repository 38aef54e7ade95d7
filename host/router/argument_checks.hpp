// The checks of the arguments of calls, each compiled when its tool is first called. Internal to this room.
//
// Owns:    how large the compiled ones are, which the index keeps with their tools. Borrows the index.
// Threads: [loop]. Errors: Invalid, with where in the arguments and what was expected.
// Limits:  kMostSubschemas of all that are kept: then all go and are made again as they are needed. Of one:
//          protocol/argument_check.
#pragma once

#include "core/result.hpp"
#include "router/tool_index.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace patchbay::router {

class ArgumentChecks {
public:
    static constexpr std::size_t kMostSubschemas = 50'000;

    explicit ArgumentChecks(ToolIndex& index) : index_(index) {}

    // `raw`: the arguments as they will be sent; empty: {}. Nothing: they may go.
    std::optional<Error> fault(const ToolIndex::Entry& entry, std::string_view raw);

private:
    const protocol::ArgumentCheck& check_of(const ToolIndex::Entry& entry);

    ToolIndex& index_;
    std::size_t subschemas_ = 0;  // of those that were made since all went
};

}  // namespace patchbay::router
