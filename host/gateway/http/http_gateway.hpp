// Patchbay as an MCP server over HTTP: where each request goes. A legacy client has a session by the id
// that initialize gave it; modern ones have none, and those of one guest are one caller.
//
// Owns:    the clients. Borrows all it is given.
// Threads: [loop].
// Errors:  an HTTP status, and a JSON-RPC error that says why.
// Limits:  kMostSessions, kMostOfOne of a guest that is known by name; one that nobody has used for kIdle is put away, and comes back by its id with
//          what is recorded of it.
//          Of modern requests of one guest kMostModern at once.
// Source:  MCP basic/transports of each revision; decisions/0028-sessions-of-http-clients.md.
#pragma once

#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "gateway/http/http_client.hpp"
#include "gateway/http/sse_clients.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::gateway {

class HttpGateway final : public http::Handler {
public:
    static constexpr std::size_t kMostSessions = 2'000, kMostOfOne = 500, kMostModern = 10'500,
                                 kMostEnded = 10'000;
    static constexpr std::chrono::minutes kIdle{30};

    // `key`: of session ids and of what its clients are given with a question; a secret.
    enum class Sse { Without, With };  // the older transport beside it, at /sse
    HttpGateway(HttpClient::Parts parts, std::string key, Door door, Admission& admission,
                Sse sse = Sse::Without);
    ~HttpGateway();

    void on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) override;
    // Whoever is that principal may not come in any more: its sessions and streams end.
    void dismiss(const std::string& principal_id);
    // Every stream ends, each with a word.
    void close();

    // Those of legacy clients; streams of events of all of them.
    std::size_t sessions() const { return sessions_.size() + (sse_ ? sse_->size() : 0); }
    std::size_t streams() const;

private:
    // What has come, and of whom.
    struct Visit {
        const std::shared_ptr<http::Exchange> exchange;
        http::Request request;
        const SseClients::Place place;
        Guest guest = {};
        std::string key = {};  // of the guest: made once, for it may be a digest
        bool whole = false;    // its body is there
    };
    using Visited = std::shared_ptr<const Visit>;
    using Meet = std::function<void(HttpClient&)>;

    // By the head alone: only of who may come in more is read.
    void admit(const std::shared_ptr<Visit>& visit);
    void read(const std::shared_ptr<Visit>& visit);
    void serve(const Visited& visit);
    void post(const Visited& visit);
    void listen(const Visited& visit);
    void remove(const Visited& visit);
    std::unique_ptr<HttpClient> made(HttpClient::Era era, Guest guest);
    // Of all modern requests of that guest; null: there are too many guests.
    HttpClient* modern_of(const Visit& visit);
    // Not at all where it is refused; later where something has to be read of that session.
    void with_client(const Visited& visit, Meet meet);
    void wake(const std::string& id, const SessionTerms& terms, SessionRecord record);
    void note_ended(const std::string& id);
    using Clients = std::map<std::string, std::unique_ptr<HttpClient>, std::less<>>;
    static bool make_room(Clients& clients, const Guest& guest);
    void tick();

    core::Loop& loop_;
    TaskClaims task_claims_;  // goes after the sessions
    const HttpClient::Parts parts_;
    const Door door_;
    Admission& admission_;
    const SessionIds ids_;
    std::optional<SseClients> sse_;
    Clients sessions_;  // by id
    Clients modern_;    // by the guest's key
    // What has come for sessions that are being read, by their ids.
    std::map<std::string, std::vector<std::pair<Visited, Meet>>, std::less<>> waking_;
    std::set<std::string, std::less<>> ended_;
    std::deque<std::string> ended_first_;  // in that order
    Route last_route_;
    core::Timer tick_;
    bool closing_ = false;
    std::uint64_t dismissals_ = 0;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
