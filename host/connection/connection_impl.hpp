// The inside of a Connection: joins its parts, and says what follows when one of them reports. The
// Supervisor knows the state and the table of what may follow; an Attempt exists only on the way to
// Ready, Live only while ready, and what a channel brought ends with Link::end(). Its sources are
// connection (the outer face) and lifecycle; nobody else includes this.
#pragma once

#include "connection/addressees.hpp"
#include "connection/attempt.hpp"
#include "connection/audience.hpp"
#include "connection/connection.hpp"
#include "connection/credentials.hpp"
#include "connection/greeting.hpp"
#include "connection/health.hpp"
#include "connection/link.hpp"
#include "connection/listen_stream.hpp"
#include "connection/notifications.hpp"
#include "connection/reception.hpp"
#include "connection/refusals.hpp"
#include "connection/requests.hpp"
#include "connection/server_questions.hpp"
#include "connection/supervisor.hpp"
#include "connection/tool_list.hpp"
#include "connection/transport_choice.hpp"
#include "connection/wishes.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::connection {

struct Connection::Impl final : AttemptOwner,
                                GreetingOwner,
                                Loss,
                                ReceptionOwner,
                                RefusalsOwner,
                                ToolListOwner,
                                WishesOwner {
    Impl(const Context& context, registry::ServerSpec spec, std::shared_ptr<Starts> starts);

    // From outside.
    void connect(std::function<void()> when_settled);
    RequestId request(CallerNumber caller, Request&& request, ReplyHandler&& handler) override;
    void release(CallerNumber caller);
    void close(std::function<void()> when_closed);
    void close_when_idle(std::function<void()> when_closed);
    void abandon();  // nobody waits for the channel
    // Why it is of no use now, for who wanted it ready.
    Error why_not_ready() const;
    // Why it is not started for a new request: a start failed a moment ago.
    std::optional<Error> why_put_off() const;

    // What follows what.
    void begin_attempt();
    void ready();
    void lose(Error error) override;
    void renew_session() override;
    bool next_transport(Error& error);
    bool reopen_authorized(const plugin::Problem& problem);
    Error why_gone(const plugin::Problem* problem, bool was_ready) const;
    void stopped();
    // Everybody who waits hears of it, after the supervisor has passed on.
    void tell_failure(const Error& error, const std::function<void()>& transition);
    void pass(const std::function<void()>& transition);
    void settle();

    // The parts report.
    void on_queued() override;
    void on_opening() override;
    void on_way_free(boost::json::object settings) override;
    void on_attempt_failed(Error error, Supervisor::Retry retry) override;
    void on_failed_beside() override;
    void on_start_expired() override;
    const std::string& transport() const override { return choice.current(); }

    void on_agreed(protocol::Session session) override;
    void on_modern_for_good() override { questions.clear(); }
    bool is_new_process() const override { return reception.has_process(); }
    void on_handshake_refused(const std::string& method, const plugin::Problem* problem) override;
    void on_handshake_failed(Error error) override;

    void on_asking() override;
    void on_asked() override;
    void on_heard() override;
    void on_malformed(const Error& error) override;
    void on_channel_closed(const plugin::Problem* problem) override;
    bool mirrors_arguments() const override { return link.takes_headers() && link.modern(); }
    void on_listed(std::shared_ptr<const catalogue::Listing> listing) override;
    void on_tools_changed(const Result<void>& outcome) override;
    void on_tools_read() override;
    bool on_list_unanswered(const Error& error) override;
    void on_resources_wanted() override;

    const Context& context;
    registry::ServerSpec spec;  // its parts keep references to it
    const std::shared_ptr<Starts> starts;
    const ServerName name{spec.id()};
    Audience audience;
    Link link;
    Supervisor supervisor{context.loop.time(), context.terms, spec.config};
    TransportChoice choice{spec.config};
    Credentials credentials{context, spec.config, link};
    Requests requests{context.loop,
                      context.terms,
                      {spec.config, name, supervisor, credentials, tools, link, questions, *this}};
    ToolList tools{context.loop, context.terms, name, spec.definition_key, requests, *this};
    Addressees addressees{audience, link, requests.pending()};
    ServerQuestions questions{context, name, link, requests, addressees, *this};
    Greeting greeting{context.loop, context.terms, spec.config, name, link, requests, *this, *this};
    Refusals refusals{{context.loop.time(), name, supervisor, link, requests, credentials, tools,
                       greeting, *this, *this}};
    Reception reception{context,
                        {name, link, requests, questions, notifications, addressees, tools,
                         greeting, refusals, *this, *this}};
    Wishes wishes{context.loop, context.terms, spec.config, link, requests, *this};
    Notifications notifications{context.terms.limits, {name, audience, link, addressees, wishes}};

    // What lives while the connection is ready.
    struct Live {
        explicit Live(Impl& owner);
        ListenStream listen;
        std::optional<Health> health;
    };
    std::optional<Attempt> attempt;
    std::optional<Live> live;
    core::Timer back_off{context.loop};

    std::vector<std::function<void()>> waiting_to_settle, waiting_to_close;
    std::string agreed_transport;  // empty until a handshake went through since the last opening
    Status shown;                  // the parts that only change here
    core::Lifetime lifetime;
};

}  // namespace patchbay::connection
