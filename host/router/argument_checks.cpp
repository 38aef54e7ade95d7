#include "router/argument_checks.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

#include <memory>
#include <string>

namespace patchbay::router {

std::optional<Error> ArgumentChecks::fault(const ToolIndex::Entry& entry, std::string_view raw) {
    auto wrong = check_of(entry).fault(*entry.tool, raw);
    if (wrong.empty()) return {};
    return Error{ErrorCode::Invalid, entry.public_name + ": " + wrong};
}

const protocol::ArgumentCheck& ArgumentChecks::check_of(const ToolIndex::Entry& entry) {
    if (entry.check) return *entry.check;
    auto made = std::make_shared<const protocol::ArgumentCheck>(*entry.tool);
    if (!made->unusable().empty())
        core::log::debug("server \"" + entry.server + "\": arguments of " + entry.public_name +
                         " are not checked: its inputSchema " +
                         core::printable(made->unusable(), 300));
    subschemas_ += made->subschemas();
    if (subschemas_ > kMostSubschemas) {
        for (const auto& each : index_.entries()) each.check.reset();
        subschemas_ = made->subschemas();
    }
    entry.check = std::move(made);
    return *entry.check;
}

}  // namespace patchbay::router
