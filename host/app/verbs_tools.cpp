#include "app/call_arguments.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/unknown_tool.hpp"
#include "app/verbs.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "policy/policy.hpp"
#include "protocol/arguments.hpp"
#include "protocol/envelope.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <sstream>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kSchemaShown = 64u << 10;

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// As the server wrote it: its numbers may be more than any type here holds.
std::string_view raw_structured(std::string_view result) {
    for (const auto& [key, value] : protocol::members_in(result))
        if (key == "structuredContent") return value;
    return {};
}

int print_result(const connection::Reply& reply, const CallOptions& call,
                 const GlobalOptions& global) {
    if (!reply.error.empty()) {
        if (call.raw) print_json(reply.error);
        print_rpc_error(reply.error, global.json && !call.raw);
        return kFailure;
    }
    const int code = reply.is_error ? kToolError : kOk;
    if (global.json || call.raw) return print_json(reply.result), code;
    const auto value = parse_json(reply.result, "the result");
    const auto* result = value ? value->if_object() : nullptr;
    if (!result) return print_json(reply.result), code;
    const auto* content = result->if_contains("content");
    const auto* structured = result->if_contains("structuredContent");
    const auto printed = content ? print_content(*content, call.output_directory) : Printed();
    if (structured && !printed.text) print_json(raw_structured(reply.result));
    if (reply.is_error) say("the tool answered with an error");
    return code == kOk && printed.failed ? int(kFailure) : code;
}

// `integer`, `string or null`, `"a" or "b"`; empty: its schema does not say so plainly.
std::string type_of(const json::object* property) {
    std::vector<std::string> words;
    if (const auto type = core::text_in(property, "type")) words.emplace_back(*type);
    for (const char* key : {"enum", "type"}) {
        const auto* each = core::array_in(property, key);
        if (!each) continue;
        words.clear();
        for (const auto& word : *each)
            words.push_back(key[0] == 't' && word.is_string() ? std::string(word.get_string())
                                                              : json::serialize(word));
        break;
    }
    return core::printable(core::join(words, " or "), 100);
}

// One tool that was named, for whoever is about to call it.
void print_tool(const router::ListedTool& tool) {
    const bool denied = tool.level == config::Level::Deny;
    print_line(tool.public_name + (denied ? "  (denied)" : ""));
    if (const auto told = tool.tool->text("description"); !told.empty()) print_foreign(told);
    const auto* input = tool.tool->input_schema()->if_object();
    const auto* properties = core::object_in(input, "properties");
    if (!properties || properties->empty()) return print_line("\nno arguments are declared");
    const auto* required = core::array_in(input, "required");
    std::vector<std::vector<Cell>> rows{{{"ARGUMENT"}, {"TYPE"}, {"REQUIRED"}, {"DESCRIPTION"}}};
    for (const auto& member : *properties) {
        const auto* property = member.value().if_object();
        const bool needed = required && std::find(required->begin(), required->end(),
                                                  json::value(member.key())) != required->end();
        const std::string about(core::text_in(property, "description").value_or(""));
        rows.push_back({{core::printable(std::string_view(member.key()), 100)},
                        {type_of(property)},
                        {needed ? "yes" : "no"},
                        {core::printable(about, 1000)}});
    }
    print_line("");
    print_table(rows);
}

// Why a call is forbidden whoever owns that tool, where that is certain before any server starts:
// rules that need a tool's name in its server's words hold only where they name it so.
std::optional<Error> denial(const Session& session, const std::string& name) {
    auto& connections = session.host().connections();
    const policy::Policy policy(session.host().config().permissions);
    std::optional<Error> denied;
    for (const auto& id : protocol::servers_for(name, connections.ids())) {
        const auto& server = connections.find(id).value().get().spec().config;
        const auto prefix = "mcp__" + id + "__";
        const std::string tool = name.substr(std::min(prefix.size(), name.size()));
        const auto& hidden = server.disabled_tools;
        const bool ruled = server.tools.contains(tool) ||
                           std::find(hidden.begin(), hidden.end(), tool) != hidden.end();
        if (!ruled && server.trust == "untrusted") return {};  // enabled_tools may name it
        const auto verdict =
            policy.judge({policy::Principal::LocalUser, server, ruled ? tool : "", name});
        if (verdict.allowed) return {};
        denied = Error{ErrorCode::Denied, verdict.reason};
    }
    return denied;
}

