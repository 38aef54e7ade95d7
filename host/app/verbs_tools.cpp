#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verbs.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/arguments.hpp"

#include <fstream>
#include <iostream>
#include <sstream>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kArgumentBytes = 16u << 20;

// `*` and `?` as in a shell; a pattern without them is looked for anywhere in the name.
bool fits_pattern(std::string_view pattern, std::string_view name) {
    if (pattern.find_first_of("*?") == std::string_view::npos)
        return name.find(pattern) != std::string_view::npos;
    std::size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
    while (n < name.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*')
            ++p, ++n;
        else if (p < pattern.size() && pattern[p] == '*')
            star = p++, mark = n;
        else if (star != std::string_view::npos)
            p = star + 1, n = ++mark;
        else
            return false;
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

Result<std::string> read_all(std::istream& input, const std::string& name) {
    std::string text;
    char chunk[64u << 10];
    while (input.read(chunk, sizeof chunk), input.gcount() > 0) {
        text.append(chunk, static_cast<std::size_t>(input.gcount()));
        if (text.size() > kArgumentBytes) return Error{ErrorCode::Limit, name + " is over 16 MiB"};
    }
    return text;
}

Result<json::object> arguments_of(const CallOptions& call, const json::value& schema) {
    json::object arguments;
    if (!call.arguments.empty()) {
        std::string text = call.arguments, name = "--args";
        if (text == "-") {
            auto read = read_all(std::cin, name = "stdin");
            if (!read) return read.error();
            text = std::move(*read);
        } else if (text.front() == '@') {
            name = text.substr(1);
            std::ifstream file(name, std::ios::binary);
            if (!file) return Error{ErrorCode::Invalid, "--args: cannot read " + name};
            auto read = read_all(file, name);
            if (!read) return read.error();
            text = std::move(*read);
        }
        json::error_code failed;
        json::stream_parser parser;
        const auto used = parser.write_some(text.data(), text.size(), failed);
        if (!failed) parser.finish(failed);
        if (failed || text.find_first_not_of(" \t\r\n", used) != std::string::npos) {
            return Error{ErrorCode::Invalid,
                         name + " is not valid JSON at byte " + std::to_string(used + 1) +
                             (failed ? ": " + failed.message() : ": more than one value")};
        }
        auto value = parser.release();
        if (!value.is_object())
            return Error{ErrorCode::Invalid,
                         name + " must be a JSON object like {\"path\": \"README.md\"}"};
        arguments = std::move(value.get_object());
    }
    for (const auto& pair : call.pairs) {
        const auto at = pair.find('=');
        if (at == std::string::npos || at == 0)
            return Error{ErrorCode::Invalid,
                         "\"" + core::printable(pair, 80) + "\" is not key=value"};
        if (pair[at - 1] == ':') {
            json::error_code failed;
            const std::string key = pair.substr(0, at - 1);
            arguments[key] = json::parse(pair.substr(at + 1), failed);
            if (failed)
                return Error{ErrorCode::Invalid,
                             "argument \"" + key +
                                 "\": the value after := is not valid JSON: " + failed.message()};
            continue;
        }
        const std::string key = pair.substr(0, at);
        auto value = protocol::coerce_argument(schema, key, pair.substr(at + 1));
        if (!value) return value.error();
        arguments[key] = std::move(*value);
    }
    const auto troubles = protocol::check_arguments(schema, arguments);
    if (!troubles.empty()) return Error{ErrorCode::Invalid, core::join(troubles, "\n       ")};
    return arguments;
}

int print_result(const connection::Reply& reply, const CallOptions& call,
                 const GlobalOptions& global) {
    if (!reply.error.empty()) {
        if (global.json || call.raw) print_line(reply.error);
        const auto error = protocol::parse_rpc_error(reply.error);
        say("error: " +
            (error ? "the server answered " + std::to_string(error->code) + ": " + error->message
                   : error.error().message));
        return kFailure;
    }
    const int code = reply.is_error ? kToolError : kOk;
    if (global.json || call.raw) return print_line(reply.result), code;
    json::error_code failed;
    const auto value = json::parse({reply.result.data(), reply.result.size()}, failed);
    const auto* result = failed ? nullptr : value.if_object();
    if (!result) return print_line(reply.result), code;
    const auto* content = result->if_contains("content");
    const auto* structured = result->if_contains("structuredContent");
    const bool has_content = content && content->is_array() && !content->get_array().empty();
    if (has_content)
        print_content(*content, call.output_directory);
    else if (structured)
        print_foreign(json::serialize(*structured));
    if (reply.is_error) say("the tool answered with an error");
    return code;
}

}  // namespace

int tools_verb(const GlobalOptions& global, const std::string& pattern, const std::string& server,
               bool schema) {
    Session session(global, Session::Life::OneShot);
    if (!server.empty()) {
        if (auto found = session.host().connections().find(server); !found)
            return session.report(found.error());
    }
    session.connect(server.empty() ? std::vector<std::string>{} : std::vector<std::string>{server});
    if (session.was_interrupted()) return kInterrupted;
    json::array list;
    std::vector<std::vector<Cell>> rows;
    for (const auto& tool : session.host().router().tools()) {
        if (!pattern.empty() && !fits_pattern(pattern, tool.public_name)) continue;
        const auto description =
            "[" + tool.server + "] " +
            core::printable(tool.tool->text("description"),
                            session.host().config().limits.description_bytes, true);
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
        rows.push_back({{tool.public_name}, {core::printable(first_line(description), 100)}});
        if (schema) rows.push_back({{"  " + core::printable(json::serialize(*input), 8192)}});
    }
    if (global.json)
        print_line(json::serialize(list));
    else if (schema)
        for (const auto& row : rows)
            print_line(row[0].text + (row.size() > 1 ? "  " + row[1].text : ""));
    else
        print_table(rows);
    bool failed = false;
    for (const auto& status : session.host().connections().statuses()) {
        const bool asked = server.empty() || status.id == server;
        if (!asked || status.state == connection::State::Ready) continue;
        failed = true;
        say("error: " + status.last_error);
    }
    if (list.empty() && rows.empty() && !failed)
        say(pattern.empty() ? "no tools" : "no tool matches " + pattern);
    return failed ? kUnavailable : kOk;
}

int call_verb(const GlobalOptions& global, const CallOptions& call) {
    Session session(global, Session::Life::OneShot);
    auto& router = session.host().router();
    std::optional<Result<router::ListedTool>> tool;
    router.find_tool(call.name, [&](auto found) { tool.emplace(std::move(found)); });
    if (!session.wait([&] { return tool.has_value(); })) return kInterrupted;
    if (!*tool) return session.report(tool->error());
    const auto* schema = (*tool)->tool->input_schema();
    const auto arguments = arguments_of(call, *schema);
    if (!arguments) return session.report(within(call.name, arguments.error()));

    router::Call request;
    request.name = call.name;
    request.arguments = json::serialize(*arguments);
    request.timeout =
        std::chrono::milliseconds(static_cast<std::int64_t>(call.timeout_seconds * 1000));
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
        code = reply ? print_result(*reply, call, global) : session.report(reply.error());
    });
    session.wait([&] { return code.has_value(); },
                 [&] { router.cancel(id, "interrupted by the user"); });
    return code.value_or(kInterrupted);
}

}  // namespace patchbay::app
