#include "example/tools.hpp"

#include "example/library.hpp"
#include "example/server.hpp"
#include "example/wire.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace example {
namespace json = boost::json;

namespace {

constexpr double kMostBytes = 32.0 * 1024 * 1024;
constexpr double kMostSteps = 100'000;
constexpr double kLongestWaitMs = 3'600'000;
// 8 x 8 pixels, one colour.
constexpr const char* kPicture =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGPQz9+KFTEMLQkA/ChUwXZ/"
    "pKEAAAAASUVORK5CYII=";

std::string define(std::string_view name, std::string_view description, std::string_view properties,
                   std::string_view required, std::string_view rest = {}) {
    std::string text = "{\"name\":" + quoted(name) + ",\"description\":" + quoted(description);
    text.append(",\"inputSchema\":{\"type\":\"object\",\"properties\":{")
        .append(properties)
        .append("}");
    if (!required.empty()) text.append(",\"required\":[").append(required).append("]");
    text += '}';
    return text.append(rest) += '}';
}

void run_echo(const Call& call) {
    const auto* message = string_in(call.arguments, "message");
    if (!message) return answer_failure(call, "argument \"message\" must be a string");
    answer_text(call, {message->data(), message->size()});
}

void run_add(const Call& call) {
    const double a = number_in(call.arguments, "a", std::nan("")),
                 b = number_in(call.arguments, "b", std::nan(""));
    if (std::isnan(a) || std::isnan(b))
        return answer_failure(call, "arguments \"a\" and \"b\" must be numbers");
    const double exact = a + b;
    const bool whole = exact == std::floor(exact) && std::abs(exact) < 9e15;
    const std::string sum =
        whole ? std::to_string(static_cast<long long>(exact)) : json::serialize(json::value(exact));
    call.session.answer(call.ticket(),
                        text_content(sum) + ",\"structuredContent\":{\"sum\":" + sum + "}");
}

void run_sleep(const Call& call) {
    const double wait = number_in(call.arguments, "ms", -1);
    if (wait < 0 || wait > kLongestWaitMs)
        return answer_failure(call, "argument \"ms\" must be 0 to 3600000");
    call.session.start_task(
        call.ticket(), wait, [&session = call.session, ticket = call.ticket(), wait] {
            session.answer(
                ticket,
                text_content("slept " + std::to_string(static_cast<long long>(wait)) + " ms"));
            session.finish_task(ticket);
        });
}

struct Progress {
    Session& session;
    Ticket ticket;
    std::string token;  // empty: nobody asked
    int steps;
    double interval_ms;
    std::string message;
    int done = 0;
};

void step_on(const std::shared_ptr<Progress>& work) {
    if (work->done == work->steps) {
        work->session.answer(work->ticket,
                             text_content(std::to_string(work->steps) + " steps done"));
        return work->session.finish_task(work->ticket);
    }
    ++work->done;
    if (!work->token.empty()) {
        work->session.notify(
            "notifications/progress",
            "\"progressToken\":" + work->token + ",\"progress\":" + std::to_string(work->done) +
                ",\"total\":" + std::to_string(work->steps) +
                ",\"message\":" + quoted(work->message + "step " + std::to_string(work->done)));
    }
    work->session.start_task(work->ticket, work->interval_ms, [work] { step_on(work); });
}

void run_progress(const Call& call) {
    const double steps = number_in(call.arguments, "steps", 3),
                 wait = number_in(call.arguments, "interval_ms", 0);
    if (steps < 0 || steps > kMostSteps || wait < 0 || wait > kLongestWaitMs) {
        return answer_failure(call, "arguments \"steps\" or \"interval_ms\" are out of range");
    }
    const auto* message = string_in(call.arguments, "message");
    step_on(std::make_shared<Progress>(Progress{
        call.session, call.ticket(), raw_id(call.request.meta.if_contains("progressToken")),
        static_cast<int>(steps), wait, message ? std::string(*message) + " " : std::string()}));
}

void run_big(const Call& call) {
    const double bytes = number_in(call.arguments, "bytes", -1);
    if (bytes < 0 || bytes > kMostBytes)
        return answer_failure(call, "argument \"bytes\" must be 0 to 33554432");
    static constexpr std::string_view kLine =
        "The quick brown fox jumps over the lazy dog. 0123456789 abcdef.\n";
    // The same again costs no more than to send it: where results are long, a benchmark is about what
    // stands in front of this server.
    static std::size_t kept_bytes = 0;
    static std::string kept = text_content("");
    const auto size = static_cast<std::size_t>(bytes);
    if (std::exchange(kept_bytes, size) != size) {
        std::string text;
        text.reserve(size);
        while (text.size() < size) text.append(kLine.substr(0, size - text.size()));
        kept = text_content(text);
    }
    call.session.answer(call.ticket(), kept);
}

void run_image(const Call& call) {
    call.session.answer(call.ticket(),
                        "\"content\":[{\"type\":\"text\",\"text\":\"one "
                        "picture\"},{\"type\":\"image\",\"data\":\"" +
                            std::string(kPicture) + "\",\"mimeType\":\"image/png\"}]");
}

void run_fail(const Call& call) {
    const auto* message = string_in(call.arguments, "message");
    answer_failure(call, message ? std::string_view(message->data(), message->size())
                                 : "this tool always fails");
}

void run_rpc_error(const Call& call) {
    const auto* message = string_in(call.arguments, "message");
    call.session.fail(
        call.request.id, static_cast<int>(number_in(call.arguments, "code", -32603)),
        message ? std::string_view(message->data(), message->size()) : "an error, as asked",
        R"({"asked":true})");
}

void run_generated(const Call& call) {
    answer_text(call, call.tool);
}

void run_change_tools(const Call& call) {
    auto& server = call.session.server();
    const std::string name = "extra_" + std::to_string(server.tools().all().size());
    server.tools().add({name, define(name, "Added by change_tools.", "", ""), run_generated});
    server.tell_tools_changed();
    answer_text(call, name);
}

void run_touch(const Call& call) {
    const auto* uri = string_in(call.arguments, "uri");
    if (!uri) return answer_failure(call, "argument \"uri\" must be a string");
    call.session.server().tell_updated({uri->data(), uri->size()});
    answer_text(call, "touched");
}

void run_log(const Call& call) {
    const auto* level = string_in(call.arguments, "level");
    const auto* message = string_in(call.arguments, "message");
    const std::string_view name = level ? std::string_view(level->data(), level->size()) : "info";
    if (call.session.wants_log(call.request, name)) {
        call.session.notify("notifications/message",
                            "\"level\":" + quoted(name) + ",\"logger\":\"example\",\"data\":" +
                                quoted(message ? std::string_view(message->data(), message->size())
                                               : "a log line"));
    }
    answer_text(call, "logged");
}

std::vector<Tool> standard_tools() {
    const auto text = [](const char* name) { return quoted(name) + R"(:{"type":"string"})"; };
    const auto number = [](const char* name) { return quoted(name) + R"(:{"type":"number"})"; };
    const auto integer = [](const char* name) {
        return quoted(name) + R"(:{"type":"integer","minimum":0})";
    };
    return {
        {"echo",
         define("echo", "Answers with the message.", text("message"), "\"message\"",
                R"(,"annotations":{"readOnlyHint":true})"),
         run_echo},
        {"add",
         define(
             "add", "Adds two numbers.", number("a") + "," + number("b"), R"("a","b")",
             R"(,"outputSchema":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]})"),
         run_add},
        {"sleep",
         define("sleep", "Answers after some milliseconds; may be cancelled.", integer("ms"),
                "\"ms\""),
         run_sleep},
        {"progress",
         define("progress", "Works in steps and tells of each.",
                integer("steps") + "," + integer("interval_ms") + "," + text("message"), ""),
         run_progress},
        {"big", define("big", "Answers with so many bytes of text.", integer("bytes"), "\"bytes\""),
         run_big},
        {"image", define("image", "Answers with a small PNG.", "", ""), run_image},
        {"fail", define("fail", "Answers with a tool error.", text("message"), ""), run_fail},
        {"rpc_error",
         define("rpc_error", "Answers with a JSON-RPC error.",
                R"("code":{"type":"integer"},)" + text("message"), ""),
         run_rpc_error},
        {"change_tools",
         define("change_tools", "Adds a tool and says that the list changed.", "", ""),
         run_change_tools},
        {"touch", define("touch", "Says that a resource was updated.", text("uri"), "\"uri\""),
         run_touch},
        {"log", define("log", "Sends a log message.", text("level") + "," + text("message"), ""),
         run_log},
        {"ask",
         define("ask", "Asks the person behind the client for a name, or to visit an url.",
                text("question") + "," + text("url"), ""),
         run_ask},
        {"sample", define("sample", "Asks the client's model.", text("prompt"), ""), run_sample},
        {"roots", define("roots", "Asks the client for its roots.", "", ""), run_roots},
        {"env",
         define("env",
                "Tells environment, descriptors, arguments and working directory of this process.",
                "", ""),
         run_env},
        {"pid", define("pid", "Tells process, parent, group and session ids.", "", ""), run_pid},
    };
}

}  // namespace

