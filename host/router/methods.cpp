#include "router/methods.hpp"

#include "core/text.hpp"
#include "protocol/log_levels.hpp"
#include "router/odd_members.hpp"

#include <vector>

namespace patchbay::router {
using connection::Caller;

namespace {

constexpr std::string_view kServerNeeds[][2] = {
    {"tools/", "tools"},     {"resources/", "resources"},
    {"prompts/", "prompts"}, {"completion/", "completions"},
    {"logging/", "logging"},
};

bool is_method(std::string_view name) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$./-";
    return !name.empty() && name.find_first_not_of(kLetters) == std::string_view::npos;
}

}  // namespace

std::string_view capability_for(std::string_view method) {
    for (const auto& [prefix, capability] : kServerNeeds) {
        if (method.substr(0, prefix.size()) == prefix) return capability;
    }
    return {};
}

std::string_view what_is_asked_for(std::string_view method) {
    const auto capability = capability_for(method);
    return capability.empty() || capability == "logging" ? "requests" : capability;
}

std::optional<Error> not_offered(const protocol::Session& session, const std::string& server,
                                 const std::string& method, Asker asker) {
    const auto needed = capability_for(method);
    const bool relayed = asker == Asker::Client && !method.ends_with("/list");
    if (needed.empty() || relayed || session.can(needed)) return {};
    return Error{ErrorCode::Unsupported, "server \"" + server + "\" does not offer " +
                                             std::string(needed) + " (no such capability)"};
}

std::optional<Error> wrong_method(const std::string& method) {
    // A server that trims what it reads, or stops at a NUL, would know it as a method that nobody judged.
    if (!is_method(method))
        return Error{
            ErrorCode::Invalid,
            "no method \"" + core::printable(method, 80) +
                "\": one is made of letters, digits, \"_\", \"$\", \".\", \"/\" and \"-\""};
    // Nor one that takes letters of any case.
    if (const auto meant = method_meant(method); !meant.empty())
        return Error{ErrorCode::Invalid,
                     "no method \"" + method + "\"; it is \"" + std::string(meant) + "\""};
    // Callers may share a session, and with it the numbers of what is in flight there.
    const auto small = core::lower(method);
    if (small == "initialize" || small.starts_with("notifications/"))
        return Error{ErrorCode::Invalid,
                     core::printable(method, 80) + " is said by the host itself"};
    return {};
}

std::optional<Error> not_shown(const Caller& caller, const std::string& server,
                               std::string_view method, bool of_a_task) {
    const auto* sight = caller.sight().get();
    if (!sight || sight->holds_others_of(server)) return {};
    // Of tools each is looked at for itself, a task is of a tool that was called, and how much a
    // server logs shows nothing of it.
    const bool narrow = of_a_task || method.starts_with("tools/") || method.starts_with("tasks/") ||
                        method == "logging/setLevel";
    if (narrow && sight->holds(server)) return {};
    return Error{ErrorCode::NotFound,
                 "no server \"" + core::printable(server, 80) + "\" is shown here" +
                     (sight->holds(server) ? " but for some of its tools" : "")};
}

std::string wrong_level(const std::string& level) {
    if (protocol::log_severity(level)) return {};
    const std::vector<std::string> levels(protocol::kLogLevels.begin(), protocol::kLogLevels.end());
    return core::behind_hint("unknown log level \"" + core::printable(level, 80) + "\"" +
                                 core::did_you_mean(level, levels),
                             "known: " + core::join(levels, ", "));
}

}  // namespace patchbay::router
