#include "app/batch.hpp"

#include "app/batch_request.hpp"
#include "app/call_arguments.hpp"
#include "app/output.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kUnseenKinds = 1000;  // of notifications, kept for a later `wait`

std::string event(const char* name, const std::string& members) {
    return std::string("{\"event\":\"") + name + "\"," + members + "}";
}

// What some servers listed and why others did not.
json::object with_errors(json::object result, json::array errors) {
    if (!errors.empty()) result["errors"] = std::move(errors);
    return result;
}

// Boost.JSON writes every double as 1E0; steps and bytes are whole.
json::value plain_number(double number) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (std::abs(number) <= kExact && number == std::floor(number))
        return static_cast<std::int64_t>(number);
    return number;
}

}  // namespace

Batch::Batch(Session& session, int input)
    : session_(session), input_(input), input_flags_(::fcntl(input, F_GETFL)) {
    struct stat info {};
    regular_file_ = ::fstat(input, &info) == 0 && S_ISREG(info.st_mode);
    session_.host().set_notification_handler(
        [this](const std::string& server, const std::string& method, std::string_view params) {
            on_notification(server, method, params);
        });
}

Batch::~Batch() {
    session_.host().set_notification_handler({});
    if (watch_) session_.host().loop().unwatch(watch_);
    ::fcntl(input_, F_SETFL, input_flags_);  // stdin may be shared with the shell
}

int Batch::run() {
    watch_input();
    session_.wait([this] { return done_; }, [this] { interrupt(); });
    const bool interrupted = session_.was_interrupted();
    session_.close();  // requests that are left end while we are here to be told
    for (const auto& [id, running] : std::map(running_))
        fail(id, {ErrorCode::Cancelled, "interrupted by the user"});
    flush();
    if (interrupted) return kInterrupted;
    return failed_ ? kFailure : kOk;
}

// Nothing more is started, the servers are told to stop, and every request is answered.
void Batch::interrupt() {
    input_over_ = true;
    buffer_.clear();
    if (watch_) session_.host().loop().unwatch(std::exchange(watch_, 0));
    for (const auto& [id, running] : std::map(running_)) {
        if (running.call) session_.host().router().cancel(running.call, "interrupted by the user");
    }
    session_.host().interrupt();
}

// A file is always readable and cannot be watched (epoll_ctl(2), EPERM): it is read a piece a turn
// of the loop, so that answers are taken in between.
void Batch::watch_input() {
    if (regular_file_) return session_.host().loop().defer([this] { read_input(); });
    auto watched = session_.host().loop().watch(input_, core::Loop::kReadable,
                                                [this](unsigned) { read_input(); });
    if (watched) {
        watch_ = *watched;
    } else {
        say("error: cannot read the requests: " + watched.error().message);
        failed_ = input_over_ = true;
        advance();
    }
}

void Batch::read_input() {
    if (reading_paused_ || input_over_) return;
    char chunk[64u << 10];
    const auto got = ::read(input_, chunk, sizeof chunk);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) {
        buffer_.append(chunk, static_cast<std::size_t>(got));
    } else {
        if (got < 0) {
            say(std::string("error: cannot read the requests: ") + std::strerror(errno));
            failed_ = true;
        }
        input_over_ = true;
        if (watch_) session_.host().loop().unwatch(std::exchange(watch_, 0));
        if (!buffer_.empty() && buffer_.back() != '\n') buffer_ += '\n';
    }
    take_lines();
    advance();
    if (regular_file_ && !input_over_ && !reading_paused_)
        session_.host().loop().defer([this] { read_input(); });
}

// `scanned_`: up to where the buffer holds no end of a line, so that a long one that arrives in many
// pieces is searched once and not with every piece.
void Batch::take_lines() {
    std::size_t from = 0;
    while (running_.size() < kInFlight && barrier_.empty()) {
        const auto newline = buffer_.find('\n', std::max(scanned_, from));
        if (newline == std::string::npos) {
            scanned_ = buffer_.size();
            break;
        }
        ++line_number_;
        take_line(std::string_view(buffer_).substr(from, newline - from));
        from = newline + 1;
        scanned_ = from;
    }
    buffer_.erase(0, from);
    scanned_ -= std::min(scanned_, from);
    if (buffer_.size() > kLineBytes && scanned_ == buffer_.size()) {
        ++line_number_;
        put_error("null", {ErrorCode::Limit, line_name() + " is over 16 MiB; nothing more is read"},
                  About::Line);
        input_over_ = true;
        buffer_.clear();
        scanned_ = 0;
    }
}

