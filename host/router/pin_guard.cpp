#include "router/pin_guard.hpp"

#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/uri_template.hpp"
#include "router/call_params.hpp"
#include "router/server_rules.hpp"

#include <chrono>
#include <utility>

namespace patchbay::router {
using pins::Basis;
using pins::Name;
using pins::Part;
using policy::PinMismatch;

namespace {

// `prompt "greet" of server "x"`
std::string words_for(const std::string& server, const Name& name) {
    const auto of_server = " of server \"" + server + "\"";
    if (name.first == Part::Instructions) return "what is said in the instructions" + of_server;
    return std::string(pins::word_of(name.first)) + " \"" + core::printable(name.second, 200) +
           "\"" + of_server;
}

bool is_person(const connection::Caller& caller) {
    return caller.principal().kind == core::Principal::Kind::Person;
}

}  // namespace

std::map<std::string, boost::json::object> PinGuard::stubs_of(const std::string& server,
                                                              std::string_view result,
                                                              const core::Limits& limits) const {
    std::map<std::string, boost::json::object> stubs;
    if (!any(server) || result.empty()) return stubs;
    const auto page = protocol::parse_tool_page(result, limits);
    if (!page) return stubs;
    for (const auto& tool : page->tools)
        if (const auto departed = this->departed(server, tool); departed && departed->blocked)
            stubs[tool.name] = {
                {"name", tool.name},
                {"description", pins::Pins::blocked_words(server, "tool", departed->mismatch)},
                {"inputSchema", {{"type", "object"}, {"additionalProperties", true}}}};
    return stubs;
}

policy::Verdict PinGuard::judge(const Entry& entry, core::Trust trust,
                                policy::Question& question) const {
    question = finder_.question_about(entry, trust);
    auto verdict = policy_.judge(question);
    // Only who is refused looks at the disk: somebody may have approved it in another process.
    if (!verdict.is_pinned() || !pins_->refresh(entry.server)) return verdict;
    question = finder_.question_about(entry, trust);
    return policy_.judge(question);
}

policy::Question PinGuard::question_about(const std::string& server, const Name& name,
                                          const std::string& public_name) const {
    policy::Question question;
    question.server = server;
    question.public_name = public_name;
    if (name.first == Part::Tools) question.tool = name.second;
    return question;
}

// What it asks for by name; nobody asks for what they unsubscribe from. A template has made a URI that no list of
// resources has.
std::vector<Name> PinGuard::names_in(const ServerRequest& request, std::size_t depth) const {
    if (!pins_ || request.method == "resources/unsubscribe") return {};
    auto [kind, name] = subject_of(request, depth);
    if (kind == Subject::Kind::None) return {};
    if (kind == Subject::Kind::Prompt) return {{Part::Prompts, std::move(name)}};
    if (kind == Subject::Kind::Template) return {{Part::Templates, std::move(name)}};
    std::vector<Name> names;
    for (auto& each : pins_->templates(request.server))
        if (each == name || protocol::may_come_of(name, each))
            names.emplace_back(Part::Templates, std::move(each));
    return names;
}

// Of several templates that fit one that is as it was approved is enough.
std::optional<PinMismatch> PinGuard::mismatch(const ServerRequest& request,
                                              std::size_t depth) const {
    if (!pins_ || !pins_->any(request.server)) return {};
    std::optional<PinMismatch> worst;
    for (const auto& name : names_in(request, depth)) {
        auto judged = pins_->of_item(request.server, name);
        if (!judged.mismatch) return {};
        judged.mismatch->subject = words_for(request.server, name);
        if (!worst) worst = std::move(judged.mismatch);
    }
    return worst;
}

std::vector<Name> PinGuard::due(const connection::Caller& caller, const Entry& entry,
                                Consent consent) const {
    if (!pins_ || (consent == Consent::ByRule && !is_person(caller))) return {};
    const auto* judged = finder_.index().judged(entry);
    const bool settled =
        consent == Consent::InPerson ? !judged->mismatch && judged->settled : judged->settled;
    if (settled) return {};
    const auto question = finder_.question_about(entry, caller.principal().trust);
    if (policy_.pinning(question) == policy::Pinning::Off) return {};
    return {{Part::Tools, entry.tool->name}};
}

std::vector<Name> PinGuard::due(const connection::Caller& caller, const ServerRequest& request,
                                std::size_t depth, Consent consent) const {
    if (!pins_ || (consent == Consent::ByRule && !is_person(caller))) return {};
    auto names = names_in(request, depth);
    std::erase_if(names, [&](const Name& name) {
        const auto judged = pins_->of_item(request.server, name);
        return consent == Consent::InPerson ? !judged.mismatch && judged.settled : judged.settled;
    });
    if (names.empty()) return names;
    const auto prefix = prefix_of(request.server);
    const auto question = question_about(request.server, names.front(), prefix);
    if (policy_.pinning(question) == policy::Pinning::Off) names.clear();
    return names;
}

void PinGuard::note(const std::string& server, std::vector<Name> names, Consent consent,
                    Noted noted) const {
    const auto public_name = [this, server](const std::string& tool) {
        return finder_.index().public_name(server, tool);
    };
    const auto at =
        std::chrono::duration_cast<std::chrono::seconds>(loop_.time().date().time_since_epoch())
            .count();
    const auto first = names.front();
    pins_->pin(server, std::move(names),
               consent == Consent::InPerson ? Basis::Approved : Basis::Used, public_name, at,
               [this, server, first, public_name, noted = std::move(noted)](const auto& kept) {
                   if (kept) return noted({});
                   PinMismatch unkept{PinMismatch::Kind::Unknown, false,
                                      "cannot be pinned: " + kept.error().message};
                   const bool tool = first.first == Part::Tools;
                   if (!tool) unkept.subject = words_for(server, first);
                   const auto name = tool ? public_name(first.second) : prefix_of(server);
                   auto question = question_about(server, first, name);
                   question.mismatch = &unkept;
                   const auto verdict = policy_.judge(question);
                   if (verdict.decision == policy::Decision::Deny)
                       return noted(Error{ErrorCode::Denied, policy_.reason(question, verdict)});
                   core::log::warn("server \"" + server + "\": what is used of it " + unkept.why);
                   pins_->give_up(server, kept.error());
                   noted({});
               });
}

// Nothing: nobody wants to know.
std::optional<Departed> PinGuard::judged(const std::string& server, const Name& name,
                                         std::optional<PinMismatch> mismatch) const {
    if (!mismatch) return {};
    const bool tool = name.first == Part::Tools;
    if (!tool) mismatch->subject = words_for(server, name);
    const auto known_as =
        tool ? finder_.index().public_name(server, name.second) : prefix_of(server);
    auto question = question_about(server, name, known_as);
    question.mismatch = &*mismatch;
    const auto pinning = policy_.pinning(question);
    if (pinning == policy::Pinning::Off) return {};
    return Departed{name, std::move(*mismatch), pinning == policy::Pinning::Block};
}

std::vector<Departed> PinGuard::departed(const std::string& server) const {
    std::vector<Departed> all;
    if (!pins_) return all;
    const auto public_name = [&](const std::string& tool) {
        return finder_.index().public_name(server, tool);
    };
    for (auto& each : pins_->departed(server, public_name))
        if (auto departed = judged(server, each.name, std::move(each.mismatch)))
            all.push_back(std::move(*departed));
    return all;
}

std::optional<Departed> PinGuard::departed(const std::string& server, const Name& name) const {
    if (!any(server)) return {};
    return judged(server, name, pins_->of_item(server, name).mismatch);
}

std::optional<Departed> PinGuard::departed(const std::string& server, const Name& name,
                                           std::string_view text) const {
    if (!any(server)) return {};
    return judged(server, name, pins_->of_text(server, name, text));
}

std::optional<Departed> PinGuard::departed(const std::string& server,
                                           const protocol::Tool& tool) const {
    if (!any(server)) return {};
    const auto known_as = finder_.index().public_name(server, tool.name);
    return judged(server, {Part::Tools, tool.name}, pins_->of_unlisted(server, tool, known_as));
}

}  // namespace patchbay::router
