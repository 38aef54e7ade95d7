#include "gateway/client_session.hpp"

#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "gateway/client_abilities.hpp"
#include "gateway/request_log.hpp"
#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/trace_context.hpp"

#include <algorithm>
#include <set>

namespace patchbay::gateway {
namespace json = boost::json;
using protocol::Era;

namespace {

// Said again as it came: it may be a number that no type here holds.
bool is_id(const protocol::Envelope& envelope) {
    const auto digits = envelope.id.substr(envelope.id.starts_with('-'));
    return envelope.id.starts_with('"') || envelope.number_id ||
           digits.find_first_not_of("0123456789") == std::string_view::npos;
}

json::object object_of(std::string_view raw) {
    auto object = core::parse_json_object(raw);
    return object ? std::move(*object) : json::object();
}

}  // namespace

ClientSession::ClientSession(const Parts& parts, core::Principal principal,
                             connection::Responder fallback, std::string version)
    : Caller(parts.callers, as_configured(std::move(principal), parts.servers.config()),
             parts.view.sight()),
      servers_(parts.servers),
      out_(parts.out),
      view_(parts.view),
      fallback_(std::move(fallback)),
      version_(std::move(version)),
      most_requests_(parts.most_requests),
      alone_(parts.alone),
      modern_alone_(parts.modern_alone),
      abilities_(servers_, parts.alone ? Told::ByTheFirst : Told::Nothing),
      instructions_(servers_.connections(), parts.catalogue, view_, number()),
      offered_(servers_, *this, view_),
      arrival_(servers_.connections(), parts.catalogue, *this, view_,
               servers_.config().gateway.first_list,
               [this](const std::string& server) { on_joined(server); }),
      wishes_(servers_, *this, view_, offered_, arrival_, parts.keeper),
      events_(servers_.connections(), parts.catalogue, view_, requests_, offered_, out_),
      questions_(servers_.connections().loop(), out_),
      approvals_(servers_.config()),
      rounds_(servers_.connections().loop(),
              RequestStates(parts.state_key, this->principal().id + "\n" + view_.key()),
              [this](RequestNumber request) { cancel(request, "its client has not come back"); }),
      tasks_(servers_, *this, view_, requests_, *this, parts.task_claims),
      host_tools_(servers_, *this, view_, requests_, offered_, arrival_, parts.conversations,
                  *this),
      operations_(servers_, *this, view_, requests_, offered_, arrival_, wishes_, events_, tasks_,
                  host_tools_, *this) {}

// Nothing that ends with it is told to a client that is gone.
ClientSession::~ClientSession() {
    lifetime_.end();
    for (const auto number : requests_.numbers()) cancel(number, "the client has gone");
}

void ClientSession::take(std::string_view message, Route from, const CarriedHead& with) {
    const auto depth = servers_.connections().limits().json_depth;
    // Of that one revision alone; the answers go out one by one.
    if (revision_ == "2025-03-26" && message.starts_with('[')) {
        const auto batch = protocol::split_batch(message, ClientRequests::kMost, depth);
        if (!batch)
            return out_.answer(error_answer({}, kInvalidRequest, batch.error().message), from);
        for (const auto each : *batch) take_one(each, from, with);
        return;
    }
    take_one(message, from, with);
}

void ClientSession::take_one(std::string_view message, Route from, const CarriedHead& with) {
    const auto depth = servers_.connections().limits().json_depth;
    auto incoming = read_incoming(message, depth);
    if (incoming) {
        incoming->carried = with;
        return take(*incoming, from);
    }
    const bool json = core::parse_json(message, {.depth = depth}).has_value();
    out_.answer(error_answer({}, json ? kInvalidRequest : kParseError, incoming.error().message),
                from);
}

void ClientSession::take(const Incoming& message, Route from) {
    switch (message.envelope.kind) {
        case protocol::MessageKind::Request:
            return take_request(message, from);
        case protocol::MessageKind::Notification:
            return take_notification(message.envelope, from);
        case protocol::MessageKind::Result:
        case protocol::MessageKind::Error:
            return take_answer(message.envelope);
    }
}

void ClientSession::take_unreadable(const Error& why) {
    out_.answer(error_answer({}, kParseError, why.message), 0);
}

void ClientSession::refuse_meta(const Incoming& message, Route from) {
    const auto& meta = message.meta;
    const auto id = message.envelope.id;
    if (meta.wrong->code != ErrorCode::Unsupported)
        return out_.answer(error_answer(id, kInvalidParams, meta.wrong->message), from);
    const json::object data{{"supported", json::array{std::string_view(protocol::kModernVersion)}},
                            {"requested", meta.version}};
    out_.answer(error_answer(id, kUnsupportedVersion, meta.wrong->message, json::serialize(data)),
                from);
}

void ClientSession::take_request(const Incoming& message, Route from) {
    const auto& [envelope, params, unreadable, meta, carried] = message;
    const std::string id(envelope.id);
    const auto refuse = [&](std::string_view raw_id, std::int64_t code, const std::string& why) {
        out_.answer(error_answer(raw_id, code, why), from);
    };
    if (!is_id(envelope)) return refuse({}, kInvalidRequest, "an id is a text or a whole number");
    if (unreadable) return refuse(id, kInvalidParams, "the params: " + unreadable->message);
    if (meta.wrong) return refuse_meta(message, from);
    if (requests_.number_of(id, meta.era, from) != 0)
        return refuse(id, kInvalidRequest,
                      "id " + core::printable(id, 80) + " is in flight already");
    const bool may_begin = meta.era == Era::Legacy && !modern_alone_;
    if (may_begin && envelope.method == "initialize") return initialize(id, params, from);
    if (may_begin && envelope.method == "ping")
        return out_.answer({protocol::response(id, "{}")}, from);
    if (meta.era == Era::Legacy && revision_.empty())
        return refuse(
            id, kInvalidParams,
            "neither \"initialize\" has begun a session, nor does the request's _meta name its "
            "revision (\"io.modelcontextprotocol/protocolVersion\")");
    ClientRequest request{id, envelope.method, meta, from};
    if (!carried.trace.empty())
        request.meta.relayed = protocol::with_trace(meta.relayed, carried.trace);
    request.client_headers = carried.headers;
    request.begun = servers_.connections().loop().now();
    begin(std::move(request), params);
}

void ClientSession::begin(ClientRequest request, const protocol::Params& params) {
    if (request.modern()) {
        abilities_.offer(request.meta.capabilities);
        arrival_.begin();
        if (request.method == "server/discover")
            return out_.answer(
                answer_with(request.id, result_for(Era::Modern, request.method, discovered())),
                request.route);
        if (resume(request, params)) return;
        if (may_want_input(request.method)) request.subject = params.members;
    }
    if (full())
        return out_.answer(error_answer(request.id, kInternalError,
                                        std::to_string(most_requests_) +
                                            " requests are in flight; wait for some of them"),
                           request.route);
    request.capabilities =
        abilities_.told_of(request.modern() ? request.meta.capabilities : raw_capabilities_);
    const auto number = requests_.add(std::move(request));
    if (operations_.start(number, params)) return;
    const auto unknown = requests_.take(number);
    out_.answer(error_answer(unknown->id, kMethodNotFound,
                             "no method \"" + core::printable(unknown->method, 80) + "\""),
                unknown->route);
}

void ClientSession::initialize(const std::string& id, const protocol::Params& params, Route from) {
    const auto object = core::parse_json_object("{" + params.members + "}");
    const auto* members = object ? &*object : nullptr;
    const auto asked = core::text_in(members, "protocolVersion");
    if (!asked)
        return out_.answer(
            error_answer(id, kInvalidParams, "initialize needs \"protocolVersion\", a text"), from);
    if (protocol::raw_member(params.members, "capabilities").size() > kMostCapabilityBytes)
        return out_.answer(error_answer(id, kInvalidParams,
                                        "the \"capabilities\" of initialize have more than " +
                                            std::to_string(kMostCapabilityBytes) + " bytes"),
                           from);
    const bool known = protocol::speaks(*asked) && protocol::era_of(*asked) == Era::Legacy;
    if (const auto* told = core::object_in(members, "capabilities")) capabilities_ = *told;
    raw_capabilities_ = json::serialize(capabilities_);
    revision_ = known ? *asked : protocol::kLegacyVersion;
    prefer(Era::Legacy);
    abilities_.offer(raw_capabilities_);
    json::object result{
        {"protocolVersion", revision_},
        {"capabilities", our_capabilities(Era::Legacy)},
        {"serverInfo", {{"name", "patchbay"}, {"title", "Patchbay"}, {"version", version_}}}};
    if (const auto text = instructions_.text(); !text.empty()) result["instructions"] = text;
    out_.answer({protocol::response(id, json::serialize(result))}, from);
    arrival_.begin();
}

// Who comes back has been through its handshake, and may be told of anything.
void ClientSession::go_on_as(const std::string& revision, const json::object& capabilities,
                             SessionWishes wishes) {
    revision_ = revision;
    capabilities_ = capabilities;
    prefer(Era::Legacy);
    raw_capabilities_ = json::serialize(capabilities_);
    abilities_.offer(raw_capabilities_);
    events_.on_initialized();
    arrival_.begin();
    wishes_.restore(std::move(wishes));
}

std::string ClientSession::discovered() const {
    json::object result{
        {"supportedVersions", json::array{std::string_view(protocol::kModernVersion)}},
        {"capabilities", our_capabilities(Era::Modern)},
        {"_meta",
         {{"io.modelcontextprotocol/serverInfo",
           {{"name", "patchbay"}, {"title", "Patchbay"}, {"version", version_}}}}}};
    if (const auto text = instructions_.text(); !text.empty()) result["instructions"] = text;
    return json::serialize(result);
}

void ClientSession::take_notification(const protocol::Envelope& envelope, Route from) {
    const bool of_cancelling = envelope.method == "notifications/cancelled";
    if (modern_alone_ && !of_cancelling) return;
    if (envelope.method == "notifications/initialized") return events_.on_initialized();
    if (envelope.method == "notifications/roots/list_changed") {
        for (const auto& id : servers_.connections().ids())
            if (servers_.connections().held(id, number()))
                if (const auto held = servers_.connections().lease(id, *this))
                    held->get().notify(envelope.method, {});
        return;
    }
    if (!of_cancelling) return;
    const auto members = protocol::split_params(envelope.params.empty() ? "{}" : envelope.params);
    if (!members) return;
    const auto id = protocol::raw_member(members->members, "requestId");
    const auto reason = core::parse_json(protocol::raw_member(members->members, "reason"));
    const auto text = reason ? core::text_of(*reason) : std::nullopt;
    // Of a session of the legacy era, or of what came by this very route.
    auto number = requests_.number_of(id, Era::Legacy, from);
    if (number == 0) number = requests_.number_of(id, Era::Modern, from);
    const auto* request = requests_.find(number);
    if (!request) return;
    const auto route = request->route;
    cancel(number, std::string(text.value_or("")));
    out_.leave_unanswered(route);
}

void ClientSession::abandon(Route route) {
    for (const auto number : requests_.numbers_by(route)) cancel(number, "its client has gone");
}

void ClientSession::cancel(RequestNumber number, const std::string& reason) {
    const auto request = requests_.take(number);
    if (!request) return;
    rounds_.end(number);
    operations_.stop(*request, number, reason);
}

void ClientSession::take_answer(const protocol::Envelope& envelope) {
    const auto number = envelope.number_id.value_or(0);
    if (envelope.kind == protocol::MessageKind::Error) {
        const auto error = protocol::parse_rpc_error(envelope.error);
        return questions_.answered(
            number, Error{ErrorCode::Denied, error ? error->message : "the client refused"});
    }
    if (!envelope.result.starts_with('{'))
        return questions_.answered(
            number, Error{ErrorCode::Protocol, "the client answered with what is no object"});
    questions_.answered(number, connection::Given(std::string(envelope.result)));
}

// A request that answers what its server wanted to know; it belongs to the one that was ended for that.
bool ClientSession::resume(const ClientRequest& again, const protocol::Params& params) {
    const auto raw = protocol::raw_member(params.members, "requestState");
    if (raw.empty()) return false;
    const auto number = rounds_.resume(protocol::text_of_raw(raw).value_or(""),
                                       RequestStates::request(again.method, params.members));
    if (!number) {
        out_.answer(error_answer(again.id, kInvalidParams, number.error().message), again.route);
        return true;
    }
    requests_.rename(*number, again.id, again.route);
    requests_.find(*number)->meta = again.meta;
    const auto watch = lifetime_.watch();
    rounds_.deliver(*number, protocol::raw_member(params.members, "inputResponses"));
    if (!watch.expired()) go_on(*number);
    return true;
}

// With the outcome that came meanwhile, or what is still to be asked.
void ClientSession::go_on(RequestNumber number) {
    auto* request = requests_.find(number);
    if (!request || request->id.empty()) return;
    if (!request->outcome.empty()) {
        const auto ended = requests_.take(number);
        rounds_.end(number);
        return out_.answer(answer_with(ended->id, {ended->outcome, {}, ended->error}),
                           ended->route);
    }
    if (!rounds_.any(number)) return;
    const auto id = request->id;
    const auto route = request->route;
    const auto what = RequestStates::request(request->method, request->subject);
    requests_.rename(number, {}, 0);
    out_.answer({protocol::response(id, rounds_.begin(number, what))}, route);
}

void ClientSession::notify(const std::string& server, const std::string& method,
                           std::string_view params, connection::Reference about) {
    if (method != "notifications/tasks/status")
        return events_.notify(server, method, tasks_.for_client(server, params), about);
    const auto told = tasks_.status_for_client(server, params);
    if (!told.empty()) events_.notify(server, method, told, about);
}

// A server that names no exchange asks for the oldest request that it has and whose client waits for it;
// if it was another one, the answer reaches it all the same. Of requests that came by ways of their own
// several clients may wait: where they do, it is asked for none.
RequestNumber ClientSession::asked_for(const std::string& server, const std::string& method,
                                       const json::object& params) {
    const auto ids = servers_.connections().ids();
    RequestNumber waiting = 0, told_to_ask_again = 0;
    std::set<Route> routes;
    for (const auto number : requests_.numbers()) {
        const auto& request = *requests_.find(number);
        if (!request.modern() || !may_want_input(request.method)) continue;
        if (!request.may_be_at(server, ids)) continue;
        if (!request.id.empty()) routes.insert(request.route);
        if (!can_be_asked(object_of(request.meta.capabilities), method, params)) continue;
        auto& oldest = request.id.empty() ? told_to_ask_again : waiting;
        if (oldest == 0) oldest = number;
    }
    if (routes.size() > 1) return 0;
    return waiting != 0 ? waiting : told_to_ask_again;
}

connection::Question ClientSession::answer(const std::string& server, const std::string& method,
                                           const json::object& params, Answer answer,
                                           const connection::About& about) {
    const auto* meant = requests_.find(about.request);
    const auto number = !meant ? asked_for(server, method, params)
                        : meant->modern() && may_want_input(meant->method) &&
                                can_be_asked(object_of(meant->meta.capabilities), method, params)
                            ? about.request
                            : 0;
    if (number != 0)
        return ask_in_a_round(number, method, about.params, std::move(answer), about.key);
    if (!revision_.empty() && can_be_asked(capabilities_, method, params))
        return questions_.ask(server, method, tasks_.for_client(server, about.params),
                              tasks_.answer_for(about.params, std::move(answer)),
                              meant ? meant->route : events_.route_to(server));
    return fallback_.respond(server, method, params, std::move(answer));
}

connection::Question ClientSession::ask_in_a_round(RequestNumber number, const std::string& method,
                                                   std::string_view params, Answer answer,
                                                   const std::string& key) {
    auto question = rounds_.ask(number, method, params, std::move(answer), key);
    // At the end of the turn: several things may be asked.
    servers_.connections().loop().defer(lifetime_.guard([this, number] { go_on(number); }));
    return question;
}

// Modern requests that share no session but this one's are not told from those of others.
connection::Question ClientSession::approve(const connection::Approvable& wanted, Decide decide) {
    const auto* request = requests_.find(wanted.about);
    const bool lasts = alone_ || (request && !request->modern());
    return approvals_.approve(wanted, lasts ? Lasting::Session : Lasting::Once, std::move(decide),
                              [&](const auto& form, Answer answer) {
                                  return ask_about(wanted.about, wanted.server, form,
                                                   std::move(answer));
                              });
}

std::optional<connection::Question> ClientSession::ask_about(RequestNumber number,
                                                             const std::string& server,
                                                             const json::object& form,
                                                             Answer answer) {
    const std::string method = "elicitation/create";
    const auto* request = requests_.find(number);
    if (!request) return {};
    const auto able = request->modern() ? object_of(request->meta.capabilities) : capabilities_;
    if (!can_be_asked(able, method, form)) return {};
    const auto text = json::serialize(form);
    if (!request->modern())
        return questions_.ask(server, method, text, std::move(answer), request->route);
    if (!may_want_input(request->method)) return {};
    return ask_in_a_round(number, method, text, std::move(answer), {});
}

void ClientSession::reply(RequestNumber number, std::string raw_result) {
    if (const auto* request = requests_.find(number))
        settle(number, result_for(request->meta.era, request->method, raw_result));
}

void ClientSession::refuse(RequestNumber number, const Error& error) {
    if (const auto* request = requests_.find(number))
        settle(number, refusal(request->meta.era, request->as_task ? "" : request->method, error));
}

void ClientSession::pass_on(RequestNumber number, Result<connection::Reply> reply) {
    const auto* request = requests_.find(number);
    if (!request) return;
    if (!reply) return refuse(number, reply.error());
    const auto era = request->meta.era;
    settle(number, reply->error.empty() ? result_for(era, request->method, reply->result)
                                        : error_for(era, reply->error));
}

// Once its client waits for it; until it asks again the outcome is kept.
void ClientSession::settle(RequestNumber number, const Outcome& outcome) {
    auto& request = *requests_.find(number);
    if (request.call == 0)
        log_own_answer(principal(), request, outcome, servers_.connections().loop().now());
    request.call = 0;
    if (request.id.empty()) {
        request.outcome = outcome.text();
        request.error = outcome.error;
        return;
    }
    const auto ended = requests_.take(number);
    rounds_.end(number);
    out_.answer(answer_with(ended->id, outcome), ended->route);
}

void ClientSession::tell_progress(RequestNumber number, const connection::Progress& progress) {
    const auto* request = requests_.find(number);
    // One that was asked again may want to hear of none any more.
    if (!request || request->id.empty() || request->meta.progress_token.empty()) return;
    std::string members;
    protocol::each_member(progress.params, [&](const std::string& key, std::string_view value) {
        protocol::append_member(members, key,
                                key == "progressToken" ? request->meta.progress_token : value);
        return true;
    });
    out_.send_event(request->id, protocol::notification("notifications/progress", members),
                    request->route);
}

void ClientSession::on_joined(const std::string& server) {
    wishes_.on_joined(server);
    if (!arrival_.over()) return;  // the first list has it
    const auto* held = servers_.connections().held(server, number());
    if (held && held->session()) events_.on_joined(server, *held->session());
}

void ClientSession::end_streams() {
    for (const auto number : requests_.numbers()) end_stream(number, "the gateway is closing");
}

void ClientSession::end_streams_by(Route route) {
    for (const auto number : requests_.numbers_by(route))
        end_stream(number, "its client is let in no more");
}

void ClientSession::end_stream(RequestNumber number, const std::string& why) {
    const auto* listener = events_.listeners().find(number);
    if (!listener) return;
    const auto id = listener->id;
    const auto route = requests_.find(number)->route;
    cancel(number, why);
    out_.answer({protocol::response(id,
                                    "{\"resultType\":\"complete\",\"_meta\":{"
                                    "\"io.modelcontextprotocol/subscriptionId\":" +
                                        id + "}}")},
                route);
}

}  // namespace patchbay::gateway