void Batch::take_line(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    const auto value = parse_json(line, line_name(), session_.host().config().limits.json_depth);
    if (!value) return put_error("null", value.error(), About::Line);
    const auto* request = value->if_object();
    if (!request)
        return put_error(
            "null", wrong_line("a request is a JSON object like {\"id\":1,\"op\":\"tools/list\"}"),
            About::Line);
    const auto* given = request->if_contains("id");
    const std::string id = given ? json::serialize(*given) : std::to_string(line_number_);
    if (running_.count(id))
        return put_error(id, wrong_line("id " + id + " is in flight already"), About::Line);
    if (const auto trouble = trouble_with(*request); !trouble.empty())
        return put_error(id, wrong_line(trouble), About::Line);
    start(id, *request);
}

void Batch::start(const std::string& id, const json::object& request) {
    const std::string op = text_of(request, "op");
    running_[id];
    if (op == "tools/call") return call_tool(id, request);
    if (op == "tools/list") return list_tools(id, request);
    if (op == "resources/list" || op == "resources/templates/list" || op == "prompts/list")
        return list(id, op, request);
    if (op == "cancel") return cancel(id, request);
    if (op == "wait") return wait_for(id, request);
    if (op == "status") return show_status(id);
    // No request: it would wait for itself. advance() answers it.
    if (op == "barrier") {
        running_.erase(id);
        barrier_ = id;
        return;
    }
    if (op == "request") {
        const std::string method = text_of(request, "method");
        if (method.empty()) return refuse(id, "op \"request\" needs a \"method\"");
        return ask_server(id, method, request);
    }
    static const std::vector<std::string> kServerOps = {
        "resources/read",      "resources/subscribe", "resources/unsubscribe", "prompts/get",
        "completion/complete", "logging/setLevel",    "subscriptions/listen",  "ping",
        "server/discover"};
    if (std::find(kServerOps.begin(), kServerOps.end(), op) != kServerOps.end())
        return ask_server(id, op, request);
    auto known = kServerOps;
    known.insert(known.end(),
                 {"tools/call", "tools/list", "resources/list", "resources/templates/list",
                  "prompts/list", "cancel", "wait", "status", "barrier", "request"});
    const auto what = op.empty() ? "\"op\" is missing"
                                 : "unknown op \"" + core::printable(op, 64) + "\"" +
                                       core::did_you_mean(op, known);
    refuse(id, what + "; known: " + core::join(known, ", "));
}

connection::ReplyHandler Batch::relay(const std::string& id) {
    return [this, id](Result<connection::Reply> reply) {
        if (!reply) return fail(id, reply.error());
        if (!reply->error.empty()) return fail_rpc(id, reply->error);
        succeed(id, reply->result, reply->is_error);
    };
}

connection::ProgressHandler Batch::tell_progress(const std::string& id) {
    return [this, id](const connection::Progress& progress) {
        json::object told{{"progress", plain_number(progress.progress)}};
        if (progress.total) told["total"] = plain_number(*progress.total);
        if (!progress.message.empty()) told["message"] = progress.message;
        put(event("progress", "\"id\":" + id + "," + protocol::members_of(told)));
    };
}

void Batch::call_tool(const std::string& id, const json::object& request) {
    router::Call call;
    call.name = text_of(request, "name");
    if (call.name.empty()) return refuse(id, "tools/call needs a \"name\" like mcp__server__tool");
    if (const auto* arguments = request.if_contains("arguments")) {
        if (!arguments->is_object()) return refuse(id, "\"arguments\" must be an object");
        call.arguments = json::serialize(*arguments);
    }
    if (const auto* meta = request.if_contains("_meta"))
        call.meta = protocol::members_of(meta->get_object());
    call.timeout = timeout_of(request);
    const auto* progress = request.if_contains("progress");
    if (progress && progress->is_bool() && progress->get_bool())
        call.on_progress = tell_progress(id);
    running_[id].call = session_.host().router().call(std::move(call), relay(id));
}