// The servers of `ids` that may have a tool of such a name. A pattern without wildcards is looked
// for in descriptions too, which any server may have.
std::vector<std::string> concerned(const std::string& pattern, std::vector<std::string> ids) {
    const auto wildcard = pattern.find_first_of("*?");
    if (wildcard == std::string::npos) return ids;
    return protocol::servers_beginning(std::string_view(pattern).substr(0, wildcard), ids);
}

// No public name begins as the pattern does, up to its first wildcard.
Error no_server_for(const Session& session, const std::string& pattern) {
    constexpr std::string_view kPrefix = "mcp__";
    const auto end = std::min(pattern.find("__", kPrefix.size()), pattern.size());
    if (core::lower(pattern).starts_with(kPrefix) && pattern.find_first_of("*?") > end)
        return session.servers().no_such_server(
            pattern.substr(kPrefix.size(), end - kPrefix.size()));
    return session.servers().missing(
        {ErrorCode::NotFound, "no server's tools can match \"" + core::printable(pattern, 80) +
                                  "\"; they are called mcp__SERVER__TOOL"},
        {});
}

struct Asked {
    std::vector<Error> errors;  // of servers that listed nothing, or not all
    bool answered = false;      // some server did
};
Asked outcome_of(const Session& session, const std::vector<std::string>& servers) {
    Asked asked;
    for (const auto& status : session.host().connections().statuses()) {
        if (std::find(servers.begin(), servers.end(), status.id) == servers.end()) continue;
        if (session.cut_short(status)) {
            asked.errors.push_back(interrupted(status.id));
            continue;
        }
        const bool ready = status.state == connection::State::Ready;
        asked.answered = asked.answered || ready;
        if (ready && status.tools_error.empty()) continue;
        asked.errors.push_back(
            {ErrorCode::Unavailable, ready ? status.tools_error : status.last_error});
    }
    return asked;
}

}  // namespace

int tools_verb(const GlobalOptions& global, const std::string& pattern, const std::string& server,
               bool schema) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    std::vector<std::string> all;  // also what is disabled, out of order, not approved
    for (const auto& status : session.servers().statuses()) all.push_back(status.id);
    const auto meant = server.empty() ? concerned(pattern, all) : std::vector{server};
    if (meant == all)
        session.tell_troubles();
    else
        session.tell_troubles_of(meant);
    if (!session.servers().has(server)) return session.report_no_server(server);
    if (!pattern.empty() && meant.empty())
        return session.report_missing(no_server_for(session, pattern));
    const auto servers = server.empty() ? concerned(pattern, session.host().connections().ids())
                                        : std::vector<std::string>{server};
    if (servers.empty()) {
        if (!pattern.empty())  // then something is meant
            return session.report_no_server(meant.front());
    } else {
        session.connect(servers);
    }
    json::array list;
    std::vector<std::vector<Cell>> rows;
    const auto all_tools = session.host().router().tools();
    const auto named = std::find_if(all_tools.begin(), all_tools.end(),
                                    [&](const auto& tool) { return tool.public_name == pattern; });
    if (named != all_tools.end() && !global.json && !schema) return print_tool(*named), kOk;
    for (const auto& tool : all_tools) {
        const auto told = core::printable(tool.tool->text("description"),
                                          session.host().config().limits.description_bytes, true);
        if (!fits_pattern(pattern, tool.public_name, told)) continue;
        const auto description = "[" + tool.server + "] " + told;
        const auto* input = tool.tool->input_schema();
        if (global.json) {
            json::object entry{{"name", tool.public_name},
                               {"server", tool.server},
                               {"tool", tool.tool->name},
                               {"description", description},
                               {"level", config::name_of(tool.level)}};
            if (schema) entry["inputSchema"] = *input;
            list.push_back(std::move(entry));
            continue;
        }
        // Denied is not hidden: who wonders why a call is refused finds the tool here.
        const bool denied = tool.level == config::Level::Deny;
        rows.push_back(
            {{tool.public_name},
             {(denied ? "(denied) " : "") + core::printable(first_line(description), 100),
              denied ? "gray" : ""}});
        if (schema)
            rows.push_back({{"  " + core::printable(json::serialize(*input), kSchemaShown)}});
    }
    // What is there is listed though another server is not: that one is named on stderr, and the
    // exit code says that the list is not whole.
    const auto asked = outcome_of(session, servers);
    const bool none = list.empty() && rows.empty();
    // Where each server has answered it is known that there is no such tool.
    if (none && !pattern.empty() && !servers.empty() && asked.errors.empty())
        return session.report(
            {ErrorCode::NotFound, "no tool matches " + core::printable(pattern, 80)});
    if (!asked.errors.empty() && !asked.answered)
        return session.report(nobody_answered(asked.errors));
    if (global.json)
        print_json(json::serialize(list));
    else if (schema)
        for (const auto& row : rows)
            print_line(row[0].text + (row.size() > 1 ? "  " + row[1].text : ""));
    else
        print_table(rows);
    for (const auto& error : asked.errors) say("error: " + error.message);
    if (session.was_interrupted()) return kInterrupted;
    if (none && servers.empty() && session.servers().misconfigured()) return kConfigError;
    if (none) say(pattern.empty() ? "no tools" : "no tool matches " + pattern);
    return asked.errors.empty() ? kOk : kFailure;
}

