#include "router/server_rules.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "router/methods.hpp"

#include <optional>
#include <utility>

namespace patchbay::router {

namespace {

// What tells nothing but names, or gives something back: as tools are listed that may not be called.
bool is_asked_about(const std::string& method) {
    return !method.ends_with("/list") && method != "ping" && method != "logging/setLevel" &&
           method != "resources/unsubscribe";
}

constexpr std::size_t kSubjectBytes = 200;

// `prompt "greet"`, `resource "file:///a"`; empty: it is about no such thing.
std::string subject_of(const ServerRequest& request) {
    const bool prompt = request.method == "prompts/get";
    if (!prompt && request.method != "resources/read" && request.method != "resources/subscribe")
        return {};
    const auto params = core::parse_json_object("{" + request.params.members + "}");
    const auto named = params ? core::text_in(&*params, prompt ? "name" : "uri") : std::nullopt;
    if (!named) return {};
    return std::string(prompt ? "prompt \"" : "resource \"") +
           core::printable(*named, kSubjectBytes) + "\"";
}

}  // namespace

std::string prefix_of(const std::string& server) {
    return "mcp__" + server + "__";
}

ServerRules::Judgement ServerRules::judge(core::Trust trust, const std::string& server,
                                          const std::string& method,
                                          const policy::PinMismatch* mismatch) const {
    const auto prefix = prefix_of(server);
    policy::Question question{trust, server, {}, prefix, what_is_asked_for(method)};
    question.mismatch = mismatch;
    auto verdict = policy_.judge(question);
    if (verdict.decision == policy::Decision::Ask && !is_asked_about(method))
        verdict.decision = policy::Decision::Allow;
    const bool allowed = verdict.decision == policy::Decision::Allow;
    return {verdict, Error{ErrorCode::Denied, allowed ? "" : policy_.reason(question, verdict)}};
}

// Its client has the task because the call that began it was let through.
ServerRules::Judgement ServerRules::judge(core::Trust trust, const ServerRequest& request,
                                          const policy::PinMismatch* mismatch) const {
    if (request.of_a_task && !deny_all_of(trust, request.server))
        return {policy::Verdict(), Error{}};
    auto judgement = judge(trust, request.server, request.method, mismatch);
    // A rule is about all of the server, and whoever is refused has asked for one. A pin says which by itself.
    if (judgement.decision() == policy::Decision::Allow || judgement.verdict.is_pinned())
        return judgement;
    if (const auto subject = subject_of(request); !subject.empty())
        judgement.denied = within(subject, std::move(judgement.denied));
    return judgement;
}

bool ServerRules::deny_all_of(core::Trust trust, const std::string& server) const {
    using Kind = policy::Rule::Kind;
    const auto prefix = prefix_of(server);
    const auto verdict = policy_.judge({trust, server, {}, prefix});
    return verdict.decision == policy::Decision::Deny &&
           (!verdict.rule || verdict.rule->kind == Kind::Deny ||
            verdict.rule->kind == Kind::Closed);
}

}  // namespace patchbay::router