void Batch::ask_server(const std::string& id, const std::string& method,
                       const json::object& request) {
    router::ServerRequest asked;
    asked.server = text_of(request, "server");
    if (asked.server.empty())
        return refuse(id, core::printable(method, 200) + " needs a \"server\"");
    asked.method = method;
    auto params = protocol::split_params(json::serialize(params_of(request)));
    if (!params) return refuse(id, params.error().message);
    asked.params = std::move(*params);
    asked.timeout = timeout_of(request);
    const auto* progress = request.if_contains("progress");
    if (progress && progress->is_bool() && progress->get_bool())
        asked.on_progress = tell_progress(id);
    running_[id].endless = method == "subscriptions/listen";
    running_[id].call = session_.host().router().request(std::move(asked), relay(id));
}

void Batch::list_tools(const std::string& id, const json::object& request) {
    const std::string server = text_of(request, "server");
    auto& connections = session_.host().connections();
    if (!server.empty()) {
        if (auto found = connections.find(server); !found) return fail(id, found.error());
    }
    const auto tell = [this, id, server] {
        json::array tools;
        for (const auto& tool : session_.host().router().tools()) {
            if (!server.empty() && tool.server != server) continue;
            json::object entry = tool.tool->raw;
            entry["name"] = tool.public_name;
            entry["server"] = tool.server;
            entry["tool"] = tool.tool->name;
            entry["level"] = config::name_of(tool.level);
            tools.push_back(std::move(entry));
        }
        json::object result{{"tools", std::move(tools)}};
        if (server.empty()) result = with_errors(std::move(result), unready(Wanted::Tools));
        succeed(id, json::serialize(result), result.contains("errors"));
    };
    if (server.empty()) return connections.connect({}, tell);
    connections.find(server).value().get().refresh_tools([this, id, tell](Result<void> fresh) {
        if (fresh)
            tell();
        else
            fail(id, fresh.error());
    });
}

// The servers that should be there and are not, with the reason.
json::array Batch::unready(Wanted wanted) {
    json::array errors;
    for (const auto& status : session_.host().connections().statuses()) {
        const bool ready = status.state == connection::State::Ready;
        if (ready && (wanted == Wanted::Rest || status.tools_error.empty())) continue;
        errors.push_back(
            {{"server", status.id}, {"message", ready ? status.tools_error : status.last_error}});
    }
    return errors;
}

// One server's list, or all servers' that have such a thing, each item with its server.
void Batch::list(const std::string& id, const std::string& op, const json::object& request) {
    const std::string server = text_of(request, "server");
    const std::string member =
        op == "resources/templates/list" ? "resourceTemplates" : op.substr(0, op.find('/'));
    struct Gathered {
        json::array items, errors;
        std::size_t missing = 1;  // ours: nothing is told before every server was asked
        std::optional<Error> error;
    };
    auto gathered = std::make_shared<Gathered>();
    const auto arrived = [this, id, member, gathered, server] {
        if (--gathered->missing > 0) return;
        if (gathered->error && !server.empty()) return fail(id, *gathered->error);
        const auto result =
            with_errors({{member, std::move(gathered->items)}}, std::move(gathered->errors));
        succeed(id, json::serialize(result), result.contains("errors"));
    };
    const auto ask = [this, op, gathered, arrived](const std::string& each) {
        ++gathered->missing;
        const auto take = [gathered, arrived, each](Result<json::array> items) {
            if (!items) {
                gathered->error = items.error();
                gathered->errors.push_back(
                    {{"server", each}, {"message", core::log::masked(items.error().message)}});
            } else {
                for (auto& item : *items) {
                    if (item.is_object()) item.get_object()["server"] = each;
                    gathered->items.push_back(std::move(item));
                }
            }
            arrived();
        };
        session_.host().router().list_all(each, op, take);
    };
    if (!server.empty()) {
        ask(server);
        return arrived();
    }
    session_.host().connections().connect({}, [this, op, ask, arrived, gathered] {
        gathered->errors = unready(Wanted::Rest);
        const std::string capability = op.substr(0, op.find('/'));
        for (const auto& each : session_.host().connections().ids()) {
            const auto* agreed = session_.host().connections().find(each).value().get().session();
            if (agreed && agreed->can(capability)) ask(each);
        }
        arrived();
    });
}

