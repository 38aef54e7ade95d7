// What the rules say of a request to a server that is for none of its tools. Rules name tools; the server
// as a whole is denied by one that fits its bare prefix. Internal to this room.
//
// Borrows the policy. Threads: [loop].
#pragma once

#include "core/principal.hpp"
#include "core/result.hpp"
#include "policy/policy.hpp"
#include "router/router.hpp"

#include <string>

namespace patchbay::router {

// What stands for the server as a whole where a tool has its public name.
std::string prefix_of(const std::string& server);

class ServerRules {
public:
    struct Judgement {
        policy::Verdict verdict;
        Error denied;  // why it is not allowed; empty where it is
        policy::Decision decision() const { return verdict.decision; }
    };

    explicit ServerRules(const policy::Policy& policy) : policy_(policy) {}

    // `mismatch`: of what it asks for with what was approved; null: there is none.
    Judgement judge(core::Trust trust, const std::string& server, const std::string& method,
                    const policy::PinMismatch* mismatch = nullptr) const;
    Judgement judge(core::Trust trust, const ServerRequest& request,
                    const policy::PinMismatch* mismatch = nullptr) const;

    // And not that no rule allows all of it, as where rules allow some of its tools.
    bool deny_all_of(core::Trust trust, const std::string& server) const;

private:
    const policy::Policy& policy_;
};

}  // namespace patchbay::router
