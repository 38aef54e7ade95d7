#include "app/call_arguments.hpp"
#include "app/distant_host.hpp"
#include "app/form_field.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/server_wait.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/json.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"
#include "protocol/arguments.hpp"
#include "protocol/envelope.hpp"
#include "protocol/qualified_name.hpp"
#include "protocol/tool.hpp"
#include "service/tools.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr double kMostSeconds = 366 * 86400.0;  // also fits every clock

struct CallOptions {
    std::string name;
    std::vector<std::string> pairs;  // key=value, key:=json
    std::string arguments;           // JSON, @FILE or -
    double timeout_seconds = 0;      // 0: the server's
    std::string output_directory = ".";
    bool raw = false;
    bool yes = false;  // as GlobalOptions has it
};

constexpr std::size_t kSchemaShown = 64u << 10;

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

// As the server wrote it: its numbers may be more than any type here holds.
std::string_view raw_structured(std::string_view result) {
    for (const auto& [key, value] : protocol::members_in(result))
        if (key == "structuredContent") return value;
    return {};
}

int print_result(const connection::Reply& reply, const router::ListedTool& tool,
                 const CallOptions& call, const GlobalOptions& global) {
    if (!reply.error.empty()) {
        if (call.raw) print_foreign_json(reply.error);
        print_rpc_error(reply.error, global.json && !call.raw, tool.server);
        return kFailure;
    }
    const int code = reply.is_error ? kToolError : kOk;
    const auto value = core::parse_json(reply.result);
    const auto* result = value ? value->if_object() : nullptr;
    if (!value && !global.quiet)
        say("note: the result of " + tool.public_name + " " + value.error().message +
            "; it is shown as it came");
    const auto why = result && !reply.is_error && !global.quiet
                         ? protocol::fault_of_result(*tool.tool, *result)
                         : std::string();
    if (!why.empty())
        say("warning: the result of " + tool.public_name + ": " + core::printable(why, 500));
    if (global.json || call.raw || !result) return print_foreign_json(reply.result), code;
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

// `integer, 1 to 10, default 5`: with what a call would be refused for, and what counts where nothing is given.
std::string told_of(const json::object* property) {
    std::vector<std::string> words{type_of(property)};
    if (!property) return words.front();
    if (const auto format = core::text_in(property, "format"))
        words.push_back("format " + core::printable(*format, 40));
    if (auto limits = shown_limits(*property); !limits.empty()) words.push_back(std::move(limits));
    if (const auto* given = property->if_contains("default"))
        words.push_back("default " + core::printable(json::serialize(*given), 80));
    if (words.front().empty()) words.erase(words.begin());
    return core::printable(core::join(words, ", "), 300);
}

// What a reader has to know before all else: it is refused, or not what somebody approved.
std::string mark_of(const router::ListedTool& tool) {
    if (tool.mismatch) return tool.blocked ? "blocked" : policy::name_of(*tool.mismatch);
    return tool.level == config::Level::Deny ? "denied" : "";
}

// One tool that was named, for whoever is about to call it.
void print_tool(const router::ListedTool& tool) {
    const auto mark = mark_of(tool);
    print_line(tool.public_name + (mark.empty() ? "" : "  (" + mark + ")"));
    if (const auto told = tool.tool->text("description"); !told.empty()) print_foreign(told);
    const auto schema = tool.tool->input_schema();
    const auto* input = schema.if_object();
    const auto* properties = core::object_in(input, "properties");
    if (const auto& fault = tool.tool->schema_fault; !fault.empty())
        return print_line("\nits arguments are not known: the inputSchema that its server lists " +
                          fault + "; whatever you give is passed on");
    if (!properties || properties->empty()) return print_line("\nno arguments are declared");
    const auto* required = core::array_in(input, "required");
    std::vector<std::vector<Cell>> rows{{{"ARGUMENT"}, {"TYPE"}, {"REQUIRED"}, {"DESCRIPTION"}}};
    for (const auto& member : *properties) {
        const auto* property = member.value().if_object();
        const bool needed = required && std::find(required->begin(), required->end(),
                                                  json::value(member.key())) != required->end();
        const std::string about(core::text_in(property, "description").value_or(""));
        rows.push_back({{core::printable(std::string_view(member.key()), 100)},
                        {told_of(property)},
                        {needed ? "yes" : "no"},
                        {core::printable(about, 1000)}});
    }
    print_line("");
    print_table(rows);
}

void print_tools(std::vector<router::ListedTool> tools, const std::vector<service::Heard>& heard,
                 const core::Limits& limits, const GlobalOptions& global, bool schema) {
    const bool as_json = global.json;
    json::array list;
    std::vector<std::vector<Cell>> rows;
    rows.reserve(tools.size());
    for (auto& tool : tools) {
        if (as_json) {
            auto shown = service::to_json(
                tool, limits, schema ? service::Schemas::Shown : service::Schemas::LeftOut);
            service::add_standing(shown, tool.server, heard);
            list.push_back(std::move(shown));
            continue;
        }
        // Denied is not hidden: who wonders why a call is refused finds the tool here.
        const auto mark = mark_of(tool);
        const auto about = service::labelled(tool, limits);
        auto shown = core::printable(first_line(about), 100);
        if (!mark.empty()) shown.insert(0, "(" + mark + ") ");
        auto& row = rows.emplace_back();  // a list in braces would copy each
        row.reserve(2);
        row.push_back({std::move(tool.public_name)});
        row.push_back({std::move(shown), tool.level == config::Level::Deny ? "gray" : ""});
        if (!schema) continue;
        // What stands there in its place is not the server's.
        if (const auto& fault = tool.tool->schema_fault; !fault.empty() && !global.quiet)
            say("note: " + row[0].text + ": its inputSchema " + fault +
                ", so one that takes any arguments stands in its place");
        rows.push_back(
            {{"  " + core::printable(json::serialize(tool.tool->input_schema()), kSchemaShown)}});
    }
    if (as_json)
        print_json(json::serialize(list));
    else if (schema)
        for (const auto& row : rows)
            print_line(row[0].text + (row.size() > 1 ? "  " + row[1].text : ""));
    else
        print_table(rows);
}

// CLI11's own conversion takes "-1" and says only that it could not convert.
std::string no_seconds(const std::string& text) {
    double seconds = 0;
    if (CLI::detail::lexical_cast(text, seconds) && seconds >= 0.001 && seconds <= kMostSeconds)
        return {};
    return "\"" + text + "\" is no number of seconds from 0.001 to 31622400";
}

// Also of those that are disabled, out of order, not approved.
std::vector<std::string> all_servers(const Session& session) {
    std::vector<std::string> all;
    for (const auto& status : session.servers().statuses()) all.push_back(status.id);
    return all;
}

// What there is has been printed: what is missing of it, and the exit code that says so.
int end_of_list(const Session& session, const service::ToolList& listed,
                const std::vector<std::string>& servers, const std::string& pattern, bool none) {
    for (const auto& each : listed.errors) say("error: " + each.error.message);
    if (session.was_interrupted()) return kInterrupted;
    if (none && servers.empty() && session.servers().misconfigured()) return kConfigError;
    if (none && session.host().connections().ids().empty())
        say("no tools: " + session.servers().nobody_to_ask().message);
    else if (none)
        say(pattern.empty() ? "no tools"
                            : "no tool matches \"" + core::printable(pattern, 80) + "\"");
    if (session.host().config().deny_all) return kConfigError;  // they are shown, none is of use
    return listed.errors.empty() ? kOk : kFailure;
}

std::string refresh_hint(const std::vector<service::Heard>& heard) {
    const bool recalled = std::any_of(heard.begin(), heard.end(),
                                      [](const auto& each) { return each.standing.recalled; });
    return recalled ? "--refresh asks the servers what they have now" : "";
}

struct ToolsOptions {
    std::string pattern, server;
    bool schema = false, refresh = false;
};

int tools_verb(const GlobalOptions& global, const ToolsOptions& wanted) {
    const auto& pattern = wanted.pattern;
    const auto& server = wanted.server;
    const bool schema = wanted.schema;
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    const auto all = all_servers(session);
    const auto meant = server.empty() ? service::servers_meant(pattern, all) : std::vector{server};
    if (meant == all)
        session.troubles().tell_all();
    else
        session.troubles().tell_those_of(meant);
    if (!session.servers().has(server)) return session.report_no_server(server);
    if (!pattern.empty() && meant.empty())
        return session.report_missing(service::no_server_for(session.servers(), pattern));
    auto line = look_for_host(session, Guest::Person);
    const bool distant = line != nullptr;
    if (distant) session.ask(std::make_unique<DistantHost>(session.servers(), std::move(line)));
    const auto servers = server.empty()
                             ? service::servers_meant(pattern, session.host().connections().ids())
                             : std::vector<std::string>{server};
    // What was listed before is known without its server.
    if (!distant && !servers.empty()) session.host().recall_lists(servers);
    const auto asked = wanted.refresh ? servers : session.asked().unknown(servers);
    const auto ask = wanted.refresh ? service::Ask::Anew : service::Ask::IfStale;
    const auto known = servers.size() - asked.size();
    const auto& limits = session.host().config().limits;
    std::set<std::string> shown;  // while others were silent
    std::vector<service::Heard> heard;
    // Nobody who asks for all of them asks for one that is stopped.
    const bool any = server.empty() && meant == all &&
                     (!pattern.starts_with("mcp__") || pattern.starts_with("mcp__*"));
    const auto named_ones = any ? std::vector<std::string>() : servers;
    const auto fitting = [&](service::Wait wait) {
        auto list = session.asked().tools(named_ones, wait, ask);
        heard = list.heard;
        if (pattern.empty()) return list;  // they need not be described for that
        std::erase_if(list.tools, [&](const auto& tool) {
            return !service::fits_pattern(pattern, tool.public_name,
                                          service::description_of(tool, limits));
        });
        return list;
    };
    const auto named_in = [&](const service::ToolList& list) {
        return std::find_if(list.tools.begin(), list.tools.end(),
                            [&](const auto& tool) { return tool.public_name == pattern; });
    };
    const auto print_new = [&](std::vector<router::ListedTool> tools) {
        if (!shown.empty())
            std::erase_if(tools,
                          [&](const auto& tool) { return shown.contains(tool.public_name); });
        if (!asked.empty())
            for (const auto& tool : tools) shown.insert(tool.public_name);
        print_tools(std::move(tools), heard, limits, global, schema);
    };
    if (servers.empty()) {
        if (!pattern.empty())  // then something is meant
            return session.report_no_server(meant.front());
    } else if (global.json) {
        ask_for_tools(session, asked, ask, known);  // one document
    } else {
        bool found = false;
        const auto show = [&] {
            auto so_far = fitting(service::Wait::CutShort);
            found = named_in(so_far) != so_far.tools.end() && !schema;
            if (found) return;
            print_new(std::move(so_far.tools));
            static_cast<void>(stdout_error());  // whoever reads has it now
        };
        ask_for_tools(session, asked, ask, known, {show, [&] { return found; }});
    }
    auto listed = fitting(session.waited());
    const auto tell_since = [&] { tell_when_listed(heard, ask, global); };
    const auto named = named_in(listed);
    if (named != listed.tools.end() && !global.json && !schema)
        return tell_since(), print_tool(*named), kOk;
    // What is there is listed though another server is not: that one is named on stderr, and the
    // exit code says that the list is not whole.
    const bool none = listed.tools.empty();
    // Where each server has answered it is known that there is no such tool.
    if (none && !pattern.empty() && !servers.empty() && listed.errors.empty()) {
        std::vector<std::string> names;
        for (const auto& tool : session.asked().tools(servers, service::Wait::ToTheEnd, ask).tools)
            names.push_back(tool.public_name);
        const bool whole = pattern.find_first_of("*?") == std::string::npos;
        const auto hint = whole ? core::did_you_mean(pattern, names) : std::string();
        auto missing = "no tool matches \"" + core::printable(pattern, 80) + "\"" + hint;
        if (const auto more = refresh_hint(heard); !more.empty())
            missing = core::behind_hint(std::move(missing), more);
        return session.report({ErrorCode::NotFound, std::move(missing)});
    }
    if (!listed.errors.empty() && !listed.answered)
        return session.report(service::nobody_answered(listed.errors));
    tell_since();
    print_new(std::move(listed.tools));
    return end_of_list(session, listed, servers, pattern, none);
}

// All waits of one call share it.
struct CallTime {
    core::Clock::time_point begun;
    std::chrono::milliseconds most;  // 0: the server's
};

int send_call(Session& session, const CallOptions& call, const router::ListedTool& tool,
              const Arguments& arguments, const CallTime& time) {
    router::Call request;
    request.name = call.name;
    request.arguments = arguments.text;
    request.timeout = time.most;
    request.begun = time.begun;
    ProgressLine line;
    if (stderr_is_terminal()) {
        request.on_progress = [&line](const connection::Progress& progress) {
            std::ostringstream text;
            text << progress.progress;
            if (progress.total) text << " / " << *progress.total;
            line.show(text.str() + "  " + progress.message);
        };
    }
    // The list may be read anew meanwhile.
    const auto definition = *tool.tool;
    auto called = tool;
    called.tool = &definition;
    std::optional<Result<connection::Reply>> reply;
    const auto id = session.asked().call(std::move(request),
                                         [&](auto answer) { reply.emplace(std::move(answer)); });
    session.wait([&] { return reply.has_value(); },
                 [&] { session.asked().cancel(id, "interrupted by the user"); });
    line.clear();
    if (!reply) return kInterrupted;
    return *reply ? print_result(**reply, called, call, session.global())
                  : session.report(reply->error());
}

// By the router all the same: who asks for what is denied is recorded.
int refused_call(Session& session, const CallOptions& call, std::string arguments,
                 const Error& denied) {
    session.ask_own();
    router::Call request;
    request.name = call.name;
    request.arguments = std::move(arguments);
    std::optional<Result<connection::Reply>> reply;
    session.asked().call(std::move(request),
                         [&](auto answer) { reply.emplace(std::move(answer)); });
    session.wait([&] { return reply.has_value(); });
    return session.report(reply && !*reply ? reply->error() : denied);
}

Check check_of(const Session& session, const std::string& server) {
    const auto& all = session.host().config().servers;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.id == server; });
    return found == all.end() || found->check_arguments ? Check::Yes : Check::No;
}

