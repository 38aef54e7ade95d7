#include "app/call_arguments.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verbs.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/arguments.hpp"
#include "protocol/envelope.hpp"
#include "protocol/qualified_name.hpp"
#include "service/call.hpp"
#include "service/tools.hpp"

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
        if (call.raw) print_foreign_json(reply.error);
        print_rpc_error(reply.error, global.json && !call.raw);
        return kFailure;
    }
    const int code = reply.is_error ? kToolError : kOk;
    if (global.json || call.raw) return print_foreign_json(reply.result), code;
    const auto value = parse_json(reply.result, "the result");
    const auto* result = value ? value->if_object() : nullptr;
    if (!result) return print_foreign_json(reply.result), code;
    const auto* content = result->if_contains("content");
    const auto* structured = result->if_contains("structuredContent");
    const auto printed = content ? print_content(*content, call.output_directory) : Printed();
    if (structured && !printed.text) print_foreign_json(raw_structured(reply.result));
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

void print_tools(const std::vector<router::ListedTool>& tools, const core::Limits& limits,
                 bool as_json, bool schema) {
    json::array list;
    std::vector<std::vector<Cell>> rows;
    for (const auto& tool : tools) {
        if (as_json) {
            list.push_back(service::to_json(
                tool, limits, schema ? service::Schemas::Shown : service::Schemas::LeftOut));
            continue;
        }
        // Denied is not hidden: who wonders why a call is refused finds the tool here.
        const bool denied = tool.level == config::Level::Deny;
        const auto about =
            first_line("[" + tool.server + "] " + service::description_of(tool, limits));
        rows.push_back(
            {{tool.public_name},
             {(denied ? "(denied) " : "") + core::printable(about, 100), denied ? "gray" : ""}});
        if (schema)
            rows.push_back({{"  " + core::printable(json::serialize(*tool.tool->input_schema()),
                                                    kSchemaShown)}});
    }
    if (as_json)
        print_json(json::serialize(list));
    else if (schema)
        for (const auto& row : rows)
            print_line(row[0].text + (row.size() > 1 ? "  " + row[1].text : ""));
    else
        print_table(rows);
}

}  // namespace

int tools_verb(const GlobalOptions& global, const std::string& pattern, const std::string& server,
               bool schema) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    std::vector<std::string> all;  // also what is disabled, out of order, not approved
    for (const auto& status : session.servers().statuses()) all.push_back(status.id);
    const auto meant = server.empty() ? service::servers_meant(pattern, all) : std::vector{server};
    if (meant == all)
        session.tell_troubles();
    else
        session.tell_troubles_of(meant);
    if (!session.servers().has(server)) return session.report_no_server(server);
    if (!pattern.empty() && meant.empty())
        return session.report_missing(service::no_server_for(session.servers(), pattern));
    const auto servers = server.empty()
                             ? service::servers_meant(pattern, session.host().connections().ids())
                             : std::vector<std::string>{server};
    if (servers.empty()) {
        if (!pattern.empty())  // then something is meant
            return session.report_no_server(meant.front());
    } else {
        session.connect(servers);
    }
    const auto& limits = session.host().config().limits;
    auto listed =
        service::tools_listed(session.servers(), session.caller(), servers, session.waited());
    const auto named = std::find_if(listed.tools.begin(), listed.tools.end(),
                                    [&](const auto& tool) { return tool.public_name == pattern; });
    if (named != listed.tools.end() && !global.json && !schema) return print_tool(*named), kOk;
    std::erase_if(listed.tools, [&](const auto& tool) {
        return !service::fits_pattern(pattern, tool.public_name,
                                      service::description_of(tool, limits));
    });
    // What is there is listed though another server is not: that one is named on stderr, and the
    // exit code says that the list is not whole.
    const bool none = listed.tools.empty();
    // Where each server has answered it is known that there is no such tool.
    if (none && !pattern.empty() && !servers.empty() && listed.errors.empty())
        return session.report(
            {ErrorCode::NotFound, "no tool matches " + core::printable(pattern, 80)});
    if (!listed.errors.empty() && !listed.answered)
        return session.report(service::nobody_answered(listed.errors));
    print_tools(listed.tools, limits, global.json, schema);
    for (const auto& each : listed.errors) say("error: " + each.error.message);
    if (session.was_interrupted()) return kInterrupted;
    if (none && servers.empty() && session.servers().misconfigured()) return kConfigError;
    if (none) say(pattern.empty() ? "no tools" : "no tool matches " + pattern);
    return listed.errors.empty() ? kOk : kFailure;
}

int call_verb(const GlobalOptions& global, const CallOptions& call) {
    auto given = read_arguments(call.arguments);
    const auto opened = Session::open(global, Session::Life::OneShot, whoever_is_there());
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.tell_troubles_of(protocol::servers_for(call.name, session.host().connections().ids()));
    if (!given)
        return session.report(session.host()
                                  .router()
                                  .certain_denial(session.caller(), call.name)
                                  .value_or(given.error()));
    // The tool first: key=value needs the types of its schema. Both waits share one time-out.
    std::optional<Result<router::ListedTool>> tool;
    const auto begun = core::Clock::now();
    const std::chrono::milliseconds timeout(static_cast<std::int64_t>(call.timeout_seconds * 1000));
    service::find_tool(session.servers(), session.caller(), call.name, timeout,
                       [&](auto found) { tool.emplace(std::move(found)); });
    if (!session.wait([&] { return tool.has_value(); }))
        return session.report({ErrorCode::Cancelled, "interrupted by the user"});
    print_diagnostics(session.servers().rule_warnings(), global.quiet);
    if (!*tool) return session.report_missing(tool->error());
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
    const auto answered = [&](Result<connection::Reply> reply) {
        line.clear();
        code = reply ? print_result(*reply, call, global) : session.report(reply.error());
    };
    const auto id =
        service::call(session.servers(), session.caller(), std::move(request), answered);
    session.wait([&] { return code.has_value(); },
                 [&] { session.host().router().cancel(id, "interrupted by the user"); });
    return code.value_or(kInterrupted);
}

}  // namespace patchbay::app
