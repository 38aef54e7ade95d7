#include "app/batch.hpp"

#include "app/batch_request.hpp"
#include "app/call_arguments.hpp"
#include "app/unknown_tool.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "service/statuses.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

const Error kInterruption{ErrorCode::Cancelled, "interrupted by the user"};

// What some servers listed and why others did not.
std::string with_errors(std::string_view member, std::string_view items,
                        const json::array& errors) {
    std::string result = "{" + protocol::quoted(member) + ":";
    result += items;
    if (!errors.empty()) result.append(",\"errors\":").append(json::serialize(errors));
    return result += '}';
}

// As its server described it, but for our own members. Written, not copied: of all servers together
// this is most of what a start keeps in memory.
void append_listed(std::string& out, const router::ListedTool& tool) {
    const json::object own{{"name", tool.public_name},
                           {"server", tool.server},
                           {"tool", tool.tool->name},
                           {"level", config::name_of(tool.level)}};
    out += json::serialize(own);
    out.back() = ',';
    for (const auto& [key, value] : tool.tool->raw) {
        if (own.contains(key)) continue;
        out.append(protocol::quoted(key)).append(":").append(json::serialize(value)).append(",");
    }
    out.back() = '}';
}

}  // namespace

Batch::Batch(Session& session, int input)
    : session_(session), input_(session.host().loop(), input), output_(session.host().loop()) {
    session_.host().set_notification_handler(
        [this](const std::string& server, const std::string& method, std::string_view params) {
            on_notification(server, method, params);
        });
}

Batch::~Batch() {
    session_.host().set_notification_handler({});
}

int Batch::run() {
    input_.begin([this] {
        take_lines();
        advance();
    });
    // An answer that cannot be delivered is worth no further request.
    session_.wait([this] { return done_ || output_.lost(); }, [this] { interrupt(); });
    const bool interrupted = session_.was_interrupted();
    session_.close();  // requests that are left end while we are here to be told
    for (const auto& [id, running] : std::map(running_)) fail(id, kInterruption);
    if (!barrier_.empty()) output_.error(barrier_, kInterruption);
    output_.flush();
    if (interrupted) return kInterrupted;
    const bool failed = tool_failed_ || input_.failed() || output_.told_errors() || output_.lost();
    return failed ? kFailure : kOk;
}

// Nothing more is started, the servers are told to stop, and every request is answered.
void Batch::interrupt() {
    input_.stop();
    for (const auto& [id, running] : std::map(running_)) {
        if (running.call)
            session_.host().router().cancel(running.call, kInterruption.message);
        else
            fail(id, kInterruption);  // it waits for servers, whose end is not its answer
    }
    session_.host().interrupt();
}

void Batch::take_lines() {
    while (running_.size() < kInFlight && barrier_.empty()) {
        const auto line = input_.next();
        if (!line) return;
        if (*line)
            take_line(**line);
        else
            refuse_line("null", line->error());
    }
}

void Batch::take_line(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    const auto value =
        parse_json(line, input_.line_name(), session_.host().config().limits.json_depth);
    if (!value) return refuse_line("null", value.error());
    const auto* request = value->if_object();
    if (!request)
        return refuse_line(
            "null", wrong_line("a request is a JSON object like {\"id\":1,\"op\":\"tools/list\"}"));
    const auto given = raw_member_of(line, "id");
    const std::string id(given.empty() ? protocol::quoted(input_.line_name()) : given);
    if (running_.count(id))
        return refuse_line(id, wrong_line("id " + id + " is in flight already"));
    if (const auto trouble = trouble_with(*request); !trouble.empty())
        return refuse_line(id, wrong_line(trouble));
    start(id, *request, line);
}

