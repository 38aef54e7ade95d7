#include "gateway/http/http_gateway.hpp"

#include "gateway/answers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

constexpr std::chrono::seconds kTick{1};

void refuse(http::Exchange& exchange, const HttpRefusal& refusal) {
    http::Headers headers{{"Content-Type", "application/json"}};
    if (refusal.status == 405) headers.emplace_back("Allow", "POST, GET, DELETE");
    if (refusal.status == 429) headers.emplace_back("Retry-After", "1");
    exchange.answer(refusal.status, headers,
                    error_message(refusal.raw_id, refusal.code, refusal.message));
}

}  // namespace

HttpGateway::HttpGateway(HttpClient::Parts parts, std::string key, const http::Address& address)
    : loop_(parts.servers.connections().loop()),
      parts_(std::move(parts)),
      door_(address),
      ids_(std::move(key), parts_.view.only),
      tick_(loop_) {
    // Servers are told before anybody has come, and each client may be able to do something else: what
    // one cannot, it is not asked.
    auto offered = connection::capabilities_of(parts_.servers.config().client);
    for (const auto* each : {"roots", "sampling"}) offered[each].emplace_object();
    offered["elicitation"] = {{"form", json::object()}, {"url", json::object()}};
    parts_.servers.connections().offer(std::move(offered));
    tick_.start(kTick, [this] { tick(); });
}

HttpGateway::~HttpGateway() = default;

void HttpGateway::on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) {
    if (const auto refused = door_.refuses(request)) return refuse(*exchange, *refused);
    if (closing_) return refuse(*exchange, {503, "the gateway is closing", kInternalError});
    if (std::string_view(request.target).substr(0, request.target.find('?')) != kPath)
        return refuse(*exchange,
                      {404, std::string("there is nothing here; the MCP endpoint is ") + kPath});
    if (request.method == "POST") return post(exchange, request);
    if (request.method == "GET") return listen(exchange, request);
    if (request.method == "DELETE") return remove(exchange, request);
    refuse(*exchange, {405, "only POST, GET and DELETE lead anywhere here"});
}

std::unique_ptr<HttpClient> HttpGateway::made(HttpClient::Era era) {
    const bool modern = era == HttpClient::Era::Modern;
    core::Principal principal{core::Principal::Kind::Client,
                              modern ? "" : std::to_string(++last_client_), "http",
                              core::Trust::Approves};
    return std::make_unique<HttpClient>(parts_, era, std::move(principal), ids_,
                                        modern ? kMostModern : ClientRequests::kMost);
}

void HttpGateway::post(const std::shared_ptr<http::Exchange>& exchange,
                       const http::Request& request) {
    if (!modern_) modern_ = made(HttpClient::Era::Modern);
    const auto read = read_posted(
        request, parts_.servers.connections().limits().json_depth, [this](const auto& name) {
            return parts_.servers.router().known_tool(modern_->session(), name);
        });
    if (const auto* refused = std::get_if<HttpRefusal>(&read)) return refuse(*exchange, *refused);
    const auto& posted = std::get<Posted>(read);
    const auto serve = [&](HttpClient& client) {
        if (client.session().full() && posted.kind != Posted::Kind::Other)
            return refuse(*exchange, {429, "too many requests are in flight; wait for some of them",
                                      kInternalError});
        client.post(++last_route_, exchange, request.body, posted);
    };
    if (posted.modern) return serve(*modern_);
    if (posted.method == "initialize" && !request.header("mcp-session-id")) {
        if (!make_room())
            return refuse(*exchange,
                          {429, "too many sessions are open; try again later", kInternalError});
        auto client = made(HttpClient::Era::Legacy);
        serve(*client);
        if (!client->id().empty()) sessions_[client->id()] = std::move(client);
        return;
    }
    if (auto* client = client_of(exchange, request)) serve(*client);
}

HttpClient* HttpGateway::client_of(const std::shared_ptr<http::Exchange>& exchange,
                                   const http::Request& request) {
    const auto* id = request.header("mcp-session-id");
    if (!id || request.count("mcp-session-id") > 1) {
        refuse(*exchange, {400,
                           "a request needs the MCP-Session-Id that initialize was answered "
                           "with, or names its revision in _meta"});
        return nullptr;
    }
    if (const auto found = sessions_.find(*id); found != sessions_.end())
        return found->second.get();
    const auto terms = ids_.open(*id);
    if (!terms || ended_.contains(*id)) {
        refuse(*exchange, {404, "no such session; initialize again", -32001});
        return nullptr;
    }
    if (!make_room()) {
        refuse(*exchange, {429, "too many sessions are open; try again later", kInternalError});
        return nullptr;
    }
    auto& client = sessions_[*id] = made(HttpClient::Era::Legacy);
    client->go_on_as(*id, *terms);
    return client.get();
}

void HttpGateway::listen(const std::shared_ptr<http::Exchange>& exchange,
                         const http::Request& request) {
    if (!request.header("mcp-session-id"))
        return refuse(*exchange,
                      {405, "a stream belongs to a session; POST initialize begins one"});
    if (!accepts(request, "text/event-stream"))
        return refuse(*exchange, {406, "what comes is text/event-stream; Accept has to name it"});
    auto* client = client_of(exchange, request);
    if (client && !client->listen(exchange, request.header("last-event-id")))
        refuse(*exchange, {400, "Last-Event-ID is of no stream of this session"});
}

void HttpGateway::remove(const std::shared_ptr<http::Exchange>& exchange,
                         const http::Request& request) {
    if (!request.header("mcp-session-id"))
        return refuse(*exchange, {405, "what can be deleted is a session"});
    auto* client = client_of(exchange, request);
    if (!client) return;
    const auto id = client->id();
    client->end();
    sessions_.erase(id);
    ended_.insert(id);
    ended_first_.push_back(id);
    if (ended_first_.size() > kMostEnded) {
        ended_.erase(ended_first_.front());
        ended_first_.pop_front();
    }
    exchange->answer(204, {}, {});
}

// The session that has not been used for longest makes room, if nobody waits for anything of it.
bool HttpGateway::make_room() {
    if (sessions_.size() < kMostSessions) return true;
    auto oldest = sessions_.end();
    for (auto each = sessions_.begin(); each != sessions_.end(); ++each) {
        const auto since = each->second->idle_since();
        if (since && (oldest == sessions_.end() || *since < *oldest->second->idle_since()))
            oldest = each;
    }
    if (oldest == sessions_.end()) return false;
    sessions_.erase(oldest);
    return true;
}

void HttpGateway::tick() {
    tick_.start(kTick, [this] { tick(); });
    const auto now = loop_.now();
    if (modern_) modern_->tick(now);
    std::erase_if(sessions_, [&](auto& each) {
        each.second->tick(now);
        const auto since = each.second->idle_since();
        return since && now - *since > kIdle;
    });
}

void HttpGateway::close() {
    closing_ = true;
    tick_.stop();
    if (modern_) modern_->end();
    for (auto& [id, client] : sessions_) client->end();
}

}  // namespace patchbay::gateway
