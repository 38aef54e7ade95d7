#include "gateway/client_session.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "gateway/answers.hpp"
#include "gateway/client_abilities.hpp"
#include "gateway/request_log.hpp"
#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/trace_context.hpp"

#include <utility>

namespace patchbay::gateway {
namespace json = boost::json;
using protocol::Era;

namespace {

// What is sealed for a client: by whom it is, and what it is shown.
std::string whose_of(const core::Principal& principal, const View& view) {
    return principal.id + "\n" + view.key();
}

Answer refusal_of_meta(const Incoming& message) {
    const auto& meta = message.meta;
    const auto id = message.envelope.id;
    if (meta.wrong->code != ErrorCode::Unsupported)
        return error_answer(id, kInvalidParams, meta.wrong->message);
    return error_answer(id, kUnsupportedVersion, meta.wrong->message, other_versions(meta.version));
}

}  // namespace

ClientSession::ClientSession(const Parts& parts, core::Principal principal,
                             connection::Responder fallback, std::string version)
    : Caller(parts.callers, as_configured(std::move(principal), parts.servers.config()),
             parts.view.sight()),
      servers_(parts.servers),
      out_(parts.out),
      view_(parts.view),
      most_requests_(parts.most_requests),
      modern_alone_(parts.modern_alone),
      instructions_(servers_.connections(), servers_.router(), view_, number()),
      handshake_(servers_, instructions_, parts.alone ? Told::OfThisOne : Told::Nothing,
                 std::move(version)),
      outcomes_(
          servers_.connections().loop(), requests_, out_, this->principal(),
          RequestStates(parts.state_key, whose_of(this->principal(), view_)), handshake_.identity(),
          [this](RequestNumber request) { cancel(request, "its client has not come back"); },
          [this](RequestNumber request) {
              operations_.start(request, {requests_.find(request)->subject, {}});
          }),
      offered_(servers_, *this, view_),
      arrival_(servers_.connections(), parts.catalogue, *this, view_,
               servers_.config().gateway.first_list,
               [this](const std::string& server) { on_joined(server); }),
      wishes_(servers_, *this, view_, offered_, arrival_, parts.keeper),
      events_(servers_.connections(), parts.catalogue, servers_.router(), view_, requests_,
              offered_, out_),
      tasks_(servers_, *this, view_, requests_, outcomes_, parts.task_claims),
      extension_(servers_, *this, view_, requests_, outcomes_,
                 TaskNames(parts.state_key, whose_of(this->principal(), view_))),
      task_streams_(
          servers_, *this, requests_, events_.listeners(), out_, extension_.names(),
          [this](RequestNumber stream, const std::string& why) { end_stream(stream, why); }),
      inquiries_(servers_, session_approvals(), handshake_, requests_, outcomes_, events_, tasks_,
                 out_, std::move(fallback), parts.alone ? Lasting::Session : Lasting::Once),
      operations_(servers_, *this, view_, requests_, offered_, arrival_, wishes_, events_, tasks_,
                  extension_, task_streams_, parts.conversations, outcomes_) {}

// Nothing that ends with it is told to a client that is gone.
ClientSession::~ClientSession() {
    for (const auto number : requests_.numbers()) cancel(number, "the client has gone");
}

void ClientSession::take(std::string_view message, Route from, const CarriedHead& with) {
    const auto depth = servers_.connections().limits().json_depth;
    // Of that one revision alone; the answers go out one by one.
    if (handshake_.revision() == "2025-03-26" && message.starts_with('[')) {
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
    const auto fault = fault_of(message, depth);
    out_.answer(error_answer(fault.raw_id, fault.code, incoming.error().message), from);
}

void ClientSession::take(const Incoming& message, Route from) {
    switch (message.envelope.kind) {
        case protocol::MessageKind::Request:
            return take_request(message, from);
        case protocol::MessageKind::Notification:
            return take_notification(message.envelope, from);
        case protocol::MessageKind::Result:
        case protocol::MessageKind::Error:
            return inquiries_.take(message.envelope);
    }
}

void ClientSession::take_unreadable(const Error& why) {
    out_.answer(error_answer({}, kParseError, why.message), 0);
}

void ClientSession::answer_at_once(std::string_view method, gateway::Answer answer, Route to) {
    log_answered_at_once(principal(), method, answer);
    out_.answer(std::move(answer), to);
}

void ClientSession::take_request(const Incoming& message, Route from) {
    const auto& [envelope, params, unreadable, meta, carried] = message;
    const std::string id(envelope.id);
    const auto refuse = [&](std::string_view raw_id, std::int64_t code, const std::string& why) {
        answer_at_once(message.envelope.method, error_answer(raw_id, code, why), from);
    };
    if (!envelope.number_id && !is_id(envelope.id))
        return refuse({}, kInvalidRequest, "an id is a text or a whole number");
    if (unreadable) return refuse(id, kInvalidParams, "the params: " + unreadable->message);
    if (meta.wrong) return answer_at_once(envelope.method, refusal_of_meta(message), from);
    if (requests_.number_of(id, meta.era, from) != 0)
        return refuse(id, kInvalidRequest,
                      "id " + core::printable(id, 80) + " is in flight already");
    const bool may_begin = meta.era == Era::Legacy && !modern_alone_;
    if (may_begin && envelope.method == "initialize") return initialize(id, params, from);
    if (may_begin && envelope.method == "ping")
        return answer_at_once(envelope.method, {protocol::response(id, "{}")}, from);
    if (meta.era == Era::Legacy && !handshake_.initialized())
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
        handshake_.offer_those_of(request);
        arrival_.begin();
        if (request.method == "server/discover")
            return answer_at_once(
                request.method,
                answer_with(request.id, result_for(Era::Modern, request.method,
                                                   handshake_.discovered(extension_.any()))),
                request.route);
        if (outcomes_.resume(request, params)) return;
        if (may_want_input(request.method)) request.subject = params.members;
    }
    if (full())
        return answer_at_once(request.method,
                              error_answer(request.id, kInternalError,
                                           std::to_string(most_requests_) +
                                               " requests are in flight; wait for some of them"),
                              request.route);
    request.capabilities = handshake_.told_of(request);
    const auto number = requests_.add(std::move(request));
    if (operations_.start(number, params)) return;
    const auto unknown = requests_.take(number);
    answer_at_once(unknown->method,
                   error_answer(unknown->id, kMethodNotFound,
                                "no method \"" + core::printable(unknown->method, 80) + "\""),
                   unknown->route);
}

void ClientSession::initialize(const std::string& id, const protocol::Params& params, Route from) {
    const auto result = handshake_.initialize(params);
    if (!result)
        return answer_at_once("initialize",
                              error_answer(id, kInvalidParams, result.error().message), from);
    prefer(Era::Legacy);
    answer_at_once("initialize", {protocol::response(id, *result)}, from);
    arrival_.begin();
}

// Who comes back has been through its handshake, and may be told of anything. What it listed was most likely what
// is known of the servers now, from an earlier host where they are not there yet.
void ClientSession::go_on_as(const std::string& revision, const json::object& capabilities,
                             SessionWishes wishes) {
    handshake_.restore(revision, capabilities);
    prefer(Era::Legacy);
    events_.on_initialized();
    events_.on_tools_listed();
    offered_.note_given_before();
    came_back_ = true;
    arrival_.begin();
    wishes_.restore(std::move(wishes));
}

void ClientSession::take_notification(const protocol::Envelope& envelope, Route from) {
    log_notification(principal(), envelope.method);
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
    if (of_cancelling) take_cancellation(envelope.params, from);
}

void ClientSession::take_cancellation(std::string_view params, Route from) {
    const auto members = protocol::split_params(params.empty() ? "{}" : params);
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

void ClientSession::show(View view) {
    if (view.key() == view_.key()) return;
    view_ = std::move(view);
    see(view_.sight());
    events_.on_shown_otherwise();
}

void ClientSession::cancel(RequestNumber number, const std::string& reason) {
    const auto request = requests_.take(number);
    if (!request) return;
    outcomes_.forget(number);
    operations_.stop(*request, number, reason);
}

void ClientSession::notify(const std::string& server, const std::string& method,
                           std::string_view params, connection::Reference about) {
    if (!view_.holds(server)) return;  // it was shown it once
    if (method == "notifications/tasks") return task_streams_.tell(server, params, about);
    if (method == "notifications/subscriptions/acknowledged")
        return task_streams_.acknowledged(server, params, about);
    if (method != "notifications/tasks/status")
        return events_.notify(server, method, tasks_.for_client(server, params), about);
    const auto told = tasks_.status_for_client(server, params);
    if (!told.empty()) events_.notify(server, method, told, about);
}

connection::Question ClientSession::answer(const std::string& server, const std::string& method,
                                           const json::object& params, Answer answer,
                                           const connection::About& about) {
    const auto shown = [this, server] { return view_.holds(server); };
    const Error no_more{ErrorCode::Denied, "the client is not shown this server any more"};
    if (!shown()) return answer(no_more), connection::Question();
    // By the time that it answers it may not be.
    return inquiries_.answer(
        server, method, params,
        [shown, no_more, answer = std::move(answer)](Result<connection::Given> given) {
            answer(!given || shown() ? std::move(given) : Result<connection::Given>(no_more));
        },
        about);
}

connection::Question ClientSession::approve(const connection::Approvable& wanted, Decide decide) {
    return inquiries_.approve(wanted, std::move(decide));
}

void ClientSession::on_joined(const std::string& server) {
    wishes_.on_joined(server);
    const auto* held = servers_.connections().held(server, number());
    if (!held || !held->session()) return;
    for (const char* capability : {"prompts", "resources"}) {
        if (offered_.gave_kept(server, capability))
            offered_.compare(server, capability, [this, server, capability] {
                events_.tell_changed(server, capability);
            });
        // Else the first list has it, which who has come back does not ask for any more.
        else if ((arrival_.over() || came_back_) && held->session()->can(capability))
            events_.tell_changed(server, capability);
    }
}

void ClientSession::end_streams() {
    for (const auto number : requests_.numbers()) end_stream(number, "the gateway is closing");
}

void ClientSession::end_streams_by(Route route) {
    for (const auto number : requests_.numbers_by(route))
        end_stream(number, "its client is let in no more");
}

// Where all streams share one way the result does not end one; a cancellation does, and comes last, for a
// client that is told of it first takes the end for no graceful one.
void ClientSession::end_stream(RequestNumber number, const std::string& why) {
    const auto* found = events_.listeners().find(number);
    if (!found) return;
    const auto listener = *found;
    const auto route = requests_.find(number)->route;
    cancel(number, why);
    if (!listener.acknowledged)
        return out_.answer(error_answer(listener.id, kInternalError, why), route);
    out_.answer(answer_with(listener.id, result_for(Era::Modern, {}, listener.last_result(),
                                                    handshake_.identity())),
                route);
    if (route == 0) out_.say(listener.cancellation(why), route);
}

}  // namespace patchbay::gateway
