// The caller that sits beside the host, in its own process: a verb, a batch, an embedder. Answers what
// servers ask as [client] says, hands on what they tell, and has whoever is there approve of what a rule wants approved.
//
// Threads: [loop].
#pragma once

#include "connection/caller.hpp"
#include "connection/responder.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::app {

class LocalCaller final : public connection::Caller {
public:
    // As connection::Caller::approve.
    using Approver =
        std::function<connection::Question(const connection::Approvable& wanted, Decide decide)>;
    using NotificationHandler = std::function<void(
        const std::string& server, const std::string& method, std::string_view params)>;

    LocalCaller(connection::Callers& among, core::Principal principal,
                connection::Responder responder)
        : Caller(among, std::move(principal)), responder_(std::move(responder)) {}

    void set_notification_handler(NotificationHandler handler) { notified_ = std::move(handler); }

    // Empty: nobody is there.
    void set_approver(Approver approver) { approver_ = std::move(approver); }

    connection::Question approve(const connection::Approvable& wanted, Decide decide) override {
        const bool lasts = wanted.may_set(config::Level::AllowSession);
        if (lasts && session_approvals().hold(wanted))
            return decide(connection::Approval::Given), nullptr;
        if (!approver_) return Caller::approve(wanted, std::move(decide));
        auto meant = wanted;
        meant.arguments.clear();  // they may be large
        return approver_(wanted, [this, lasts, meant = std::move(meant),
                                  decide = std::move(decide)](connection::Approval approval) {
            if (lasts && approval == connection::Approval::ForSession)
                session_approvals().add(meant);
            decide(approval);
        });
    }
    void notify(const std::string& server, const std::string& method, std::string_view params,
                connection::Reference) override {
        if (notified_) notified_(server, method, params);
    }
    connection::Question answer(const std::string& server, const std::string& method,
                                const boost::json::object& params, Answer answer,
                                const connection::About&) override {
        return responder_.respond(server, method, params, std::move(answer));
    }

private:
    connection::Responder responder_;
    NotificationHandler notified_;
    Approver approver_;
};

}  // namespace patchbay::app