int call_verb(const GlobalOptions& global, const CallOptions& call) {
    auto given = read_arguments(call.arguments);
    const auto opened = Session::open(global, Session::Life::OneShot, whoever_is_there());
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_those_of(protocol::servers_for(call.name, all_servers(session)));
    const auto owners = protocol::servers_for(call.name, session.host().connections().ids());
    if (auto line = look_for_host(session, Guest::Person))
        session.ask(std::make_unique<DistantHost>(session.servers(), std::move(line),
                                                  session.approval_asker()));
    else if (owners.size() > 1)
        session.host().recall_lists(owners);  // so that only the one that has it is started
    if (const auto denied = session.host().router().certain_denial(session.caller(), call.name))
        return refused_call(session, call, given ? given->text : std::string(), *denied);
    if (!given) return session.report(given.error());
    // The tool first: key=value needs the types of its schema. Both waits share one time-out.
    std::optional<Result<router::ListedTool>> tool;
    const auto begun = session.host().loop().now();
    const std::chrono::milliseconds timeout(static_cast<std::int64_t>(call.timeout_seconds * 1000));
    if (timeout.count() > 0) session.set_due(begun + timeout);
    const auto find = [&] {
        tool.reset();
        session.asked().find_tool(call.name, timeout,
                                  [&](auto found) { tool.emplace(std::move(found)); });
        return wait_for(session, owners.empty() ? "" : owners.front(),
                        [&] { return tool.has_value(); });
    };
    const Error interruption{ErrorCode::Cancelled, "interrupted by the user"};
    if (!find()) return session.report(interruption);
    // A running host asks nobody to sign in; here somebody is.
    if (!*tool && tool->error().code == ErrorCode::AuthRequired &&
        whoever_is_there() != auth::Person::Presence::Nobody) {
        session.ask_own();
        if (!find()) return session.report(interruption);
    }
    tell_rules_without_tools(session);
    if (!*tool) return session.report_missing(tool->error());
    const auto schema = (*tool)->tool->input_schema();
    // A denied call is refused by the router, whatever its arguments.
    const bool denied = (*tool)->level == config::Level::Deny;
    const auto arguments = denied ? Result<Arguments>(Arguments())
                                  : with_pairs(std::move(*given), call.pairs, schema,
                                               check_of(session, (*tool)->server));
    if (!arguments) {
        auto wrong = within(call.name, arguments.error());
        wrong.message += "; patchbay tools " + core::shell_word(call.name, 200) + " shows them";
        return session.report(wrong);
    }
    const auto& fault = (*tool)->tool->schema_fault;
    if (!fault.empty() && !global.quiet && !denied)
        say("note: " + core::printable(call.name, 200) + ": its inputSchema " + fault +
            ", so the arguments are sent as they are");
    if (!global.quiet && !arguments->values.empty()) {
        auto notes = protocol::unchecked_in(schema);
        for (auto& note : protocol::undeclared_in(arguments->values, schema))
            notes.push_back(std::move(note));
        for (const auto& note : notes)
            say("note: " + core::printable(call.name, 200) + ": " + core::printable(note, 500));
    }
    return send_call(session, call, **tool, *arguments, {begun, timeout});
}

}  // namespace

