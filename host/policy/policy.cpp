#include "policy/policy.hpp"

#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <cctype>

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

// The advice that allows this tool and locks out no other, as the first entry of an allow list would.
std::string level_that_allows(const Question& question) {
    const bool plain = std::all_of(question.tool.begin(), question.tool.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_';
    });
    return "[servers." + question.server.id + ".tools] " +
           (plain ? std::string(question.tool)
                  : protocol::quoted(core::printable(question.tool, 200))) +
           " = \"allow-always\"";
}

Verdict hidden(std::string reason) {
    return {false, false, Level::Disable, std::move(reason)};
}
Verdict denied(std::string reason) {
    return {true, false, Level::Deny, std::move(reason)};
}

// Behind what it is the place of; empty: nobody knows it.
std::string at(const std::map<std::string, config::Place>& places, const std::string& pattern) {
    const auto found = places.find(pattern);
    return found == places.end() ? "" : " (" + config::to_string(found->second) + ")";
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
                          config::to_string(server.place_of_rule("disabled_tools", question.tool)) +
                          ")");
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
    // Also where only its public name is known yet.
    const bool of_a_tool = question.public_name != "mcp__" + server.id + "__";
    const std::string asked_for =
        of_a_tool ? name : std::string(question.what) + " of server \"" + server.id + "\"";
    const std::string is_denied = asked_for + (of_a_tool ? " is denied" : " are denied");
    if (!permissions_.closed.empty()) return denied(is_denied + ": " + permissions_.closed);
    // Allow first, then deny; deny wins.
    const auto* allowed_by =
        permissions_.allow ? matching(*permissions_.allow, question.public_name) : nullptr;
    if (const auto* pattern = matching(permissions_.deny, question.public_name)) {
        return denied(is_denied + " by [permissions] deny = \"" + *pattern + "\"" +
                      at(permissions_.deny_places, *pattern));
    }
    if (permissions_.allow && !allowed_by) {
        const auto& allow = *permissions_.allow;
        return denied(is_denied + ", as no pattern of [permissions] allow" +
                      (allow.empty() ? "" : at(permissions_.allow_places, allow.front())) +
                      " matches \"" + name + "\"; add that to it");
    }
    if (server.trust == "untrusted" && !allowed_by && !named_by_server) {
        return denied("server \"" + server.id + "\" is untrusted (" + rule("trust") +
                      ") and no rule names " + asked_for + "; to allow " +
                      (!question.tool.empty() ? "it: " + level_that_allows(question)
                                              : "them: trust = \"trusted\""));
    }
    const bool approved =
        allowed_by || level > Level::RequireApproval || question.principal == Principal::LocalUser;
    if (!approved) {
        Verdict verdict =
            denied(asked_for + (of_a_tool ? " needs" : " need") +
                   " approval and nobody is there to give it; to allow " +
                   (!question.tool.empty() ? "it: " + level_that_allows(question)
                                           : "them: \"" + name +
                                                 "\" in [permissions] allow, beside all else "
                                                 "that is allowed"));
        verdict.level = level;
        return verdict;
    }
    return {true, true, level, {}};
}

}  // namespace patchbay::policy
