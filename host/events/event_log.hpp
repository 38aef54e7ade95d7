// What happens in a host that runs, as events that each are one JSON object: told to who follows them, and the
// last of them kept for who comes later. No I/O: who follows gets text.
//
//   {"event":"mcp_tool_call_end","number":17,"at":"2026-07-28T09:00:00.123Z","server":"x","call":3,...}
//
// Numbers count from 1 and have no gaps; events of one server are in the order in which they happened. Of a call
// neither its arguments nor what it was answered is told, and messages are masked (core/log).
//
// Owns:    the events that are kept. Borrows the loop.
// Threads: [loop]. Who follows is told from inside of what happens, and calls nothing back but what takes text.
// Errors:  none.
// Limits:  kEvents and kBytes are kept, the oldest go first. A text of others is cut to kTextBytes, of a list
//          kNames are told. Of a call that lasts there is a word each kLongCall.
#pragma once

#include "core/observer.hpp"
#include "core/timer.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::events {

struct Event {
    std::uint64_t number = 0;
    std::string server;  // empty: of none
    std::string text;    // the object
};

class EventLog final : public core::Observer {
public:
    static constexpr std::size_t kEvents = 4'096, kBytes = 1u << 20;
    static constexpr std::size_t kTextBytes = 1'000, kNames = 100;
    static constexpr std::chrono::seconds kLongCall{30};

    explicit EventLog(core::Loop& loop);

    // A server that was to be brought up and is not of use, and why.
    using Failed = std::pair<std::string, std::string>;
    // Those that the host has brought up by itself.
    void tell_startup(const std::vector<std::string>& ready, const std::vector<Failed>& failed);

    // What is kept, oldest first.
    const std::deque<Event>& kept() const { return kept_; }
    std::uint64_t last() const { return last_; }  // the number; 0: there was none
    // Told of each event from now on, for as long as what is returned is held.
    using Follower = std::function<void(const Event&)>;
    [[nodiscard]] std::shared_ptr<void> follow(Follower follower);

    void on_call_begun(const core::BegunCall& call) override;
    void on_request_ended(const core::EndedRequest& request) override;
    void on_server_state(const core::ServerState& state) override;
    void on_connection_closing(std::string_view server, std::uint64_t connection) override;
    void on_server_restart(std::string_view server) override;
    void on_http_answer(unsigned) override {}
    void on_approval(const core::ApprovalStep& step) override;
    void on_list_changed(const core::ListChange& change) override;
    void on_pins(const core::PinChange& change) override;
    void on_configuration(const core::ConfigurationChange& change) override;

private:
    struct Call {
        std::string server, name;
        core::Clock::time_point begun, next;  // when it is told next that it lasts
    };

    void tell(const char* event, std::string_view server, const boost::json::object& members);
    void look_at_calls();
    void wait_for_calls();
    void tell_start(const core::ServerState& state);

    core::Loop& loop_;
    std::uint64_t last_ = 0;
    std::deque<Event> kept_;
    std::size_t bytes_ = 0;  // of what is kept
    // Expired ones are taken out with the next event.
    std::vector<std::weak_ptr<Follower>> followers_;
    std::map<std::uint64_t, Call> calls_;
    core::Timer look_;  // while there are calls
    std::map<std::uint64_t, std::uint64_t>
        starts_;  // of connections that are on their way, by theirs
    std::uint64_t last_start_ = 0;
};

}  // namespace patchbay::events