void Batch::cancel(const std::string& id, const json::object& request) {
    const auto* target = request.if_contains("target");
    const std::string target_id = target ? json::serialize(*target) : std::string();
    const auto waits = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const auto& each) { return each.id == target_id; });
    if (waits != waiting_.end()) {
        if (waits->timer) session_.host().loop().cancel(waits->timer);
        waiting_.erase(waits);
        succeed(id, "{}");
        return fail(target_id, {ErrorCode::Cancelled, "the wait was cancelled"});
    }
    const auto found = running_.find(target_id);
    if (found == running_.end() || found->second.call == 0) {
        return target ? fail(id, {ErrorCode::NotFound, "no request or wait with the id " +
                                                           core::printable(target_id, 80) +
                                                           " is in flight"})
                      : refuse(id, "cancel needs the \"target\" id of a request in flight");
    }
    const auto call = found->second.call;
    succeed(id, "{}");
    session_.host().router().cancel(call, text_of(request, "reason"));
}

void Batch::wait_for(const std::string& id, const json::object& request) {
    Waiting waiting{id, text_of(request, "server"), text_of(request, "method"), 0};
    if (waiting.method.empty()) return refuse(id, "wait needs the \"method\" of a notification");
    // It may have come before anybody waited: a script cannot know which is first.
    for (auto& [kind, count] : unseen_) {
        if (count == 0 || kind.second != waiting.method ||
            (!waiting.server.empty() && kind.first != waiting.server))
            continue;
        --count;
        return succeed(id, "{}");
    }
    if (const auto limit = timeout_of(request); limit.count() > 0) {
        waiting.timer =
            session_.host().loop().after(limit, [this, id, method = waiting.method, limit] {
                waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                              [&](const auto& each) { return each.id == id; }),
                               waiting_.end());
                fail(id, {ErrorCode::Timeout, "no " + method + " within " + core::duration(limit)});
            });
    }
    waiting_.push_back(std::move(waiting));
}

void Batch::on_notification(const std::string& server, const std::string& method,
                            std::string_view params) {
    put(event("notification", "\"server\":" + protocol::quoted(server) +
                                  ",\"method\":" + protocol::quoted(method) +
                                  (params.empty() ? "" : ",\"params\":" + std::string(params))));
    for (auto each = waiting_.begin(); each != waiting_.end(); ++each) {
        if (each->method != method || (!each->server.empty() && each->server != server)) continue;
        const auto found = *each;
        waiting_.erase(each);
        if (found.timer) session_.host().loop().cancel(found.timer);
        return succeed(found.id, "{}");
    }
    if (unseen_.size() < kUnseenKinds) ++unseen_[{server, method}];
}

void Batch::show_status(const std::string& id) {
    json::array list;
    for (const auto& status : session_.host().statuses()) {
        json::object entry{{"id", status.id},
                           {"state", connection::name_of(status.state)},
                           {"tools", status.tools ? json::value(*status.tools) : json::value()},
                           {"protocol", status.protocol},
                           {"restarts", status.restarts},
                           {"last_error", status.last_error}};
        for (const auto& [name, value] : status.facts) entry[name] = value;
        list.push_back(std::move(entry));
    }
    succeed(id, json::serialize(json::object{{"servers", std::move(list)}}));
}

void Batch::succeed(const std::string& id, std::string_view raw_result, bool tool_error) {
    if (tool_error) failed_ = true;
    std::string line;
    line.reserve(id.size() + raw_result.size() + 32);
    line.append("{\"id\":")
        .append(id)
        .append(",\"ok\":true,\"result\":")
        .append(raw_result)
        .append("}");
    protocol::flatten(line);
    put(std::move(line));
    finished(id);
}

