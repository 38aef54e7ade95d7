#include "gateway/http/sse_clients.hpp"

#include "core/random.hpp"
#include "gateway/answers.hpp"
#include "gateway/http/head_reader.hpp"
#include "protocol/compose.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::gateway {

namespace {

constexpr std::string_view kMessages = "/messages", kSessionKey = "sessionId=";
constexpr std::size_t kIdBytes = 16;

// Of "/messages/x?a=b&sessionId=ID": ID; empty: it names none.
std::string_view session_in(std::string_view target) {
    const auto mark = target.find('?');
    if (mark == std::string_view::npos) return {};
    auto rest = target.substr(mark + 1);
    while (!rest.empty()) {
        const auto part = rest.substr(0, rest.find('&'));
        if (part.starts_with(kSessionKey)) return part.substr(kSessionKey.size());
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
    return {};
}

}  // namespace

// All that its session says goes out by the one stream, whatever it is about.
class SseClients::Client final : Outward {
public:
    Client(const HttpClient::Parts& parts, const Guest& guest,
           std::shared_ptr<http::Exchange> exchange)
        : loop_(parts.servers.connections().loop()),
          guest_(guest),
          exchange_(std::move(exchange)),
          session_({parts.callers, parts.servers, parts.catalogue, *this, guest_.view,
                    ClientRequests::kMost, false, nullptr, false, parts.conversations,
                    parts.task_claims},
                   guest_.principal, connection::Responder(parts.servers.config().client, {}),
                   parts.version) {}

    const Guest& guest() const { return guest_; }
    bool reads() const { return exchange_->waiting() <= kWaitingBytes; }
    void begin(const std::string& endpoint) {
        exchange_->begin({{"Content-Type", "text/event-stream"},
                          {"Cache-Control", "no-cache, no-transform"},
                          {"X-Accel-Buffering", "no"}});
        write("event: endpoint\ndata: " + endpoint + "\n\n");
    }
    void take(std::string_view message, const CarriedHead& with) {
        session_.take(message, 0, with);
    }
    // What it came with counts no more.
    bool expired() const { return guest_.until && *guest_.until <= loop_.time().date(); }
    void tick(core::Clock::time_point now) {
        if (now - said_ > kKeepAlive) write(":\n\n");
    }
    void end() {
        session_.end_streams();
        // Whoever ends it takes it out of the table.
        exchange_->when_gone({});
        exchange_->end();
    }

private:
    void write(const std::string& event) {
        exchange_->write(event);
        said_ = loop_.now();
    }
    void send(std::string message) {
        protocol::flatten(message);
        write("event: message\ndata: " + message + "\n\n");
    }
    // Outward
    void answer(Answer answer, Route) override { send(std::move(answer.message)); }
    void say(std::string message, Route) override { send(std::move(message)); }
    bool send_question(const std::string&, std::string message, Route) override {
        if (!reads()) return false;
        send(std::move(message));
        return true;
    }
    void send_event(const std::string&, std::string message, Route) override {
        if (reads()) send(std::move(message));
    }
    void leave_unanswered(Route) override {}

    core::Loop& loop_;
    const Guest guest_;
    const std::shared_ptr<http::Exchange> exchange_;
    core::Clock::time_point said_;
    ClientSession session_;
};

SseClients::Place SseClients::take_place(std::string& target) {
    // An agent's path follows either, as it follows /mcp: from here on it is read as that one.
    const std::pair<std::string_view, Place> places[] = {{kStream, Place::Stream},
                                                         {kMessages, Place::Messages}};
    for (const auto& [path, place] : places) {
        if (!target.starts_with(path)) continue;
        const auto rest = std::string_view(target).substr(path.size());
        if (!rest.empty() && rest.front() != '/' && rest.front() != '?') continue;
        target.replace(0, path.size(), Endpoints::kPath);
        return place;
    }
    return Place::Elsewhere;
}

SseClients::SseClients(const HttpClient::Parts& parts)
    : parts_(parts), loop_(parts.servers.connections().loop()) {}

SseClients::~SseClients() = default;

bool SseClients::has_room(const Guest& guest) const {
    if (clients_.size() >= kMost) return false;
    const auto& id = guest.principal.id;
    const auto is_its = [&](const auto& each) { return each.second->guest().principal.id == id; };
    return id.empty() || static_cast<std::size_t>(
                             std::count_if(clients_.begin(), clients_.end(), is_its)) < kMostOfOne;
}

std::optional<HttpRefusal> SseClients::open(const http::Request& request,
                                            const std::shared_ptr<http::Exchange>& exchange,
                                            const Guest& guest) {
    if (request.method != "GET")
        return HttpRefusal{405,
                           "a stream is asked for with GET; POST goes where it says",
                           kInvalidRequest,
                           {},
                           {{"Allow", "GET"}}};
    if (!accepts(request, "text/event-stream"))
        return HttpRefusal{406, "what comes is text/event-stream; Accept has to name it"};
    if (!has_room(guest))
        return HttpRefusal{429, "too many sessions are open; try again later", kInternalError};
    const auto id = core::random_hex(kIdBytes);
    const std::string_view target = request.target;
    const auto path =
        target.substr(0, target.find('?')).substr(std::string_view(Endpoints::kPath).size());
    auto& client = clients_[id] = std::make_unique<Client>(parts_, guest, exchange);
    // This transport has no session without its stream, and no word for its end: what is asked ends with it.
    exchange->when_gone(lifetime_.guard([this, id] { clients_.erase(id); }));
    client->begin(std::string(kMessages).append(path).append("?").append(kSessionKey).append(id));
    return {};
}

std::optional<HttpRefusal> SseClients::post(const http::Request& request,
                                            const std::shared_ptr<http::Exchange>& exchange,
                                            const Guest& guest) {
    if (request.method != "POST")
        return HttpRefusal{
            405, "messages are sent with POST", kInvalidRequest, {}, {{"Allow", "POST"}}};
    if (auto refused = refuses_content(request)) return refused;
    const auto id = session_in(request.target);
    if (id.empty())
        return HttpRefusal{400, "a message names the session that GET /sse began, as sessionId"};
    const auto found = clients_.find(id);
    if (found == clients_.end() || found->second->guest().key() != guest.key())
        return HttpRefusal{404, "no such session; it ended with its stream"};
    // Each message may bring an answer, and nothing bounds the stream but who reads it.
    if (!found->second->reads())
        return HttpRefusal{429, "there is more on the stream than was read of it", kInternalError};
    auto carried = read_carried_head(request, parts_.servers.connections().forwarded_headers());
    if (auto* refused = std::get_if<HttpRefusal>(&carried)) return std::move(*refused);
    // Before it is carried out: a client may wait for this before it reads the stream on.
    exchange->answer(202, {}, {});
    found->second->take(request.body, std::get<CarriedHead>(carried));
    return {};
}

void SseClients::tick(core::Clock::time_point now) {
    std::erase_if(clients_, [&](auto& each) {
        auto& client = *each.second;
        const bool expired = client.expired();
        expired ? client.end() : client.tick(now);
        return expired;
    });
}

void SseClients::end(const std::function<bool(const Guest&)>& whose) {
    std::erase_if(clients_, [&](auto& each) {
        if (!whose(each.second->guest())) return false;
        each.second->end();
        return true;
    });
}

}  // namespace patchbay::gateway
