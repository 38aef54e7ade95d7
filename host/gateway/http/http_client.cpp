#include "gateway/http/http_client.hpp"

#include "gateway/answers.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace patchbay::gateway {

namespace {

constexpr const char* kEventStream = "text/event-stream";
constexpr const char* kJson = "application/json";
constexpr std::string_view kFirstThatPrimes = "2025-11-25";  // older clients take it for a message

// "STREAM-NUMBER"
std::optional<std::pair<Route, std::uint64_t>> event_of(std::string_view id) {
    Route route = 0;
    std::uint64_t number = 0;
    const auto* const end = id.data() + id.size();
    const auto first = std::from_chars(id.data(), end, route);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return {};
    const auto second = std::from_chars(first.ptr + 1, end, number);
    if (second.ec != std::errc() || second.ptr != end) return {};
    return std::pair(route, number);
}

// Of the legacy era what is no request is refused with a status, of the modern one what has a code of
// the protocol's own, from whatever server; what makes no sense, where it was found by ourselves.
unsigned status_of(HttpClient::Era era, const Answer& answer, bool by_us) {
    if (era == HttpClient::Era::Legacy) return answer.nameless ? 400 : 200;
    if (!answer.error) return 200;
    const auto code = *answer.error;
    if (code == kMethodNotFound) return 404;
    const bool of_the_protocol = code <= -32020 && code >= -32099;
    return of_the_protocol || (by_us && code != kInternalError) ? 400 : 200;
}

}  // namespace

HttpClient::HttpClient(const Parts& parts, Era era, Guest guest, const SessionIds& ids,
                       std::size_t most_requests)
    : era_(era),
      guest_(std::move(guest)),
      guest_key_(guest_.key()),
      ids_(ids),
      loop_(parts.servers.connections().loop()),
      used_(loop_.now()),
      wishes_(loop_, parts.records),
      session_(
          {parts.callers, parts.servers, parts.catalogue, *this, guest_.view, most_requests, false,
           &wishes_, era == Era::Modern, parts.conversations, parts.task_claims, parts.state_key},
          guest_.principal, connection::Responder(parts.servers.config().client, {}),
          parts.version) {
    use_id({});
    if (era_ == Era::Modern) return;
    events_ = std::make_unique<MemoryEvents>(first_number(loop_.time()));
    streams_[0].begun = true;  // the one that a GET opens
}

HttpClient::~HttpClient() {
    lifetime_.end();
}

void HttpClient::go_on_as(const std::string& id, const SessionTerms& terms, SessionWishes wishes) {
    use_id(id);
    session_.go_on_as(terms.revision, terms.capabilities, std::move(wishes));
}

void HttpClient::post(Route route, std::shared_ptr<http::Exchange> exchange, Until until,
                      const std::string& body, const Posted& posted) {
    used_ = loop_.now();
    exchange->when_gone(lifetime_.guard([this, route] { lost(route); }));
    auto& stream = streams_[route];
    stream.exchange = std::move(exchange);
    stream.until = until;
    stream.batch = posted.kind == Posted::Kind::Batch;
    stream.since = stream.said = used_;
    stream.taking = true;
    if (stream.batch)
        session_.take(body, route, posted.message.carried);
    else
        session_.take(posted.message, route);
    stream.taking = false;
    if (id_.empty() && era_ == Era::Legacy && session_.handshake().initialized())
        use_id(ids_.make({session_.handshake().revision(), session_.handshake().capabilities()},
                         guest_key_));
    const bool none_owed =
        posted.kind == Posted::Kind::Other || (stream.batch && !session_.waits_by(route));
    if (stream.answers.empty() && none_owed) {
        stream.exchange->answer(202, {}, {});
        streams_.erase(route);
    } else if (stream.begun || !stream.answers.empty()) {
        if (none_owed || !session_.waits_by(route)) settle(route);
    }
}

// Made once: each answer has them.
void HttpClient::use_id(std::string id) {
    id_ = std::move(id);
    wishes_.belong_to(id_);
    json_headers_ = {{"Content-Type", kJson}, {"Cache-Control", "no-cache, no-transform"}};
    stream_headers_ = {{"Content-Type", kEventStream},
                       {"Cache-Control", "no-cache, no-transform"},
                       {"X-Accel-Buffering", "no"}};
    if (id_.empty()) return;
    for (auto* headers : {&json_headers_, &stream_headers_})
        headers->emplace_back("MCP-Session-Id", id_);
}

void HttpClient::answer(Answer answer, Route to) {
    const auto found = streams_.find(to);
    if (found == streams_.end()) return;
    auto& stream = found->second;
    if (stream.begun) {
        put_event(to, std::move(answer.message), false);
    } else {
        stream.status = status_of(era_, answer, stream.taking);
        stream.answers.push_back(std::move(answer.message));
    }
    if (stream.taking) return;
    if (!stream.batch || !session_.waits_by(to)) settle(to);
}

void HttpClient::settle(Route route) {
    auto stream = std::move(streams_.extract(route).mapped());
    used_ = loop_.now();
    if (!stream.exchange) return;
    if (stream.begun) return stream.exchange->end();
    // A batch that is none, as a whole, is refused as a message.
    if (!stream.batch || (stream.status != 200 && stream.answers.size() == 1))
        return stream.exchange->answer(stream.status, json_headers_,
                                       std::move(stream.answers.front()));
    std::string all;
    for (const auto& each : stream.answers) all += (all.empty() ? "[" : ",") + each;
    stream.exchange->answer(200, json_headers_, all + "]");
}

void HttpClient::say(std::string message, Route to) {
    put_event(to, std::move(message), false);
}

