// The inside of a Connection: joins its parts, and says what follows when the connection is wanted,
// ready, lost or closed. How it comes to a channel the Opening knows, what is done with a session the
// Agreement, what is said over the channel the Dialogue, and which state that is the Course. Its
// sources are connection (the outer face) and connection_impl; nobody else includes this.
#pragma once

#include "connection/agreement.hpp"
#include "connection/connection.hpp"
#include "connection/course.hpp"
#include "connection/dialogue.hpp"
#include "connection/opening.hpp"
#include "connection/transport_choice.hpp"
#include "core/lifetime.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace patchbay::connection {

struct Connection::Impl final : AgreementOwner, OpeningOwner, ReceptionOwner, WishesOwner, Loss {
    Impl(const Context& context, registry::ServerSpec spec, std::shared_ptr<Starts> starts,
         Manner how);

    // From outside.
    void connect(std::function<void()> when_settled);
    RequestId request(CallerNumber caller, Request&& request, ReplyHandler&& handler) override;
    void close(std::function<void()> when_closed);
    void close_when_idle(std::function<void()> when_closed);
    void abandon();  // nobody waits for the channel

    // The parts report.
    void on_ready() override;
    void lose(Error error) override;
    void on_failed(Error error, Supervisor::Retry retry) override;
    void on_stuck(const Error& why) override;
    void on_heard() override { agreement.heard(); }
    void on_malformed(const Error& error) override;
    void on_channel_closed(const plugin::Problem* problem) override;
    void on_left(const Error& error);  // by itself, and well
    void on_resources_wanted() override { agreement.listen(); }

    // Everybody who waits hears of it, after the supervisor has passed on.
    void tell_failure(const Error& why, const Course::Event& event);
    Error why_gone(const plugin::Problem* problem, bool was_ready) const;
    void stopped();
    std::optional<protocol::ClientIdentity> with(
        const std::optional<boost::json::object>& declares) const;

    const Context& context;
    registry::ServerSpec spec;  // its parts keep references to it
    const Manner manner;
    // The host's may be another one until the next greeting.
    const std::optional<protocol::ClientIdentity> own_identity = with(manner.declares);
    const protocol::ClientIdentity& identity =
        own_identity ? *own_identity : context.terms.identity;
    const ServerName name{spec.id()};
    Course course;
    TransportChoice choice{spec.config};
    const Inside inside{spec, manner.preferred, name, course, choice, dialogue, *this};
    Agreement agreement{context, {inside, *this}};
    Opening opening{context, {inside, agreement, *this}};
    Dialogue dialogue{context,
                      spec,
                      name,
                      identity,
                      course.supervisor(),
                      {.greeting = agreement,
                       .reception = *this,
                       .refusals = opening,
                       .tools = agreement,
                       .wishes = *this,
                       .loss = *this}};
    core::Lifetime lifetime;
};

}  // namespace patchbay::connection
