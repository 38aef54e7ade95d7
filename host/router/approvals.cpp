#include "router/approvals.hpp"

#include <string>
#include <utility>

namespace patchbay::router {
using connection::Approval;

namespace {

const char* step_of(Approval approval) {
    if (approval == Approval::Given) return "given";
    return approval == Approval::NobodyThere ? "nobody_there" : "refused";
}

}  // namespace

void Approvals::tell_decided(CallId id, const connection::Approvable& meant,
                             Approval approval) const {
    flights_.tell_approval(id, meant.server, meant.public_name, step_of(approval));
}

// Time has passed: an approval is of what was there when it was asked for.
std::optional<Error> Approvals::refusal(Approval approval, const connection::Approvable& meant,
                                        const Error& nobody_there,
                                        const connection::Caller& asker) const {
    if (approval == Approval::Given) return definitions_.changed(meant);
    if (approval == Approval::NobodyThere) return nobody_there;
    auto why = meant.public_name + " was not approved by " + core::to_string(asker.principal());
    if (approval == Approval::Unanswered)
        return Error{ErrorCode::Timeout, why +
                                             ": nobody answered the question in time; call again "
                                             "when somebody is there to answer it"};
    return Error{ErrorCode::Denied, std::move(why)};
}

}  // namespace patchbay::router