bool HttpClient::send_question(const std::string&, std::string message, Route to) {
    return put_event(to, std::move(message), true);
}

void HttpClient::send_event(const std::string&, std::string message, Route to) {
    put_event(to, std::move(message), true);
}

bool HttpClient::listens() const {
    const auto own = streams_.find(0);
    return own != streams_.end() && own->second.exchange;
}

void HttpClient::leave_unanswered(Route to) {
    const auto found = streams_.find(to);
    if (found == streams_.end() || found->second.taking || session_.waits_by(to)) return;
    if (found->second.exchange) begin(to, found->second);
    settle(to);
}

bool HttpClient::put_event(Route route, std::string message, bool may_be_dropped) {
    auto found = streams_.find(route);
    if (found == streams_.end()) found = streams_.find(0);
    if (found == streams_.end()) return false;
    route = found->first;
    auto& stream = found->second;
    const bool crowded = stream.exchange && stream.exchange->waiting() > kEventBytes;
    if (may_be_dropped && crowded) return false;
    protocol::flatten(message);
    if (stream.exchange) begin(route, stream);
    const auto number = events_ ? events_->append(route, message) : 0;
    if (stream.exchange) stream.write(route, number, message, loop_.now());
    return true;
}

void HttpClient::begin(Route route, Stream& stream) {
    if (std::exchange(stream.begun, true)) return;
    stream.exchange->begin(stream_headers_);
    if (events_ && session_.handshake().revision() >= kFirstThatPrimes)
        stream.exchange->write("id: " + std::to_string(route) + "-0\ndata: \n\n");
    for (auto& each : std::exchange(stream.answers, {})) put_event(route, std::move(each), false);
}

void HttpClient::Stream::write(Route route, std::uint64_t number, const std::string& message,
                               core::Clock::time_point now) {
    std::string event;
    event.reserve(message.size() + 64);
    if (number != 0)
        event.append("id: ")
            .append(std::to_string(route))
            .append("-")
            .append(std::to_string(number) + "\n");
    event.append("event: message\ndata: ").append(message).append("\n\n");
    exchange->write(event);
    told = number;
    said = now;
}

bool HttpClient::listen(std::shared_ptr<http::Exchange> exchange, Until until,
                        const std::string* last_event) {
    used_ = loop_.now();
    const auto last = last_event ? event_of(*last_event) : std::pair(Route{0}, streams_[0].told);
    if (!last) return false;
    const auto route = last->first;
    const auto found = streams_.find(route);
    const bool goes_on = found != streams_.end();
    // Nothing was said there that could have been missed.
    if (goes_on && !found->second.begun) return false;
    if (!goes_on && !events_->knows(route)) return false;
    exchange->begin(stream_headers_);
    Stream ended;
    auto& stream = goes_on ? found->second : ended;
    if (const auto before = std::exchange(stream.exchange, exchange)) {
        before->when_gone({});
        before->end();
    }
    stream.until = until;
    stream.said = used_;
    events_->each_behind(route, last->second, [&](std::uint64_t number, const auto& message) {
        stream.write(route, number, message, used_);
    });
    if (!goes_on) return exchange->end(), true;
    exchange->when_gone(lifetime_.guard([this, route] { lost(route); }));
    return true;
}

// Of the legacy era that is no wish to end what was asked for.
void HttpClient::lost(Route route) {
    const auto found = streams_.find(route);
    if (found == streams_.end()) return;
    used_ = loop_.now();
    found->second.exchange.reset();
    found->second.since = used_;
    if (era_ == Era::Legacy) return;
    streams_.erase(found);
    session_.abandon(route);
}

// Its client may come back to each with a new token, and a legacy one finds what it has missed.
void HttpClient::end_expired() {
    const auto date = loop_.time().date();
    std::vector<Route> expired;
    for (const auto& [route, stream] : streams_)
        if (stream.exchange && stream.until && *stream.until <= date) expired.push_back(route);
    for (const auto route : expired) {
        if (route != 0) {
            session_.end_streams_by(route);
            continue;
        }
        const auto exchange = streams_.at(route).exchange;
        exchange->when_gone({});
        exchange->end();
        lost(route);
    }
}

void HttpClient::tick(core::Clock::time_point now) {
    end_expired();
    std::vector<Route> forgotten;
    for (auto& [route, stream] : streams_) {
        if (!stream.exchange) {
            if (route != 0 && now - stream.since > kResumeWithin) forgotten.push_back(route);
        } else if (!stream.begun) {
            if (now - stream.since > kSilent) begin(route, stream);
        } else if (now - stream.said > kKeepAlive) {
            stream.exchange->write(":\n\n");
            stream.said = now;
        }
    }
    for (const auto route : forgotten) {
        streams_.erase(route);
        session_.abandon(route);
    }
    wishes_.freshen(session_.wishes(), now);
}

std::optional<core::Clock::time_point> HttpClient::idle_since() const {
    for (const auto& [route, stream] : streams_)
        if (route != 0 || stream.exchange) return {};
    if (!session_.idle()) return {};
    return used_;
}

std::size_t HttpClient::open_streams() const {
    return static_cast<std::size_t>(
        std::count_if(streams_.begin(), streams_.end(),
                      [](const auto& each) { return each.second.begun && each.second.exchange; }));
}

void HttpClient::end(std::string_view why) {
    session_.end_streams();
    for (auto& [route, stream] : std::exchange(streams_, {})) {
        if (!stream.exchange) continue;
        stream.exchange->when_gone({});
        if (stream.begun)
            stream.exchange->end();
        else
            stream.exchange->answer(503, json_headers_, error_message({}, kInternalError, why));
    }
}

}  // namespace patchbay::gateway