int call_verb(const GlobalOptions& global, const CallOptions& call) {
    auto given = read_arguments(call.arguments);
    const auto opened = Session::open(global, Session::Life::OneShot, whoever_is_there());
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.tell_troubles_of(protocol::servers_for(call.name, session.host().connections().ids()));
    if (!given) return session.report(denial(session, call.name).value_or(given.error()));
    auto& router = session.host().router();
    // The tool first: key=value needs the types of its schema. Both waits share one time-out.
    std::optional<Result<router::ListedTool>> tool;
    const auto begun = core::Clock::now();
    const std::chrono::milliseconds timeout(static_cast<std::int64_t>(call.timeout_seconds * 1000));
    router.find_tool(call.name, timeout, [&](auto found) { tool.emplace(std::move(found)); });
    if (!session.wait([&] { return tool.has_value(); }))
        return session.report({ErrorCode::Cancelled, "interrupted by the user"});
    print_diagnostics(session.servers().rule_warnings(), global.quiet);
    if (!*tool) return session.report_missing(unknown_tool(session, call.name, tool->error()));
    const auto* schema = (*tool)->tool->input_schema();
    // A denied call is refused by the router, whatever its arguments.
    const bool denied = (*tool)->level == config::Level::Deny;
    const auto arguments = denied ? Result<Arguments>(Arguments())
                                  : with_pairs(std::move(*given), call.pairs, *schema);
    if (!arguments) return session.report(within(call.name, arguments.error()));
    if (!global.quiet && !arguments->values.empty())
        for (const auto& note : protocol::unchecked_in(*schema))
            say("note: " + core::printable(call.name, 200) + ": " + core::printable(note, 500));

    router::Call request;
    request.name = call.name;
    request.arguments = arguments->text;
    request.timeout = timeout;
    request.begun = begun;
    ProgressLine line;
    if (stderr_is_terminal()) {
        request.on_progress = [&line](const connection::Progress& progress) {
            std::ostringstream text;
            text << progress.progress;
            if (progress.total) text << " / " << *progress.total;
            line.show(text.str() + "  " + progress.message);
        };
    }
    std::optional<int> code;
    const auto id = router.call(std::move(request), [&](Result<connection::Reply> reply) {
        line.clear();
        code = reply ? print_result(*reply, call, global) : session.report(reply.error());
    });
    session.wait([&] { return code.has_value(); },
                 [&] { router.cancel(id, "interrupted by the user"); });
    return code.value_or(kInterrupted);
}

}  // namespace patchbay::app
