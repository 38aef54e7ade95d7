#include "example/session.hpp"

#include "example/server.hpp"
#include "example/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace example {
namespace json = boost::json;

namespace {

constexpr std::size_t kReadSize = 64 * 1024;
constexpr std::size_t kLongestLine = 64 * 1024 * 1024;
constexpr std::size_t kOutputMark = 1024 * 1024;  // above: the client has to read before it may ask
constexpr std::size_t kArenaSize = 16 * 1024;

bool is_socket(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

// A pipe's other end does not share our flags; a terminal is shared and stays as it is.
void make_nonblocking(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
        return;
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

Session::Session(Server& server, int in_fd, int out_fd)
    : server_(server), in_fd_(in_fd), out_fd_(out_fd), is_socket_(is_socket(in_fd)) {
    make_nonblocking(out_fd_);
}

Session::~Session() {
    for (const auto& [id, timer] : tasks_) server_.cancel(timer);
    if (is_socket_) ::close(in_fd_);
}

bool Session::wants_input() const {
    return !finished_ && !deaf_ && output_.size() - sent_ < kOutputMark;
}

void Session::read() {
    if (input_.size() - end_ < kReadSize) make_room();
    const ssize_t got = ::read(in_fd_, input_.data() + end_, input_.size() - end_);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        if (server_.options().stubborn)
            deaf_ = true;
        else
            finished_ = true;
        return;
    }
    end_ += static_cast<std::size_t>(got);
    while (!finished_) {
        const void* newline = std::memchr(input_.data() + scanned_, '\n', end_ - scanned_);
        if (!newline) break;
        const auto end =
            static_cast<std::size_t>(static_cast<const char*>(newline) - input_.data());
        on_line({input_.data() + begin_, end - begin_});
        begin_ = scanned_ = end + 1;
    }
    scanned_ = end_;
    if (begin_ == end_) begin_ = scanned_ = end_ = 0;
    if (end_ - begin_ > kLongestLine) {
        std::fprintf(stderr, "patchbay-example-server: line too long, client dropped\n");
        finished_ = true;
    }
    flush();
}

// Moves what is unread to the front; doubles the buffer when that is not enough.
void Session::make_room() {
    std::copy(input_.begin() + static_cast<std::ptrdiff_t>(begin_),
              input_.begin() + static_cast<std::ptrdiff_t>(end_), input_.begin());
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
    if (input_.size() - end_ < kReadSize) input_.resize(std::max(2 * kReadSize, 2 * input_.size()));
}

void Session::flush() {
    while (sent_ < output_.size()) {
        const ssize_t wrote = ::write(out_fd_, output_.data() + sent_, output_.size() - sent_);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0 && errno == EAGAIN) return;
        if (wrote < 0) {
            finished_ = true;
            return;
        }
        sent_ += static_cast<std::size_t>(wrote);
    }
    output_.clear();
    sent_ = 0;
}

void Session::on_line(std::string_view line) {
    const auto& options = server_.options();
    if (options.stderr_noise) std::fprintf(stderr, "noise: message of %zu bytes\n", line.size());
    if (options.die_after > 0 && ++messages_ > options.die_after) {
        flush();
        std::fprintf(stderr, "patchbay-example-server: dying after %d messages\n",
                     options.die_after);
        ::_exit(3);
    }
    alignas(16) unsigned char space[kArenaSize];
    json::monotonic_resource arena(space, sizeof space);
    json::error_code failed;
    json::parse_options limits;
    limits.max_depth = 128;
    const json::value message = json::parse({line.data(), line.size()}, failed, &arena, limits);
    if (failed) return fail("null", -32700, "parse error: " + failed.message());
    const auto* object = message.if_object();
    if (!object) return fail("null", -32600, "a message is an object");
    const auto* method = string_in(*object, "method");
    if (!method) return on_response(*object);
    if (object->contains("id")) return on_request(*object, {method->data(), method->size()});
    static const json::object none;
    const auto* params = object_in(*object, "params");
    on_notification({method->data(), method->size()}, params ? *params : none);
}

void Session::on_response(const json::object& message) {
    const auto* id = message.if_contains("id");
    const auto* number = id ? id->if_int64() : nullptr;
    const auto asked = number ? asked_.find(*number) : asked_.end();
    if (asked == asked_.end()) return;
    const auto done = std::move(asked->second);
    asked_.erase(asked);
    done(message);
}

void Session::on_notification(std::string_view method, const json::object& params) {
    if (method != "notifications/cancelled") return;
    const std::string id = raw_id(params.if_contains("requestId"));
    stop_task(id);
    listeners_.erase(id);
}

void Session::append_message(std::string_view text) {
    const auto& options = server_.options();
    if (options.never_answer) return;
    if (options.garbage) output_ += "Starting up... 100% {\xff not json\n\n[1,2\n";
    (output_ += text) += '\n';
    if (options.garbage)
        output_ += "{\"level\":\"info\",\"msg\":\"a log line on stdout\"}\n\"text\"\n42\n";
}

void Session::answer(const Ticket& ticket, std::string_view members) {
    auto& text = scratch_;
    text.assign("{\"jsonrpc\":\"2.0\",\"id\":");
    text += ticket.id;
    text += ",\"result\":{";
    if (ticket.era == Era::Modern) {
        if (!members.starts_with("\"resultType\":\"input_required\"")) {
            text +=
                members.empty() ? "\"resultType\":\"complete\"" : "\"resultType\":\"complete\",";
        }
        text += members;
        text +=
            ",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
            "{\"name\":\"patchbay-example-server\",\"version\":\"1.0.0\"}}";
    } else {
        text += members;
    }
    text += "}}";
    append_message(text);
    if (server_.options().answer_twice) append_message(text);
}

void Session::fail(std::string_view id, int code, std::string_view message, std::string_view data) {
    std::string text = "{\"jsonrpc\":\"2.0\",\"id\":";
    text.append(id) += ",\"error\":{\"code\":" + std::to_string(code) + ",\"message\":";
    append_quoted(text, message);
    if (!data.empty()) text.append(",\"data\":").append(data);
    append_message(text += "}}");
}

void Session::notify(std::string_view method, std::string_view members) {
    std::string text = "{\"jsonrpc\":\"2.0\",\"method\":";
    append_quoted(text, method);
    if (!members.empty()) text.append(",\"params\":{").append(members) += '}';
    append_message(text += '}');
}

void Session::ask(std::string_view method, std::string_view members, Answer done) {
    const auto id = next_ask_++;
    std::string text = "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(id) + ",\"method\":";
    append_quoted(text, method);
    if (!members.empty()) text.append(",\"params\":{").append(members) += '}';
    asked_[id] = std::move(done);
    append_message(text += '}');
}

void Session::start_task(const Ticket& ticket, double wait_ms, std::function<void()> step) {
    stop_task(ticket.id);
    const auto wait = std::chrono::milliseconds(static_cast<long long>(wait_ms));
    tasks_[ticket.id] = server_.after(wait, std::move(step));
}

void Session::stop_task(const std::string& id) {
    const auto task = tasks_.find(id);
    if (task == tasks_.end()) return;
    server_.cancel(task->second);
    tasks_.erase(task);
}

void Session::tell_tools_changed() {
    if (initialized_) notify("notifications/tools/list_changed", "");
    for (const auto& [id, listener] : listeners_) {
        if (!listener.tools) continue;
        notify("notifications/tools/list_changed",
               "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" + id + "}");
    }
}

void Session::tell_updated(std::string_view uri) {
    const std::string member = "\"uri\":" + quoted(uri);
    if (subscribed_.count(uri) != 0) notify("notifications/resources/updated", member);
    for (const auto& [id, listener] : listeners_) {
        if (listener.uris.count(uri) == 0) continue;
        notify("notifications/resources/updated",
               "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" + id + "}," + member);
    }
}

// However long the reader takes, and without reading meanwhile.
void Session::write_all(std::string_view bytes) {
    ::fcntl(out_fd_, F_SETFL, ::fcntl(out_fd_, F_GETFL) & ~O_NONBLOCK);
    while (!bytes.empty() && !finished_) {
        const ssize_t wrote = ::write(out_fd_, bytes.data(), bytes.size());
        if (wrote >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(wrote));
        else if (errno != EINTR)
            finished_ = true;
    }
    make_nonblocking(out_fd_);
}

// What takes the place of an answer.
void Session::misbehave(const Request& request) {
    const auto& options = server_.options();
    if (options.flood > 0) {
        // Without a newline and straight to the pipe: the point is that no reader should keep it.
        flush();
        const std::string block(kReadSize, 'x');
        for (long long left = options.flood; left > 0 && !finished_;) {
            const auto some = static_cast<std::size_t>(std::min<long long>(left, kReadSize));
            write_all({block.data(), some});
            left -= static_cast<long long>(some);
        }
    } else if (options.pings > 0) {
        flush();
        for (long long i = 0; i < options.pings && !finished_; ++i)
            write_all(R"({"jsonrpc":"2.0","method":"ping","id":"p)" + std::to_string(i) + "\"}\n");
    } else if (options.nest > 0) {
        const auto depth = static_cast<std::size_t>(options.nest);
        answer({request.id, request.era},
               "\"content\":[],\"structuredContent\":{\"deep\":" + std::string(depth, '[') +
                   std::string(depth, ']') + "}");
    } else if (options.close_mid_message) {
        output_ += "{\"jsonrpc\":\"2.0\",\"id\":" + request.id + ",\"result\":{\"content\":[{\"ty";
        flush();
        std::fprintf(stderr, "patchbay-example-server: closing in the middle of a message\n");
        ::_exit(0);
    }
}

void Session::on_request(const json::object& message, std::string_view method) {
    static const json::object none;
    std::string id = raw_id(message.if_contains("id"));
    if (id.empty()) return fail("null", -32600, "an id is a number or a string");
    const auto* params = object_in(message, "params");
    const auto* meta = params ? object_in(*params, "_meta") : nullptr;
    const bool modern = meta && meta->contains("io.modelcontextprotocol/protocolVersion");
    const auto* told =
        modern ? object_in(*meta, "io.modelcontextprotocol/clientCapabilities") : &client_;
    const Request request{std::move(id),           method,
                          params ? *params : none, meta ? *meta : none,
                          told ? *told : none,     modern ? Era::Modern : Era::Legacy};
    const auto& options = server_.options();
    if (options.flood > 0 || options.nest > 0 || options.close_mid_message) {
        if (options.at == Options::At::First || method == "tools/call") return misbehave(request);
    }
    if (options.pings > 0 && method == "tools/call") return misbehave(request);
    if (options.wrong_id && method == "tools/call") {
        return answer({"987654321", request.era}, text_content("an answer to nobody"));
    }
    if (options.stop_reading && method == "tools/call") {
        deaf_ = true;
        return;
    }
    dispatch(request);
}

}  // namespace example
