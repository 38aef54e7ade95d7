#include "policy/policy.hpp"

#include "protocol/qualified_name.hpp"

#include <algorithm>

namespace patchbay::policy {
using config::Level;

namespace {

const std::string* matching(const std::vector<std::string>& patterns, std::string_view name) {
    const auto found = std::find_if(patterns.begin(), patterns.end(), [&](const auto& pattern) {
        return protocol::matches(pattern, name);
    });
    return found == patterns.end() ? nullptr : &*found;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Verdict hidden(std::string reason) {
    return {false, false, Level::Disable, std::move(reason)};
}
Verdict denied(std::string reason) {
    return {true, false, Level::Deny, std::move(reason)};
}

}  // namespace

Policy::Policy(config::Permissions permissions) : permissions_(std::move(permissions)) {}

Verdict Policy::judge(const Question& question) const {
    const auto& server = question.server;
    const std::string name(question.public_name);
    const auto rule = [&](const std::string& key) {
        return config::to_string(server.place_of_rule(key));
    };
    Level level = Level::RequireApproval;
    bool named_by_server = false;
    if (!question.tool.empty()) {
        if (contains(server.disabled_tools, question.tool)) {
            return hidden(name + " is in disabled_tools of server \"" + server.id + "\" (" +
                          rule("disabled_tools") + ")");
        }
        if (server.enabled_tools && !contains(*server.enabled_tools, question.tool)) {
            return hidden(name + " is not in enabled_tools of server \"" + server.id + "\" (" +
                          rule("enabled_tools") + ")");
        }
        named_by_server = server.enabled_tools.has_value();
        const auto ruled = server.tools.find(std::string(question.tool));
        if (ruled != server.tools.end()) {
            level = ruled->second;
            named_by_server = true;
        }
        if (level == Level::Disable) {
            return hidden(name + " is disabled in tools of server \"" + server.id + "\" (" +
                          rule("tools." + std::string(question.tool)) + ")");
        }
        if (level == Level::Deny) {
            return denied(name + " is denied in tools of server \"" + server.id + "\" (" +
                          rule("tools." + std::string(question.tool)) + ")");
        }
    }
    if (!permissions_.closed.empty()) return denied(name + " is denied: " + permissions_.closed);
    // Allow first, then deny; deny wins.
    const auto* allowed_by =
        permissions_.allow ? matching(*permissions_.allow, question.public_name) : nullptr;
    if (const auto* pattern = matching(permissions_.deny, question.public_name)) {
        return denied(name + " is denied by [permissions] deny = \"" + *pattern + "\"");
    }
    if (permissions_.allow && !allowed_by) {
        return denied(name + " matches no pattern of [permissions] allow; add \"" + name +
                      "\" to allow it");
    }
    if (server.trust == "untrusted" && !allowed_by && !named_by_server) {
        return denied("server \"" + server.id + "\" is untrusted (" + rule("trust") +
                      ") and no rule names " + name +
                      "; add it to [permissions] allow or enabled_tools");
    }
    const bool approved =
        allowed_by || level > Level::RequireApproval || question.principal == Principal::LocalUser;
    if (!approved) {
        Verdict verdict = denied(name +
                                 " needs approval and nobody is there to give it; to allow it, "
                                 "add \"" +
                                 name + "\" to [permissions] allow");
        verdict.level = level;
        return verdict;
    }
    return {true, true, level, {}};
}

}  // namespace patchbay::policy
