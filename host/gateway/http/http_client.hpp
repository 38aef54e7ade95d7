// One client that speaks HTTP: the streams by which it hears what its session says. What belongs to a
// request goes out by the answer to its POST, as JSON if that is all there is to say, else as a stream
// of events; what belongs to none by the stream that the client opened with GET. A modern client has
// none of that kind, and there is one of these for all of them: each request stands for itself.
//
// Owns:    the session, its streams and what may be asked for again of them. Borrows the rest.
// Threads: [loop].
// Limits:  kEventBytes wait for a client that does not read, then notifications are dropped, and it is
//          asked nothing more; answers are not. A stream whose connection was lost is kept for kResumeWithin.
// Source:  MCP basic/transports of each revision.
#pragma once

#include "gateway/client_session.hpp"
#include "gateway/http/admission.hpp"
#include "gateway/http/event_store.hpp"
#include "gateway/http/posted.hpp"
#include "gateway/http/session_id.hpp"
#include "gateway/http/session_records.hpp"
#include "gateway/http/wish_record.hpp"
#include "http/exchange.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace patchbay::gateway {

class HttpClient final : Outward {
public:
    static constexpr std::size_t kEventBytes = 2u << 20;
    static constexpr std::chrono::seconds kSilent{1}, kKeepAlive{15}, kResumeWithin{60};

    enum class Era { Legacy, Modern };
    struct Parts {
        connection::Callers& callers;
        const service::Servers& servers;
        catalogue::Catalogue& catalogue;
        std::string version;  // our own
        SessionRecords& records;
        Conversations* conversations = nullptr;  // as those of a ClientSession
        TaskClaims* task_claims = nullptr;       // of all sessions of a gateway
        std::string state_key = {};              // as that of a ClientSession
    };
    HttpClient(const Parts& parts, Era era, Guest guest, const SessionIds& ids,
               std::size_t most_requests);
    ~HttpClient();

    // Empty before initialize was answered, and of the modern era.
    const std::string& id() const { return id_; }
    // A session that another gateway, or this one, has put away.
    void go_on_as(const std::string& id, const SessionTerms& terms, SessionWishes wishes);
    ClientSession& session() { return session_; }

    // When what a request was let in with counts no more: a stream that would go on for ever ends then,
    // any other request is answered. None: it is told of in another way.
    using Until = std::optional<core::Calendar::time_point>;
    // `route`: of this exchange alone.
    void post(Route route, std::shared_ptr<http::Exchange> exchange, Until until,
              const std::string& body, const Posted& posted);
    // False: `last_event` is of no stream of this client.
    bool listen(std::shared_ptr<http::Exchange> exchange, Until until,
                const std::string* last_event);
    // A second has passed.
    void tick(core::Clock::time_point now);
    // Nobody would miss it since then; none: somebody would.
    std::optional<core::Clock::time_point> idle_since() const;
    const Guest& guest() const { return guest_; }
    const std::string& guest_key() const { return guest_key_; }
    // Each stream is ended, with a word where there is one to say.
    void end(std::string_view why);
    // Streams of events that the client reads.
    std::size_t open_streams() const;

private:
    struct Stream {
        std::shared_ptr<http::Exchange> exchange;  // null: its connection was lost
        Until until;                               // of that exchange
        bool batch = false;
        bool taking = false;               // what came is being taken just now
        bool begun = false;                // as a stream of events
        std::vector<std::string> answers;  // while it is not
        unsigned status = 200;             // of these
        std::uint64_t told = 0;            // the last event that went out
        core::Clock::time_point since, said;

        // `number` 0: it cannot be asked for again.
        void write(Route route, std::uint64_t number, const std::string& message,
                   core::Clock::time_point now);
    };

    // Outward
    void answer(Answer answer, Route to) override;
    void say(std::string message, Route to) override;
    bool send_question(const std::string& from, std::string message, Route to) override;
    void send_event(const std::string& from, std::string message, Route to) override;
    bool listens() const override;
    void leave_unanswered(Route to) override;

    void use_id(std::string id);
    // False: it was dropped.
    bool put_event(Route route, std::string message, bool may_be_dropped);
    void begin(Route route, Stream& stream);
    void settle(Route route);  // all its answers are there
    void lost(Route route);
    void end_expired();

    const Era era_;
    const Guest guest_;
    const std::string guest_key_;
    const SessionIds& ids_;
    core::Loop& loop_;
    std::string id_;
    http::Headers json_headers_, stream_headers_;  // of its answers
    std::unordered_map<Route, Stream> streams_;
    std::unique_ptr<EventStore> events_;  // null: nothing can be asked for again
    core::Clock::time_point used_;
    WishRecord wishes_;
    ClientSession session_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
