#include "gateway/approvals.hpp"

#include "config/secret_values.hpp"
#include "core/json_beside.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

#include <utility>

namespace patchbay::gateway {
namespace json = boost::json;
using config::Level;
using connection::Approvable;
using connection::Approval;

namespace {

constexpr std::size_t kNameBytes = 200;   // of a tool or an argument
constexpr std::size_t kValueBytes = 300;  // of an argument
constexpr std::size_t kRawBytes = 2'000;  // of arguments that cannot be told apart
constexpr std::size_t kMostArguments = 40;

std::string folded(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    return std::string(core::utf8_prefix(text, most)) + "... (" + std::to_string(text.size()) +
           " bytes in all)";
}

// As JSON, in which what a terminal would obey, or nobody would see, has its number.
std::string visible(const json::value& value, std::size_t most) {
    return folded(core::printable_json(json::serialize(value)), most);
}

// One a line. Of two equal keys a server may take the other one: then they are shown as written.
std::string arguments_of(const std::string& raw) {
    const auto read = core::parse_json_object(raw, {.unique_keys = true});
    if (!read)
        return "Arguments, as written (they are odd: " +
               core::printable(read.error().message, 200) + "):\n  " +
               folded(core::printable_json(config::without_secrets(raw)), kRawBytes);
    if (read->empty()) return "Without arguments.";
    std::string shown = "Arguments:";
    std::size_t count = 0;
    const auto masked = config::without_secrets("", *read);
    for (const auto& member : masked.get_object()) {
        if (++count > kMostArguments) break;
        const auto name = visible(json::string(member.key()), kNameBytes);
        shown +=
            "\n  " + name.substr(1, name.size() - 2) + ": " + visible(member.value(), kValueBytes);
    }
    if (read->size() > kMostArguments)
        shown += "\n  ... and " + std::to_string(read->size() - kMostArguments) + " more";
    return shown;
}

std::string origin_of(const config::Config& config, const std::string& id) {
    for (const auto& server : config.servers)
        if (server.id == id)
            return "Server: " + id + " (" + server.transport + ", " +
                   core::printable(config::to_string(server.place), 500) +
                   (server.trust.empty() ? "" : ", " + server.trust) + ")";
    return "Server: " + id;
}

// The answers to a form, and the levels that they set.
constexpr std::pair<const char*, Level> kDecisions[] = {{"once", Level::AllowOnce},
                                                        {"session", Level::AllowSession},
                                                        {"project", Level::AllowProject},
                                                        {"always", Level::AllowAlways}};

const char* meaning_of(Level level) {
    switch (level) {
        case Level::AllowSession:
            return "and as often as it is asked for in this session, whatever the arguments";
        case Level::AllowProject:
            return "the same in this project folder from now on, as long as the tool is described "
                   "as "
                   "it is now";
        case Level::AllowAlways:
            return "the same everywhere";
        default:
            return "this time";
    }
}

// Only what it was offered: a client may answer with anything.
Approval approval_in(const std::string& decision, const Approvable& wanted) {
    for (const auto& [word, level] : kDecisions)
        if (decision == word && wanted.may_set(level)) return connection::approval_for(level);
    return Approval::Refused;
}

// "no" is every answer but one of the form's own that says otherwise.
std::string decision_in(const Result<connection::Given>& given) {
    const auto answer = given ? core::read_json_object(given->text) : given.error();
    if (!answer || core::text_in(&*answer, "action") != "accept") return "no";
    return std::string(
        core::text_in(core::object_in(&*answer, "content"), "decision").value_or("no"));
}

}  // namespace

core::Principal as_configured(core::Principal principal, const config::Config& config) {
    if (config.gateway.approvals == "rules")
        principal.trust = core::Trust::NeedsRule;
    else if (config.gateway.approvals == "ask")
        principal.trust = core::Trust::NeedsApproval;
    return principal;
}

std::string without_a_rule(const config::GatewaySettings& settings) {
    if (settings.approvals == "rules")
        return "a client's is refused, as [gateway] approvals = \"rules\" wants a rule for it";
    if (settings.approvals == "ask")
        return "a client's is asked about, as [gateway] approvals = \"ask\" has it";
    return {};
}

std::string approval_text(const config::Config& config, const Approvable& wanted) {
    const bool tool = !wanted.tool.empty();
    const auto name = visible(json::value(tool ? wanted.tool : wanted.method), kNameBytes);
    return std::string("May ") + (tool ? "the tool " : "the request ") + name +
           " be sent to server \"" + wanted.server + "\"?\n" + origin_of(config, wanted.server) +
           "\n" +
           (tool ? "Tool: "
                 : "An answer for longer than once counts for all such requests to that "
                   "server.\nRequest: ") +
           name + "\n" +
           (wanted.rule.empty() ? "" : "Asked by: " + core::printable(wanted.rule, 1'000) + "\n") +
           arguments_of(wanted.arguments.empty() ? "{}" : wanted.arguments);
}

json::object approval_form(const config::Config& config, const Approvable& wanted) {
    json::array decisions;
    std::string meaning;
    for (const auto& [word, level] : kDecisions) {
        if (!wanted.may_set(level)) continue;
        decisions.emplace_back(word);
        meaning += std::string(word) + ": " + meaning_of(level) + ". ";
    }
    decisions.emplace_back("no");
    // One field with an enum: every client that knows forms at all can show that.
    return {{"message", approval_text(config, wanted)},
            {"requestedSchema",
             {{"type", "object"},
              {"properties",
               {{"decision",
                 {{"type", "string"},
                  {"title", "Decision"},
                  {"description", meaning + "no: not at all."},
                  {"enum", std::move(decisions)}}}}},
              {"required", json::array{"decision"}}}}};
}

connection::Question Approvals::approve(Approvable wanted, Lasting lasting,
                                        connection::Caller::Decide decide, const Ask& ask) {
    const auto at_once = [&](Approval approval) {
        decide(approval);
        return connection::Question();
    };
    if (config_.gateway.approvals == "rules") return at_once(Approval::NobodyThere);
    if (lasting == Lasting::Once) std::erase(wanted.levels, Level::AllowSession);
    if (wanted.may_set(Level::AllowSession) && given_.hold(wanted)) return at_once(Approval::Given);
    const auto form = approval_form(config_, wanted);
    wanted.arguments.clear();  // they may be large
    auto question = ask(form, [this, wanted = std::move(wanted), decide](auto given) {
        if (!given && given.error().code == ErrorCode::Timeout) return decide(Approval::Unanswered);
        const auto approval = approval_in(decision_in(given), wanted);
        if (approval == Approval::ForSession) given_.add(wanted);
        decide(approval);
    });
    return question ? std::move(*question) : at_once(Approval::NobodyThere);
}

}  // namespace patchbay::gateway
