// What of a client's calls its own user is asked. What that user has approved for the session is kept with the client.
//
// Borrows what it is given. Threads: [loop].
// Limits:  of the arguments as much is shown as the question's own bounds say.
// Source:  decisions/0035-what-a-client-is-shown.md; MCP client/elicitation.
#pragma once

#include "config/config.hpp"
#include "connection/caller.hpp"

#include <boost/json.hpp>

#include <functional>
#include <optional>
#include <string>

namespace patchbay::gateway {

// Whether what is approved can count for more than one request.
enum class Lasting { Once, Session };

class Approvals {
public:
    using Answer = connection::Caller::Answer;
    // Puts the form to the user; nothing: nobody can be asked.
    using Ask = std::function<std::optional<connection::Question>(const boost::json::object& form,
                                                                  Answer answer)>;

    Approvals(const config::Config& config, connection::SessionApprovals& given)
        : config_(config), given_(given) {}

    // As Caller::approve.
    connection::Question approve(connection::Approvable wanted, Lasting lasting,
                                 connection::Caller::Decide decide, const Ask& ask);

private:
    const config::Config& config_;
    connection::SessionApprovals& given_;
};

// How such a client comes: [gateway] approvals says who approves what no rule allows.
core::Principal as_configured(core::Principal principal, const config::Config& config);
// What becomes of a client's call that no rule names, to follow what becomes of one that is typed; empty: the same.
std::string without_a_rule(const config::GatewaySettings& settings);

// What is put to whoever may approve of it: what would be sent where, and by whose word it is asked. Secrets are
// masked in it, and what nobody would see is shown.
std::string approval_text(const config::Config& config, const connection::Approvable& wanted);
// The form that is put to the user of a client.
boost::json::object approval_form(const config::Config& config,
                                  const connection::Approvable& wanted);

}  // namespace patchbay::gateway
