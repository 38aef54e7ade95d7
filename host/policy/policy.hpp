// May this caller see and use this tool? One function for every way in. Hiding is not denying, and
// both are answered here.
//
// Threads: [value]. Errors: none; a Verdict says why.
// Source:  config/README.md; decisions/0004-a-call-typed-by-a-person-is-approved.md.
#pragma once

#include "config/config.hpp"

#include <optional>
#include <string>
#include <vector>

namespace patchbay::policy {

// Who asks. A local user who typed the call has thereby approved it; agents need a rule.
enum class Principal { LocalUser, Agent };

struct Question {
    Principal principal = Principal::LocalUser;
    const config::Server& server;
    std::string_view tool;               // raw name; empty: the server itself (resources, prompts)
    std::string_view public_name;        // mcp__server__tool
    std::string_view what = "requests";  // of the server itself, for the reason: "resources"
};

struct Verdict {
    bool listed = true;
    bool allowed = true;
    config::Level level = config::Level::RequireApproval;
    std::string reason;  // when not allowed: what forbids it, where, what would allow it
};

class Policy {
public:
    explicit Policy(config::Permissions permissions);
    Verdict judge(const Question& question) const;

private:
    config::Permissions permissions_;
};

}  // namespace patchbay::policy
