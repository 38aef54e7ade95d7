#include "gateway/inquiries.hpp"

#include "core/json.hpp"
#include "core/random.hpp"
#include "gateway/client_abilities.hpp"

#include <set>
#include <string_view>
#include <utility>

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

constexpr std::size_t kElicitationIdBytes = 16;

bool can_be_asked_by(const ClientRequest& request, const std::string& method,
                     const json::object& params) {
    if (!request.modern() || !may_want_input(request.method)) return false;
    const auto capabilities = core::parse_json_object(request.meta.capabilities);
    return can_be_asked(capabilities ? *capabilities : json::object(), method, params);
}

// A page to visit has an id in the legacy era, which the modern one does without.
std::string with_elicitation_id(std::string_view raw_params, const json::object& params) {
    std::string text(raw_params);
    if (core::text_in(&params, "mode") != "url" || params.contains("elicitationId")) return text;
    text.resize(text.rfind('}'));
    return text + ",\"elicitationId\":\"" + core::random_hex(kElicitationIdBytes) + "\"}";
}

}  // namespace

// A server that names no exchange asks for the oldest request that it has and whose client waits for it;
// if it was another one, the answer reaches it all the same. Of requests that came by ways of their own
// several clients may wait: where they do, it is asked for none.
RequestNumber request_to_ask_by(const ClientRequests& requests, const std::string& server,
                                const std::vector<std::string>& ids, const std::string& method,
                                const json::object& params) {
    RequestNumber waiting = 0, told_to_ask_again = 0;
    std::set<Route> routes;
    for (const auto number : requests.numbers()) {
        const auto& request = *requests.find(number);
        if (!request.modern() || !may_want_input(request.method)) continue;
        if (!request.may_be_at(server, ids)) continue;
        if (!request.id.empty()) routes.insert(request.route);
        if (!can_be_asked_by(request, method, params)) continue;
        auto& oldest = request.id.empty() ? told_to_ask_again : waiting;
        if (oldest == 0) oldest = number;
    }
    if (routes.size() > 1) return 0;
    return waiting != 0 ? waiting : told_to_ask_again;
}

connection::Question Inquiries::answer(const std::string& server, const std::string& method,
                                       const json::object& params, Answer answer,
                                       const connection::About& about) {
    const auto* meant = requests_.find(about.request);
    const auto number =
        !meant ? request_to_ask_by(requests_, server, servers_.connections().ids(), method, params)
        : can_be_asked_by(*meant, method, params) ? about.request
                                                  : 0;
    if (number != 0)
        return outcomes_.ask(number, method, about.params, std::move(answer), about.key);
    if (client_.initialized() && can_be_asked(client_.capabilities(), method, params))
        return questions_.ask(server, method,
                              with_elicitation_id(tasks_.for_client(server, about.params), params),
                              tasks_.answer_for(about.params, std::move(answer)),
                              meant ? meant->route : events_.route_to(server));
    return fallback_.respond(server, method, params, std::move(answer));
}

// Modern requests that share no session but this one's are not told from those of others.
connection::Question Inquiries::approve(const connection::Approvable& wanted,
                                        connection::Caller::Decide decide) {
    const auto* request = requests_.find(wanted.about);
    const bool of_a_session = request && !request->modern();
    return approvals_.approve(wanted, of_a_session ? Lasting::Session : approved_,
                              std::move(decide), [&](const auto& form, Answer answer) {
                                  return ask_about(wanted.about, wanted.server, form,
                                                   std::move(answer));
                              });
}

std::optional<connection::Question> Inquiries::ask_about(RequestNumber number,
                                                         const std::string& server,
                                                         const json::object& form, Answer answer) {
    const std::string method = "elicitation/create";
    const auto* request = requests_.find(number);
    if (!request) return {};
    if (!can_be_asked(client_.abilities_behind(*request), method, form)) {
        outcomes_.note_lack(number, R"({"elicitation":{}})");
        return {};
    }
    const auto text = json::serialize(form);
    if (!request->modern())
        return questions_.ask(server, method, text, std::move(answer), request->route);
    if (!may_want_input(request->method)) return {};
    return outcomes_.ask(number, method, text, std::move(answer), {});
}

void Inquiries::take(const protocol::Envelope& answer) {
    const auto number = answer.number_id.value_or(0);
    if (answer.kind == protocol::MessageKind::Error) {
        const auto error = protocol::parse_rpc_error(answer.error);
        return questions_.answered(
            number, Error{ErrorCode::Denied, error ? error->message : "the client refused"});
    }
    if (!answer.result.starts_with('{'))
        return questions_.answered(
            number, Error{ErrorCode::Protocol, "the client answered with what is no object"});
    questions_.answered(number, connection::Given(std::string(answer.result)));
}

}  // namespace patchbay::gateway
