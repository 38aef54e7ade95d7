#include "gateway/http/http_gateway.hpp"

#include "gateway/answers.hpp"
#include "gateway/http/head_reader.hpp"
#include "gateway/told_abilities.hpp"

#include <algorithm>

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

constexpr std::chrono::seconds kTick{1};
constexpr const char* kTokenGone = "the token that this was opened with is none any more";
const HttpRefusal kNoSession{404, "no such session; initialize again", -32001};

void refuse(http::Exchange& exchange, const HttpRefusal& refusal) {
    http::Headers headers{{"Content-Type", "application/json"}};
    if (refusal.status == 405 && refusal.headers.empty())
        headers.emplace_back("Allow", "POST, GET, DELETE");
    if (refusal.status == 429) headers.emplace_back("Retry-After", "1");
    headers.insert(headers.end(), refusal.headers.begin(), refusal.headers.end());
    exchange.answer(
        refusal.status, headers,
        error_answer(refusal.raw_id, refusal.code, refusal.message, refusal.raw_data).message);
}

HttpClient::Parts with_ours(HttpClient::Parts parts, TaskClaims& claims, const std::string& key) {
    parts.task_claims = &claims;
    parts.state_key = key;
    return parts;
}

}  // namespace

HttpGateway::HttpGateway(HttpClient::Parts parts, std::string key, Door door, Admission& admission,
                         Sse sse)
    : loop_(parts.servers.connections().loop()),
      parts_(with_ours(std::move(parts), task_claims_, key)),
      door_(std::move(door)),
      admission_(admission),
      ids_(std::move(key)),
      last_route_(first_number(loop_.time())),
      tick_(loop_) {
    tell_of_any(parts_.servers);  // before anybody has come
    if (sse == Sse::With) sse_.emplace(parts_);
    tick_.start(kTick, [this] { tick(); });
}

HttpGateway::~HttpGateway() = default;

void HttpGateway::on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) {
    if (const auto refused = door_.refuses(request)) return refuse(*exchange, *refused);
    using Place = SseClients::Place;
    const auto place = sse_ ? SseClients::take_place(request.target) : Place::Elsewhere;
    const auto visit =
        std::make_shared<Visit>(Visit{std::move(exchange), std::move(request), place});
    admit(visit);
}

void HttpGateway::admit(const std::shared_ptr<Visit>& visit) {
    const auto admitted = [this, visit](Admission::Admitted as) {
        if (const auto* refused = std::get_if<HttpRefusal>(&as))
            return refuse(*visit->exchange, *refused);
        visit->guest = std::get<Guest>(std::move(as));
        visit->key = visit->guest.key();
        if (visit->request.method == "POST" && !visit->whole) return read(visit);
        serve(visit);
    };
    if (auto at_once = admission_.admit(visit->request, lifetime_.guard(admitted)))
        admitted(std::move(*at_once));
}

void HttpGateway::read(const std::shared_ptr<Visit>& visit) {
    visit->exchange->read_body(
        lifetime_.guard([this, visit, as_of = dismissals_](std::string body) {
            visit->request.body = std::move(body);
            visit->whole = true;
            // A token may have been taken back while the body came.
            if (as_of != dismissals_) return admit(visit);
            serve(visit);
        }));
}

void HttpGateway::serve(const Visited& visit) {
    if (closing_) return refuse(*visit->exchange, {503, "the gateway is closing", kInternalError});
    if (visit->place != SseClients::Place::Elsewhere) {
        const bool stream = visit->place == SseClients::Place::Stream;
        const auto refused = stream ? sse_->open(visit->request, visit->exchange, visit->guest)
                                    : sse_->post(visit->request, visit->exchange, visit->guest);
        return refused ? refuse(*visit->exchange, *refused) : void();
    }
    const auto& method = visit->request.method;
    if (method == "POST") return post(visit);
    if (method == "GET") return listen(visit);
    if (method == "DELETE") return remove(visit);
    refuse(*visit->exchange, {405, "only POST, GET and DELETE lead anywhere here"});
}

std::unique_ptr<HttpClient> HttpGateway::made(HttpClient::Era era, Guest guest) {
    const bool modern = era == HttpClient::Era::Modern;
    return std::make_unique<HttpClient>(parts_, era, std::move(guest), ids_,
                                        modern ? kMostModern : ClientRequests::kMost);
}