void Batch::fail(const std::string& id, const Error& error) {
    const auto found = running_.find(id);
    const bool ended_by_us = found != running_.end() && found->second.endless && input_over_ &&
                             error.code == ErrorCode::Cancelled;
    if (ended_by_us) return succeed(id, "{}");
    put_error(id, error, About::Request);
    finished(id);
}

std::string Batch::line_name() const {
    return "line " + std::to_string(line_number_);
}

Error Batch::wrong_line(const std::string& why) const {
    return {ErrorCode::Invalid, line_name() + ": " + why};
}

void Batch::refuse(const std::string& id, const std::string& why) {
    put_error(id, wrong_line(why), About::Line);
    finished(id);
}

// The request that owns the id, if there is one, goes on.
void Batch::put_error(const std::string& id, const Error& error, About about) {
    failed_ = true;
    const auto line = about == About::Line ? ",\"line\":" + std::to_string(line_number_) : "";
    put("{\"id\":" + id + ",\"ok\":false,\"error\":{\"kind\":\"" + name_of(error.code) + "\"" +
        line + ",\"message\":" + protocol::quoted(core::log::masked(error.message)) + "}}");
}

void Batch::fail_rpc(const std::string& id, std::string_view raw_error) {
    failed_ = true;
    const auto error = protocol::parse_rpc_error(raw_error);
    std::string line = "{\"id\":" + id +
                       ",\"ok\":false,\"error\":{\"kind\":\"server\",\"message\":" +
                       protocol::quoted(error ? error->message : error.error().message) +
                       ",\"rpc\":" + std::string(raw_error) + "}}";
    protocol::flatten(line);
    put(std::move(line));
    finished(id);
}

// Later, for it may be called from take_lines(), which advance() calls.
void Batch::finished(const std::string& id) {
    running_.erase(id);
    session_.host().loop().defer([this] { advance(); });
}

void Batch::advance() {
    if (done_) return;
    // Streams that are listened to end with the input, so nothing may wait for them.
    const bool only_endless = std::all_of(running_.begin(), running_.end(),
                                          [](const auto& each) { return each.second.endless; });
    if (!barrier_.empty() && (running_.empty() || only_endless)) {
        const std::string id = std::exchange(barrier_, {});
        put("{\"id\":" + id + ",\"ok\":true,\"result\":{}}");
    }
    if (barrier_.empty() && !buffer_.empty()) take_lines();
    const bool full = running_.size() >= kInFlight || !barrier_.empty();
    if (full != reading_paused_ && !input_over_) {
        reading_paused_ = full;
        if (watch_)
            session_.host().loop().modify(watch_, full ? 0u : unsigned{core::Loop::kReadable});
        else if (regular_file_ && !full)
            session_.host().loop().defer([this] { read_input(); });
    }
    if (!input_over_ || !buffer_.empty() || !barrier_.empty()) return;
    if (running_.empty()) {
        done_ = true;
    } else if (only_endless) {
        for (const auto& [id, running] : std::map(running_))
            session_.host().router().cancel(running.call, "the batch is over");
    }
}

// All answers of one turn of the loop go out in one write.
void Batch::put(std::string line) {
    out_ += line;
    out_ += '\n';
    if (out_.size() > (1u << 20)) return flush();
    if (std::exchange(flush_planned_, true)) return;
    session_.host().loop().defer([this] {
        flush_planned_ = false;
        flush();
    });
}

// Blocks when nobody reads our output: then nothing more is asked of the servers either.
void Batch::flush() {
    // An answer that cannot be delivered is worth no further request.
    if (!write_at_once(out_)) failed_ = done_ = true;
    out_.clear();
}

int batch_verb(const GlobalOptions& global, const std::string& file, bool sign_in) {
    int input = 0;
    if (!file.empty() && file != "-") {
        input = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
        if (input < 0) {
            return report({ErrorCode::Invalid, "cannot read " + file + ": " + std::strerror(errno)},
                          global);
        }
    }
    const auto opened =
        Session::open(global, Session::Life::Long,
                      sign_in ? auth::Person::Presence::Ready : auth::Person::Presence::Nobody);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.tell_troubles();
    Batch batch(session, input);
    return batch.run();
}

}  // namespace patchbay::app
