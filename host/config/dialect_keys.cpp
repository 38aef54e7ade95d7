#include "config/dialects.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace patchbay::config {

namespace {

struct Alias {
    std::string_view written;
    std::string_view ours;
    unsigned dialects;
};
constexpr std::array kAliases = {
    Alias{"type", "transport", kAll},
    Alias{"program", "command", kAll},
    Alias{"http_headers", "headers", kCodex},
    Alias{"env_vars", "pass_env", kCodex},  // theirs too hands on what is set, and no more
    Alias{"serverUrl", "url", kDesktop},
    Alias{"httpUrl", "url", kDesktop},
    Alias{"disabledTools", "disabled_tools", kDesktop},
    Alias{"excludeTools", "disabled_tools", kDesktop},
    Alias{"enabledTools", "enabled_tools", kDesktop},
    Alias{"includeTools", "enabled_tools", kDesktop},
    Alias{"timeout", "tool_timeout_ms", kDesktop},  // Gemini's
};

// Keys of other programs that mean nothing here. `instead`: of those without which the server is
// another one, what does the same.
struct Foreign {
    std::string_view written;
    unsigned dialects;
    std::string_view instead = {};
};
constexpr std::array kForeign = {
    Foreign{"template", kCodex | kDesktop | kVsCode,
            "templates are for entries below \"servers\": move it there"},
    Foreign{"default_tools_approval_mode", kCodex},
    Foreign{"supports_parallel_tool_calls", kCodex},
    Foreign{"oauth_resource", kCodex, "the server is asked for it"},
    Foreign{"scopes", kCodex, "write oauth.scope"},
    Foreign{"autoApprove", kDesktop},
    Foreign{"alwaysAllow", kDesktop},
    Foreign{"description", kDesktop | kVsCode},
    Foreign{"gallery", kVsCode},
    Foreign{"dev", kVsCode},
    Foreign{"envFile", kDesktop | kVsCode, "write its variables to env"},
    Foreign{"headersHelper", kDesktop,
            "write auth = \"ID\" and a table [auth.ID] with kind = \"bearer\" and command = [...]"},
};

}  // namespace

// Told to who looks at the file, not at every call of the server.
void pass_over_foreign(ServerEntry& entry, Dialect dialect, Fragment& out) {
    std::erase_if(entry.body.members, [&](const Member& member) {
        const auto found = std::find_if(kForeign.begin(), kForeign.end(), [&](const auto& each) {
            return (each.dialects & dialect) && each.written == member.key;
        });
        if (found == kForeign.end()) return false;
        if (!found->instead.empty())
            note(out, RuleId::ForeignKey, Severity::Warning, member.mark,
                 "server \"" + core::printable(entry.id, 80) + "\": \"" + member.key +
                     "\" is not read; " + std::string(found->instead));
        return true;
    });
}

void rename(ServerEntry& entry, Dialect dialect) {
    for (auto& member : entry.body.members) {
        for (const auto& alias : kAliases) {
            if (!(alias.dialects & dialect) || alias.written != member.key) continue;
            if (entry.body.find(alias.ours)) {
                return refuse(entry, RuleId::ConflictingKeys, member.mark,
                              "\"" + std::string(alias.written) + "\" and \"" +
                                  std::string(alias.ours) + "\" say the same; keep one");
            }
            entry.aliases[std::string(alias.ours)] = member.key;
            member.key = alias.ours;
            break;
        }
    }
}

}  // namespace patchbay::config
