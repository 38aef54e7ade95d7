// The course of one connection as those outside see it: passes each event on to the Supervisor, tells
// whoever watches where that shows another state, and keeps who waits: for the attempt under way to
// end, or for the connection to be closed. Knows no channel, and no request.
//
// Owns:    the Supervisor, and the handlers of who waits. Borrows all else.
// Threads: [loop]. Handlers are called from the loop, never from inside the call that told of them.
// Errors:  none of its own; it keeps the last one that it was told.
#pragma once

#include "connection/context.hpp"
#include "connection/server_name.hpp"
#include "connection/starts.hpp"
#include "connection/status.hpp"
#include "connection/supervisor.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::connection {

class Course {
public:
    using Event = std::function<void(Supervisor&)>;  // of the table at the head of supervisor.hpp

    // `starts`: those of its definition, over all of its connections.
    Course(const Context& context, const config::Server& server, const ServerName& name,
           std::shared_ptr<Starts> starts);

    const Supervisor& supervisor() const { return supervisor_; }
    const std::shared_ptr<Starts>& starts() const { return starts_; }
    const Status& shown() const { return shown_; }  // only what changes here

    // Somebody wants it ready; `settled` may be empty. True: an attempt is to begin.
    bool want(std::function<void()> settled);
    void settle();  // who waits for the attempt
    void await_close(std::function<void()> closed);
    void closed();  // who waits for that

    void pass(const Event& event);
    void ready();
    // `told`: what people read; what failed before Ready is a failed start of its definition. Returned with what to
    // do next, where that is not to wait.
    Error fail(const Error& told, const Event& event);
    void was_ready();  // and comes back
    // Until the next attempt; nothing: none follows by itself.
    std::optional<std::chrono::milliseconds> pause();
    // Who asks from now on is refused, and nobody is told.
    void abandon() { supervisor_.stopped(); }
    void note(std::string error) { shown_.last_error = std::move(error); }

    // Why it is of no use now, for who wanted it ready.
    Error why_not_ready() const;
    // Why it is not started for a new request: a start failed a moment ago.
    std::optional<Error> why_put_off() const;

private:
    std::string next_step() const;

    const Context& context_;
    const ServerName& name_;
    const std::shared_ptr<Starts> starts_;
    const std::uint64_t number_;  // of the connection
    Supervisor supervisor_;
    Status shown_;
    std::string advice_;  // what to do, at the end of its last_error while that is of use
    std::vector<std::function<void()>> until_settled_, until_closed_;
};

}  // namespace patchbay::connection