HttpClient* HttpGateway::modern_of(const Visit& visit) {
    if (const auto found = modern_.find(visit.key); found != modern_.end())
        return found->second.get();
    if (!make_room(modern_, visit.guest)) return nullptr;
    return (modern_[visit.key] = made(HttpClient::Era::Modern, visit.guest)).get();
}

void HttpGateway::post(const Visited& visit) {
    const auto too_many = [visit](const char* what) {
        refuse(*visit->exchange, {429, what, kInternalError});
    };
    auto* modern = modern_of(*visit);
    if (!modern) return too_many("too many others are here; try again later");
    auto read = read_posted(visit->request, parts_.servers.connections().limits().json_depth,
                            [&](const auto& name) {
                                return parts_.servers.router().known_tool(modern->session(), name);
                            });
    if (const auto* refused = std::get_if<HttpRefusal>(&read))
        return refuse(*visit->exchange, *refused);
    auto carried =
        read_carried_head(visit->request, parts_.servers.connections().forwarded_headers());
    if (const auto* refused = std::get_if<HttpRefusal>(&carried))
        return refuse(*visit->exchange, *refused);
    std::get<Posted>(read).message.carried = std::get<CarriedHead>(std::move(carried));
    const auto posted = std::make_shared<const Posted>(std::get<Posted>(std::move(read)));
    const auto serve = [this, visit, posted, too_many](HttpClient& client) {
        if (client.session().full() && posted->kind != Posted::Kind::Other)
            return too_many("too many requests are in flight; wait for some of them");
        client.post(++last_route_, visit->exchange, visit->guest.until, visit->request.body,
                    *posted);
    };
    if (posted->modern) return serve(*modern);
    if (posted->message.envelope.method == "initialize" &&
        !visit->request.header("mcp-session-id")) {
        if (!make_room(sessions_, visit->guest))
            return too_many("too many sessions are open; try again later");
        auto client = made(HttpClient::Era::Legacy, visit->guest);
        serve(*client);
        if (!client->id().empty()) sessions_[client->id()] = std::move(client);
        return;
    }
    with_client(visit, serve);
}

void HttpGateway::with_client(const Visited& visit, Meet meet) {
    const auto* id = visit->request.header("mcp-session-id");
    if (!id || visit->request.count("mcp-session-id") > 1)
        return refuse(*visit->exchange,
                      {400,
                       "a request needs the MCP-Session-Id that initialize was answered with, or "
                       "names its revision in _meta"});
    // The id alone opens nothing to another guest.
    const auto& key = visit->key;
    if (const auto found = sessions_.find(*id);
        found != sessions_.end() && found->second->guest_key() == key)
        return meet(*found->second);
    const auto terms = ids_.open(*id, key);
    if (!terms || ended_.contains(*id)) return refuse(*visit->exchange, kNoSession);
    // Its record is on the disk: who comes for it meanwhile waits for the one reading, and all are met in
    // their order.
    const auto [place, is_new] = waking_.try_emplace(*id);
    auto& waiting = place->second;
    waiting.emplace_back(visit, std::move(meet));
    if (!is_new) return;
    parts_.records.read(*id, lifetime_.guard([this, id = *id, terms = *terms](auto record) {
        wake(id, terms, std::move(record));
    }));
}

// Whatever has come meanwhile finds it there, in the order that it came in.
void HttpGateway::wake(const std::string& id, const SessionTerms& terms, SessionRecord record) {
    const auto waiting = std::move(waking_.extract(id).mapped());
    if (record.deleted) note_ended(id);
    if (waiting.empty()) return;  // who came was dismissed meanwhile
    std::optional<HttpRefusal> refused;
    if (record.deleted)
        refused = kNoSession;
    else if (closing_)
        refused = HttpRefusal{503, "the gateway is closing", kInternalError};
    else if (!make_room(sessions_, waiting.front().first->guest))
        refused = HttpRefusal{429, "too many sessions are open; try again later", kInternalError};
    if (refused) {
        for (const auto& [visit, meet] : waiting) refuse(*visit->exchange, *refused);
        return;
    }
    auto& client = sessions_[id] = made(HttpClient::Era::Legacy, waiting.front().first->guest);
    client->go_on_as(id, terms, std::move(record.wishes));
    for (const auto& [visit, meet] : waiting) {
        const auto found = sessions_.find(id);  // the one before may have deleted it
        if (found == sessions_.end())
            refuse(*visit->exchange, kNoSession);
        else
            meet(*found->second);
    }
}