void add_tool_verbs(CLI::App& app, Choice& choice) {
    struct Words {
        ToolsOptions list;
        CallOptions call;
    };
    const auto words = std::make_shared<Words>();
    auto& tools = add_verb(
        app, "tools", "List tools by their public names",
        "  patchbay tools\n  patchbay tools mcp__git__log    one tool and its arguments\n  "
        "patchbay "
        "tools 'mcp__git*' --schema\n  patchbay tools read --server files --json\n"
        "What a server listed before is shown without starting it (-v tells of when that is); a "
        "server of which "
        "nothing is\nknown is asked. Tools that a rule denies are marked (denied). Exit code 6: no "
        "tool matches "
        "PATTERN, and each server has said what it has (else 1).");
    tools.add_option(
        "PATTERN", words->list.pattern,
        "Part of a name or description, or a whole name with * and ?; in any case of letters");
    take_server(tools, words->list.server);
    tools.add_flag("--schema", words->list.schema, "With input schemas");
    tools.add_flag("--refresh", words->list.refresh,
                   "Ask the servers, also those that have listed their tools before");
    choice.on(tools, [words](const auto& global) { return tools_verb(global, words->list); });
    auto& calls = add_verb(
        app, "call", "Call one tool",
        "  patchbay call mcp__files__read_text_file path=README.md head=10\n  patchbay call "
        "mcp__git__log --args '{\"max\": 3}'\n  patchbay call mcp__x__f 'list:=[1,2]' --timeout "
        "5\nTypes of key=value come from the tool's schema; key:=JSON is taken as it is.\n"
        "What a rule wants approved is asked for at the terminal, where no answer is no; without "
        "one it is refused "
        "with\nthe rule that would allow it (exit code 7).");
    auto& call = words->call;
    calls.add_option("NAME", call.name, "mcp__server__tool")->required();
    calls.add_option("KEY=VALUE", call.pairs, "Arguments");
    calls
        .add_option("--args", call.arguments,
                    "All arguments as one JSON object, @FILE, or - for stdin; KEY=VALUE beside it "
                    "adds to it, or takes the place of what it says")
        ->type_name("JSON|@FILE|-");
    calls.add_option("--timeout", call.timeout_seconds, "Give up after so many seconds")
        ->type_name("SECONDS")
        ->check(no_seconds);
    take_output_directory(calls, call.output_directory, "Where images and audio are saved");
    calls.add_flag("--raw", call.raw, "Print the result as the server sent it");
    take_yes(calls, call.yes);
    choice.on(calls, [words](const auto& global) {
        return call_verb(with_yes(global, words->call.yes), words->call);
    });
}

}  // namespace patchbay::app
