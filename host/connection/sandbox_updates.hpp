// Tells a server under which sandbox its clients run programs, where it declares the experimental capability
// `codex/sandbox-state`: by `codex/sandbox-state/update`, whose params are the state that is set.
//
//   a session begins, the state is another   a request, as its answer says that calls to come are under it; one at
//                                            a time: of several states meanwhile the last one follows
//   the server does not know that request    the same as a notification, for the rest of the session
//   no state is set                          nothing is said; what was said before stays the server's
//
// Owns:    nothing. Borrows all it is given.
// Threads: [loop].
// Errors:  a server that refuses the update, or does not answer it, is told of in the log.
// Limits:  kAnswer, which the first call of a session waits for; kMostSandboxStateBytes.
// Source:  decision 47.
#pragma once

#include "connection/context.hpp"
#include "connection/link.hpp"
#include "connection/requests.hpp"
#include "connection/server_name.hpp"
#include "core/lifetime.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace patchbay::connection {

inline constexpr std::size_t kMostSandboxStateBytes = 64u << 10;  // of its JSON text

// Of JSON text: one object, or null for none. Invalid, Limit: it is not to be told to anybody.
Result<std::optional<SandboxState>> sandbox_state_in(std::string_view text);

class SandboxUpdates {
public:
    static constexpr std::chrono::milliseconds kAnswer{2'000};

    SandboxUpdates(const Context& context, const ServerName& name, const Link& link,
                   Requests& requests)
        : context_(context), name_(name), link_(link), requests_(requests) {}

    void begin_session();
    void end_session();
    void tell();  // what is set now
    // There is a session whose server wants to know.
    bool is_wanted() const;
    // `then`: once, when the server has answered what it was told, or has had its time; not when the session ends
    // before. From within this call where nothing is on its way.
    void when_told(std::function<void()> then);

private:
    void on_answer(const Result<Reply>& reply);
    void on_refused(std::string_view error);
    void notify();

    const Context& context_;
    const ServerName& name_;
    const Link& link_;
    Requests& requests_;
    bool asking_ = false;           // a request is on its way
    bool again_ = false;            // the state is another one by now
    bool by_notification_ = false;  // in this session
    std::function<void()> then_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
