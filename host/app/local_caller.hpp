// The caller that sits beside the host, in its own process: a verb, a batch, an embedder. Answers what
// servers ask as [client] says, and hands on what they tell.
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
    using NotificationHandler = std::function<void(
        const std::string& server, const std::string& method, std::string_view params)>;

    LocalCaller(connection::Callers& among, core::Principal principal,
                connection::Responder responder)
        : Caller(among, std::move(principal)), responder_(std::move(responder)) {}

    void set_notification_handler(NotificationHandler handler) { notified_ = std::move(handler); }

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
};

}  // namespace patchbay::app
