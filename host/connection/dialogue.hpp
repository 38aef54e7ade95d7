// What is said to one server and heard from it, over one channel after the other: joins the parts
// that write to the channel or read from it, and tells them that one begins or has ended. Which
// channel, and what follows when it is lost, others decide.
//
// Owns:    its parts, and by the Link the channel. Borrows all else.
// Threads: [loop].
#pragma once

#include "connection/addressees.hpp"
#include "connection/audience.hpp"
#include "connection/context.hpp"
#include "connection/credentials.hpp"
#include "connection/greeting.hpp"
#include "connection/link.hpp"
#include "connection/notifications.hpp"
#include "connection/reception.hpp"
#include "connection/refusals.hpp"
#include "connection/requests.hpp"
#include "connection/sandbox_updates.hpp"
#include "connection/server_name.hpp"
#include "connection/server_questions.hpp"
#include "connection/supervisor.hpp"
#include "connection/tool_list.hpp"
#include "connection/wishes.hpp"
#include "registry/server_spec.hpp"

namespace patchbay::connection {

struct Dialogue {
    // Whom its parts tell what they cannot decide.
    struct Owners {
        GreetingOwner& greeting;
        ReceptionOwner& reception;
        RefusalsOwner& refusals;
        ToolListOwner& tools;
        WishesOwner& wishes;
        Loss& loss;
    };
    Dialogue(const Context& context, const registry::ServerSpec& spec, const ServerName& name,
             const protocol::ClientIdentity& identity, const Supervisor& supervisor,
             const Owners& owners);
    Dialogue(const Dialogue&) = delete;

    void begin_channel();  // it is about to be opened
    void end_channel();    // from within its last event
    // The caller goes.
    void release(CallerNumber caller);

    core::Loop& loop;
    Audience audience;
    Link link;
    Credentials credentials;
    Requests requests;
    ToolList tools;
    Addressees addressees;
    ServerQuestions questions;
    Greeting greeting;
    Refusals refusals;
    Reception reception;
    Wishes wishes;
    SandboxUpdates sandbox;
    Notifications notifications;
};

}  // namespace patchbay::connection