void Batch::start(const std::string& id, const json::object& request, std::string_view line) {
    static const std::vector<std::string> kOps = {"resources/read",
                                                  "resources/subscribe",
                                                  "resources/unsubscribe",
                                                  "prompts/get",
                                                  "completion/complete",
                                                  "logging/setLevel",
                                                  "subscriptions/listen",
                                                  "ping",
                                                  "server/discover",
                                                  "tools/call",
                                                  "tools/list",
                                                  "resources/list",
                                                  "resources/templates/list",
                                                  "prompts/list",
                                                  "cancel",
                                                  "wait",
                                                  "status",
                                                  "barrier",
                                                  "request"};
    const std::string op = text_of(request, "op");
    running_[id];
    if (std::find(kOps.begin(), kOps.end(), op) == kOps.end()) {
        const auto what = op.empty() ? "\"op\" is missing"
                                     : "unknown op \"" + core::printable(op, 64) + "\"" +
                                           core::did_you_mean(op, kOps);
        return refuse(id, what + "; known: " + core::join(kOps, ", "));
    }
    if (const auto trouble = trouble_with_params(request); !trouble.empty())
        return refuse(id, trouble);
    if (const auto server = text_of(request, "server"); !session_.servers().has(server))
        return fail(id, session_.servers().no_such_server(server));
    if (op == "tools/call") return call_tool(id, request, line);
    if (op == "tools/list") return list_tools(id, request);
    if (op == "resources/list" || op == "resources/templates/list" || op == "prompts/list")
        return list(id, op, request);
    if (op == "cancel") return cancel(id, request, line);
    if (op == "wait") return wait_for(id, request);
    if (op == "status") return show_status(id);
    // No request: it would wait for itself. advance() answers it.
    if (op == "barrier") {
        running_.erase(id);
        barrier_ = id;
        return;
    }
    if (op != "request") return ask_server(id, op, request, line);
    const std::string method = text_of(request, "method");
    if (method.empty()) return refuse(id, "op \"request\" needs a \"method\"");
    ask_server(id, method, request, line);
}

connection::ReplyHandler Batch::relay(const std::string& id) {
    return [this, id](Result<connection::Reply> reply) {
        if (!reply) return fail(id, reply.error());
        if (!reply->error.empty()) return fail_rpc(id, reply->error);
        succeed(id, reply->result, reply->is_error);
    };
}

connection::ProgressHandler Batch::tell_progress(const std::string& id) {
    return [this, id](const connection::Progress& progress) { output_.progress(id, progress); };
}

void Batch::call_tool(const std::string& id, const json::object& request, std::string_view line) {
    router::Call call;
    call.name = param_of(request, "name")->get_string();
    call.arguments = raw_param_of(line, "arguments");
    if (const auto meta = raw_param_of(line, "_meta"); !meta.empty())
        call.meta = meta.substr(1, meta.size() - 2);
    call.timeout = timeout_of(request);
    const auto* progress = request.if_contains("progress");
    if (progress && progress->is_bool() && progress->get_bool())
        call.on_progress = tell_progress(id);
    const auto name = call.name;
    running_[id].call = session_.host().router().call(
        std::move(call), [this, name, told = relay(id)](Result<connection::Reply> reply) {
            if (reply) return told(std::move(reply));
            told(unknown_tool(session_, name, reply.error()));
        });
}

