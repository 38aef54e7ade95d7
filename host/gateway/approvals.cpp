#include "gateway/approvals.hpp"

#include "config/secret_names.hpp"
#include "core/json_beside.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::gateway {
namespace json = boost::json;
using connection::Approvable;
using connection::Approval;

namespace {

constexpr std::size_t kNameBytes = 200;   // of a tool or an argument
constexpr std::size_t kValueBytes = 300;  // of an argument
constexpr std::size_t kRawBytes = 2'000;  // of arguments that cannot be told apart
constexpr std::size_t kMostArguments = 40;

// What tells nothing but names, or gives something back: as tools are listed that may not be called.
bool needs_none(const std::string& method) {
    return method.ends_with("/list") || method == "logging/setLevel" ||
           method == "resources/unsubscribe";
}

std::string folded(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    return std::string(core::utf8_prefix(text, most)) + "... (" + std::to_string(text.size()) +
           " bytes in all)";
}

json::value masked(std::string_view name, const json::value& value) {
    if (const auto text = core::text_of(value)) {
        if (config::is_secret(name, *text)) return "***";
        return json::string(core::log::masked(*text));
    }
    if (config::names_a_secret(name) && !value.is_bool() && !value.is_null()) return "***";
    if (const auto* list = value.if_array()) {
        json::array shown;
        for (const auto& each : *list) shown.push_back(masked(name, each));
        return shown;
    }
    const auto* object = value.if_object();
    if (!object) return value;
    json::object shown;
    for (const auto& member : *object) shown[member.key()] = masked(member.key(), member.value());
    return shown;
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
               folded(core::printable_json(core::log::masked(raw)), kRawBytes);
    if (read->empty()) return "Without arguments.";
    std::string shown = "Arguments:";
    std::size_t count = 0;
    for (const auto& member : *read) {
        if (++count > kMostArguments) break;
        const auto name = visible(json::value(member.key()), kNameBytes);
        shown += "\n  " + name.substr(1, name.size() - 2) + ": " +
                 visible(masked(member.key(), member.value()), kValueBytes);
    }
    if (read->size() > kMostArguments)
        shown += "\n  ... and " + std::to_string(read->size() - kMostArguments) + " more";
    return shown;
}

std::string origin_of(const config::Config& config, const std::string& id) {
    for (const auto& server : config.servers)
        if (server.id == id)
            return "Server: " + id + " (" + server.transport + ", " +
                   core::printable(config::to_string(server.place), 500) + ")";
    return "Server: " + id;
}

// With the definition: a tool that is described otherwise than when a person said yes is another one. The
// sign keeps a tool apart from a method of its name.
std::string key_of(const Approvable& wanted) {
    return wanted.server + "\n" + (wanted.tool.empty() ? wanted.method : "=" + wanted.tool) + "\n" +
           wanted.definition;
}

// Who may read a server's resources may be told that one has changed: a stream cannot ask on its way.
std::string key_of_more(Approvable wanted) {
    if (wanted.method == "resources/subscribe") wanted.method = "resources/read";
    return key_of(wanted);
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
    if (config.gateway.approvals != "client")
        principal.trust = core::Trust::NeedsApproval;
    else if (principal.trust == core::Trust::Approves)
        principal.trust = core::Trust::ApprovesUnruled;
    return principal;
}

json::object approval_form(const config::Config& config, const Approvable& wanted,
                           Lasting lasting) {
    const bool tool = !wanted.tool.empty();
    const auto name = visible(json::value(tool ? wanted.tool : wanted.method), kNameBytes);
    const auto message = std::string("May ") + (tool ? "the tool " : "the request ") + name +
                         " be sent to server \"" + wanted.server + "\"?\n" +
                         origin_of(config, wanted.server) + "\n" + (tool ? "Tool: " : "Request: ") +
                         name + "\n" +
                         arguments_of(wanted.arguments.empty() ? "{}" : wanted.arguments);
    json::array decisions{"once"};
    std::string meaning = "once: this time. ";
    if (lasting == Lasting::Session) {
        decisions.push_back("session");
        meaning +=
            "session: and as often as it is asked for in this session, whatever the "
            "arguments. ";
    }
    decisions.push_back("no");
    // One field with an enum: every client that knows forms at all can show that.
    return {{"message", message},
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

connection::Question Approvals::approve(const Approvable& wanted, Lasting lasting,
                                        connection::Caller::Decide decide, const Ask& ask) {
    const auto at_once = [&](Approval approval) {
        decide(approval);
        return connection::Question();
    };
    if (needs_none(wanted.method)) return at_once(Approval::Given);
    if (config_.gateway.approvals == "rules") return at_once(Approval::NobodyThere);
    auto key = key_of(wanted);
    if (lasting == Lasting::Session && (remembers(key) || remembers(key_of_more(wanted))))
        return at_once(Approval::Given);
    auto question = ask(approval_form(config_, wanted, lasting), [this, key = std::move(key),
                                                                  lasting, decide](auto given) {
        if (!given && given.error().code == ErrorCode::Timeout) return decide(Approval::Unanswered);
        const auto decision = decision_in(given);
        // A client may answer with what it was not offered.
        const bool kept = decision == "session" && lasting == Lasting::Session;
        if (kept) remember(key);
        decide(kept || decision == "once" ? Approval::Given : Approval::Refused);
    });
    return question ? std::move(*question) : at_once(Approval::NobodyThere);
}

bool Approvals::remembers(const std::string& key) const {
    return std::find(given_.begin(), given_.end(), key) != given_.end();
}

void Approvals::remember(std::string key) {
    if (remembers(key)) return;
    given_.push_back(std::move(key));
    if (given_.size() > kMost) given_.pop_front();
}

}  // namespace patchbay::gateway