ToolShelf::ToolShelf(int generated) {
    for (auto& tool : standard_tools()) add(std::move(tool));
    for (int i = 1; i <= generated; ++i) {
        const std::string name = "tool_" + std::to_string(i);
        add({name,
             define(name, "Generated tool " + std::to_string(i) + ".",
                    R"("value":{"type":"string","description":"Anything."})", ""),
             run_generated});
    }
}

void ToolShelf::add(Tool tool) {
    index_[tool.name] = tools_.size();
    tools_.push_back(std::move(tool));
}

const Tool* ToolShelf::find(std::string_view name) const {
    const auto found = index_.find(std::string(name));
    return found == index_.end() ? nullptr : &tools_[found->second];
}

std::string text_content(std::string_view text) {
    std::string members = "\"content\":[{\"type\":\"text\",\"text\":";
    append_quoted(members, text);
    return members += "}]";
}

void answer_text(const Call& call, std::string_view text) {
    call.session.answer(call.ticket(), text_content(text));
}

void answer_failure(const Call& call, std::string_view text) {
    call.session.answer(call.ticket(), text_content(text) + ",\"isError\":true");
}

void list_tools(Session& session, const Request& request) {
    std::vector<std::string_view> definitions;
    for (const auto& tool : session.server().tools().all()) definitions.push_back(tool.definition);
    answer_page(session, request, "tools", definitions);
}

void call_tool(Session& session, const Request& request) {
    static const json::object none;
    const auto* name = string_in(request.params, "name");
    if (!name) return session.fail(request.id, -32602, "tools/call needs a name");
    const std::string_view wanted(name->data(), name->size());
    const auto* tool = session.server().tools().find(wanted);
    if (!tool) return session.fail(request.id, -32602, "Unknown tool: " + std::string(wanted));
    const auto* arguments = object_in(request.params, "arguments");
    tool->run({session, request, wanted, arguments ? *arguments : none});
}

}  // namespace example