void Batch::ask_server(const std::string& id, const std::string& method,
                       const json::object& request, std::string_view line) {
    router::ServerRequest asked;
    asked.server = text_of(request, "server");
    if (asked.server.empty())
        return refuse(id, core::printable(method, 200) + " needs a \"server\"");
    asked.method = method;
    auto params = protocol::split_params(raw_params_of(line));
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
    const auto serial = running_[id].list = ++last_list_;
    const auto tell = [this, id, serial, server] {
        if (!lists(id, serial)) return;
        std::string tools = "[";
        for (const auto& tool : session_.host().router().tools()) {
            if (!server.empty() && tool.server != server) continue;
            if (tools.size() > 1) tools += ',';
            append_listed(tools, tool);
        }
        tools += ']';
        const auto errors = server.empty() ? unready(Wanted::Tools) : json::array();
        succeed(id, with_errors("tools", tools, errors), !errors.empty());
    };
    if (server.empty()) return connections.connect({}, tell);
    connections.find(server).value().get().refresh_tools(
        [this, id, serial, tell](Result<void> fresh) {
            if (fresh)
                tell();
            else if (lists(id, serial))
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
    const auto serial = running_[id].list = ++last_list_;
    const auto arrived = [this, id, serial, member, gathered, server] {
        if (--gathered->missing > 0 || !lists(id, serial)) return;
        if (gathered->error && !server.empty()) return fail(id, *gathered->error);
        const auto& errors = gathered->errors;
        succeed(id, with_errors(member, json::serialize(gathered->items), errors), !errors.empty());
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

bool Batch::lists(const std::string& id, std::uint64_t serial) const {
    const auto found = running_.find(id);
    return found != running_.end() && found->second.list == serial;
}

void Batch::cancel(const std::string& id, const json::object& request, std::string_view line) {
    const std::string target_id(raw_member_of(line, "target"));
    const auto waits = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const auto& each) { return each.id == target_id; });
    if (waits != waiting_.end()) {
        if (waits->timer) session_.host().loop().cancel(waits->timer);
        waiting_.erase(waits);
        succeed(id, "{}");
        return fail(target_id, {ErrorCode::Cancelled, "the wait was cancelled"});
    }
    const auto found = running_.find(target_id);
    if (found != running_.end() && found->second.list) {  // what still comes for it is dropped
        succeed(id, "{}");
        return fail(target_id, {ErrorCode::Cancelled, "the list was cancelled"});
    }
    if (found == running_.end() || found->second.call == 0) {
        return !target_id.empty()
                   ? fail(id, {ErrorCode::NotFound, "no request or wait with the id " +
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
    if (unseen_.take(waiting.server, waiting.method)) return succeed(id, "{}");
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
    output_.notification(server, method, params);
    for (auto each = waiting_.begin(); each != waiting_.end(); ++each) {
        if (each->method != method || (!each->server.empty() && each->server != server)) continue;
        const auto found = *each;
        waiting_.erase(each);
        if (found.timer) session_.host().loop().cancel(found.timer);
        return succeed(found.id, "{}");
    }
    unseen_.keep(server, method);
}

void Batch::show_status(const std::string& id) {
    json::array list;
    for (const auto& status : session_.servers().statuses())
        list.push_back(service::to_json(status));
    succeed(id, json::serialize(json::object{{"servers", std::move(list)}}));
}

// What is answered already, by an interruption, is not answered again.
void Batch::succeed(const std::string& id, std::string_view raw_result, bool tool_error) {
    if (!running_.contains(id)) return;
    if (tool_error) tool_failed_ = true;
    output_.result(id, raw_result);
    finished(id);
}

void Batch::fail(const std::string& id, const Error& error) {
    const auto found = running_.find(id);
    if (found == running_.end()) return;
    if (found->second.over && error.code == ErrorCode::Cancelled) return succeed(id, "{}");
    output_.error(id, error);
    finished(id);
}

Error Batch::wrong_line(const std::string& why) const {
    return {ErrorCode::Invalid, input_.line_name() + ": " + why};
}

// The request that owns the id, if there is one, goes on.
void Batch::refuse_line(const std::string& id, const Error& error) {
    output_.line_error(id, error, input_.line_number());
}

void Batch::refuse(const std::string& id, const std::string& why) {
    refuse_line(id, wrong_line(why));
    finished(id);
}

void Batch::fail_rpc(const std::string& id, std::string_view raw_error) {
    output_.rpc_error(id, raw_error);
    finished(id);
}

// Later, for it may be called from take_lines(), which advance() calls.
void Batch::finished(const std::string& id) {
    running_.erase(id);
    session_.host().loop().defer([this] { advance(); });
}

void Batch::advance() {
    if (done_ || output_.lost() || session_.was_interrupted()) return;
    // Streams that are listened to end with the input, so nothing may wait for them.
    const bool only_endless = std::all_of(running_.begin(), running_.end(),
                                          [](const auto& each) { return each.second.endless; });
    if (!barrier_.empty() && only_endless) {
        const std::string id = std::exchange(barrier_, {});
        output_.result(id, "{}");
    }
    take_lines();
    input_.pause(running_.size() >= kInFlight || !barrier_.empty());
    if (!input_.over() || !barrier_.empty()) return;
    if (running_.empty()) {
        done_ = true;
    } else if (only_endless) {
        for (const auto& [id, running] : std::map(running_)) {
            running_[id].over = true;
            session_.host().router().cancel(running.call, "the batch is over");
        }
    }
}

namespace {

// Why no line will ever come from it, as an errno; 0: it may be read.
int unreadable(int input) {
    struct stat info {};
    if (::fstat(input, &info) != 0) return errno;
    if (S_ISDIR(info.st_mode)) return EISDIR;
    return (::fcntl(input, F_GETFL) & O_ACCMODE) == O_WRONLY ? EBADF : 0;
}

}  // namespace

int batch_verb(const GlobalOptions& global, const std::string& file, bool sign_in) {
    const bool named = !file.empty() && file != "-";
    // Of a FIFO the open would wait for a writer, with nobody there to hear Ctrl-C.
    const int input =
        named ? ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
    if (const int failed = input < 0 ? errno : unreadable(input); failed != 0)
        return report({ErrorCode::Invalid,
                       "cannot read " + (named ? file : "stdin") + ": " + std::strerror(failed)},
                      global);
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
