// The way to a channel: a place among those that start, the settings without `${...}`, credentials
// that can be had ahead, the plugin; and the limit of the start. Exists only while the connection is
// coming about, over all the transports that are tried; destroying it ends its timer, gives its
// place back, and nothing that was asked for it comes to anything.
//
//   begin, go_on --> (a place) --> expanding --> asking ahead --> loading --> on_way_free
//
// Threads: [loop]. Borrows all it is given.
// Errors:  to the owner, by on_attempt_failed() or on_failed_beside(), which may destroy it.
// Limits:  config::Server startup_timeout from the loading on; a person who signs in is not hurried.
#pragma once

#include "connection/context.hpp"
#include "connection/credentials.hpp"
#include "connection/starts.hpp"
#include "connection/supervisor.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "registry/server_spec.hpp"

#include <memory>
#include <optional>
#include <string>

namespace patchbay::connection {

class AttemptOwner {
public:
    virtual void on_queued() = 0;   // no place is free
    virtual void on_opening() = 0;  // a way to a channel begins
    // The channel can be opened.
    virtual void on_way_free(boost::json::object settings) = 0;
    virtual void on_attempt_failed(Error error, Supervisor::Retry retry) = 0;
    // Another start of its definition has failed while this one waited for its turn.
    virtual void on_failed_beside() = 0;
    virtual void on_start_expired() = 0;
    virtual const std::string& transport() const = 0;  // the one that is tried

protected:
    ~AttemptOwner() = default;
};

class Attempt {
public:
    Attempt(const Context& context, const registry::ServerSpec& spec,
            const std::shared_ptr<Starts>& starts, Credentials& credentials, AttemptOwner& owner);

    // Every way to a channel leads through here, the first as well as those after a loss. The place
    // that it has is kept over all the transports that it tries.
    void go();
    // The limit of the start: from now; from now unless it runs; not any more.
    void begin_limit();
    void keep_limit();
    void end_limit() { limit_.stop(); }
    // A person may be signing in: no limit runs meanwhile, nor does anybody queue behind a person.
    void wait_for_person();

    bool is_loading() const { return way_ && way_->step == Step::Loading; }
    // With the other era than the one that is tried first, once in an attempt: some servers of one
    // cannot stand what begins the other, and leave.
    bool begin_otherwise();
    bool begins_otherwise() const { return handshake_ == Handshake::Otherwise; }
    void begin_as_usual() { handshake_ = Handshake::AsUsual; }

    template <class Work>
    auto guard(Work work) const {
        return lifetime_.guard(std::move(work));
    }

private:
    enum class Step { Expanding, AskingAhead, Loading };
    enum class Handshake { AsUsual, Otherwise };
    struct Way {
        Step step = Step::Expanding;
        core::Lifetime lifetime = {};
    };
    void open();
    void expanded(Expanded expanded);
    void load(boost::json::object settings);

    const Context& context_;
    const registry::ServerSpec& spec_;
    const std::shared_ptr<Starts> starts_;
    Credentials& credentials_;
    AttemptOwner& owner_;
    std::unique_ptr<StartQueue::Place> place_;  // while it starts, or waits to
    std::unique_ptr<Way> way_;
    Handshake handshake_ = Handshake::AsUsual;
    core::Timer limit_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
