#include "router/approvals.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

#include <string>
#include <utility>

namespace patchbay::router {
using config::Level;
using connection::Approval;

namespace {

// A command may be told beforehand, but not what an administrator wants asked each time.
Error with_option(Error nobody_there, const connection::Approvable& meant,
                  const connection::Caller& asker) {
    using Kind = core::Principal::Kind;
    const auto kind = asker.principal().kind;
    if ((kind == Kind::Person || kind == Kind::Batch) && meant.may_set(Level::AllowSession))
        nobody_there.message += "; or approve it by --yes";
    return nobody_there;
}

const char* step_of(Approval approval) {
    if (connection::is_given(approval)) return "given";
    return approval == Approval::NobodyThere ? "nobody_there" : "refused";
}

}  // namespace

void describe(connection::Approvable& wanted, const policy::Verdict& verdict) {
    if (verdict.asks_every_time()) wanted.levels = {Level::AllowOnce};
    if (!verdict.rule) return;
    wanted.rule = policy::name_of(verdict.rule->kind);
    if (!verdict.rule->text.empty())
        wanted.rule += " \"" + core::printable(verdict.rule->text, 200) + "\"";
    if (verdict.rule->place) wanted.rule += " (" + config::to_string(*verdict.rule->place) + ")";
}

// What is asked each time was not answered before.
bool Approvals::decided_before(CallId id, const connection::Caller& caller,
                               const connection::Approvable& wanted) const {
    const auto& asker = caller.principal();
    const bool counts = decisions_ && asker.trust != core::Trust::NeedsRule &&
                        wanted.may_set(Level::AllowSession) && decisions_->allow(wanted, asker);
    if (counts) tell_decided(id, wanted, Approval::Given);
    return counts;
}

void Approvals::add_levels(connection::Approvable& wanted, const connection::Caller& caller) const {
    if (!decisions_ || !wanted.may_set(Level::AllowSession)) return;
    for (const auto level : decisions_->levels(caller.principal())) wanted.levels.push_back(level);
}

// Somebody may answer with what they were not offered: then it counts for this once.
void Approvals::keep(const connection::Approvable& meant, Approval approval,
                     const connection::Caller& asker) const {
    const auto level = connection::level_of(approval);
    if (level <= Level::AllowSession || !decisions_ || !meant.may_set(level)) return;
    if (const auto kept = decisions_->keep(meant, level, asker.principal()); !kept)
        core::log::warn("the approval of " + meant.public_name +
                        " counts for this once alone: " + kept.error().message);
}

void Approvals::tell_decided(CallId id, const connection::Approvable& meant,
                             Approval approval) const {
    flights_.tell_approval(id, meant.server, meant.public_name, step_of(approval));
}

// Time has passed: an approval is of what was there when it was asked for.
std::optional<Error> Approvals::refusal(Approval approval, const connection::Approvable& meant,
                                        const Error& nobody_there,
                                        const connection::Caller& asker) const {
    if (connection::is_given(approval)) return definitions_.changed(meant);
    if (approval == Approval::NobodyThere) return with_option(nobody_there, meant, asker);
    auto why = meant.public_name + " was not approved by " + core::to_string(asker.principal());
    if (approval == Approval::Unanswered)
        return Error{ErrorCode::Timeout, why +
                                             ": nobody answered the question in time; call again "
                                             "when somebody is there to answer it"};
    return Error{ErrorCode::Denied, std::move(why)};
}

}  // namespace patchbay::router
