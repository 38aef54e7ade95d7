// Whether the arguments of a call fit what its tool's server says that it takes, before they are sent. A schema is
// foreign: it may be as large, as deep and as slow as its limits let it, and no more.
//
// What it does not know it does not judge: a schema that makes no sense, one in a dialect that is not spoken, a
// pattern that RE2 has not, arguments that would take too long. The server is asked to judge them then, as it would anyway.
//
// Threads: [value], immutable once made.
// Limits:  kMostSubschemas and the limits of Schema; kMostSteps, kMostBytes and kMostDepth of arguments.
// Source:  MCP server/tools "Error Handling", basic "JSON Schema Usage".
#pragma once

#include "protocol/schema.hpp"
#include "protocol/tool.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace patchbay::protocol {

class ArgumentCheck {
public:
    static constexpr std::size_t kMostSubschemas = 4'000;
    static constexpr std::size_t kMostSteps = 50'000;
    static constexpr std::size_t kMostBytes = 1u << 20;
    static constexpr std::size_t kMostDepth = 128;

    explicit ArgumentCheck(const Tool& tool);

    // `raw`: a JSON object; empty: {}. What is wrong, with where in the arguments and what was expected; empty:
    // nothing, or it cannot be judged. `tool`: the same, for the words.
    std::string fault(const Tool& tool, std::string_view raw) const;

    // Why nothing is judged; empty: it is, or whatever comes is fine.
    const std::string& unusable() const { return unusable_; }
    std::size_t subschemas() const { return schema_ ? schema_->subschemas() : 0; }

private:
    std::optional<Schema> schema_;  // none: there is nothing to judge by
    std::set<std::string, std::less<>> required_;
    std::string unusable_;
};

}  // namespace patchbay::protocol