void HttpGateway::listen(const Visited& visit) {
    const auto& request = visit->request;
    if (!request.header("mcp-session-id"))
        return refuse(*visit->exchange,
                      {405, "a stream belongs to a session; POST initialize begins one"});
    if (!accepts(request, "text/event-stream"))
        return refuse(*visit->exchange,
                      {406, "what comes is text/event-stream; Accept has to name it"});
    with_client(visit, [visit](HttpClient& client) {
        if (!client.listen(visit->exchange, visit->guest.until,
                           visit->request.header("last-event-id")))
            refuse(*visit->exchange, {400, "Last-Event-ID is of no stream of this session"});
    });
}

void HttpGateway::remove(const Visited& visit) {
    if (!visit->request.header("mcp-session-id"))
        return refuse(*visit->exchange, {405, "what can be deleted is a session"});
    with_client(visit, [this, visit](HttpClient& client) {
        const auto id = client.id();
        client.end("the session was deleted");
        sessions_.erase(id);
        // An id opens by itself (session_id.hpp): until the record is written, only this knows that it is
        // none any more. The client is answered when it is, so that a gateway that starts anew knows too.
        note_ended(id);
        parts_.records.write(id, {true}, [visit] { visit->exchange->answer(204, {}, {}); });
    });
}

void HttpGateway::note_ended(const std::string& id) {
    if (!ended_.insert(id).second) return;
    ended_first_.push_back(id);
    if (ended_first_.size() <= kMostEnded) return;
    ended_.erase(ended_first_.front());
    ended_first_.pop_front();
}

// The one that has not been used for longest makes room, if nobody waits for anything of it. A guest
// that has many makes room among its own: it may not take the places of all others.
bool HttpGateway::make_room(Clients& clients, const Guest& guest) {
    const auto& id = guest.principal.id;
    const auto is_its = [&](const auto& each) { return each.second->guest().principal.id == id; };
    const bool own = !id.empty() && static_cast<std::size_t>(std::count_if(
                                        clients.begin(), clients.end(), is_its)) >= kMostOfOne;
    if (!own && clients.size() < kMostSessions) return true;
    auto oldest = clients.end();
    for (auto each = clients.begin(); each != clients.end(); ++each) {
        if (own && !is_its(*each)) continue;
        const auto since = each->second->idle_since();
        if (since && (oldest == clients.end() || *since < *oldest->second->idle_since()))
            oldest = each;
    }
    if (oldest == clients.end()) return false;
    clients.erase(oldest);
    return true;
}

void HttpGateway::tick() {
    tick_.start(kTick, [this] { tick(); });
    const auto now = loop_.now();
    if (sse_) sse_->tick(now);
    for (auto* clients : {&sessions_, &modern_})
        std::erase_if(*clients, [&](auto& each) {
            each.second->tick(now);
            const auto since = each.second->idle_since();
            return since && now - *since > kIdle;
        });
}

// A token was taken back: nothing that it opened goes on, neither what waits for its record.
void HttpGateway::dismiss(const std::string& principal_id) {
    ++dismissals_;
    if (sse_) sse_->end([&](const Guest& guest) { return guest.principal.id == principal_id; });
    for (auto& [id, waiting] : waking_)
        std::erase_if(waiting, [&](const auto& each) {
            if (each.first->guest.principal.id != principal_id) return false;
            refuse(*each.first->exchange, {503, kTokenGone, kInternalError});
            return true;
        });
    for (auto* clients : {&sessions_, &modern_})
        std::erase_if(*clients, [&](auto& each) {
            if (each.second->guest().principal.id != principal_id) return false;
            each.second->end(kTokenGone);
            return true;
        });
}

std::size_t HttpGateway::streams() const {
    std::size_t count = sse_ ? sse_->size() : 0;
    for (const auto* clients : {&sessions_, &modern_})
        for (const auto& [key, client] : *clients) count += client->open_streams();
    return count;
}

void HttpGateway::close() {
    closing_ = true;
    tick_.stop();
    if (sse_) sse_->end([](const Guest&) { return true; });
    for (auto* clients : {&sessions_, &modern_})
        for (auto& [key, client] : *clients) client->end("the gateway is closing");
}

}  // namespace patchbay::gateway
