#include "http/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>

#include <array>
#include <cstdio>
#include <utility>

namespace patchbay::http {
namespace beast = boost::beast::http;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kReadBytes = 4 * ByteStream::kPiece;
constexpr std::size_t kPiecesAtOnce = 16;
constexpr std::size_t kPieceBytes = 16u << 10;  // what is smaller is joined with what follows
constexpr std::size_t kHeadBytes = 256;         // of most answers
constexpr std::size_t kKeptBytes = 1u << 10;    // of room, by a connection at rest
constexpr std::chrono::seconds kLinger{2};

std::string lower(std::string_view text) {
    std::string result(text);
    for (auto& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

// A field that goes on in another line: what one reader joins is to another a field of its own (RFC
// 9112 section 5.2). `in` begins with a whole head.
bool is_folded(std::string_view in) {
    const auto head = in.substr(0, in.find("\r\n\r\n"));
    return head.find("\r\n ") != head.npos || head.find("\r\n\t") != head.npos;
}

std::string_view reason_of(unsigned status) {
    const auto reason = beast::obsolete_reason(static_cast<beast::status>(status));
    return {reason.data(), reason.size()};
}

}  // namespace

// What Beast finds goes straight into the request that is handed on.
class Connection::Parser final : public beast::basic_parser<true> {
public:
    Request request;
    int version = 0;
    std::size_t counted = 0;  // bytes of the body, by the server
    bool head_judged = false;

private:
    using Code = boost::beast::error_code;
    using Text = boost::beast::string_view;

    static std::string_view view(Text text) { return {text.data(), text.size()}; }

    void on_request_impl(beast::verb, Text method, Text target, int spoken, Code&) override {
        request.method = view(method);
        request.target = view(target);
        version = spoken;
    }
    void on_response_impl(int, Text, int, Code&) override {}
    // A trailer is nothing of the head: what stands in front of us looks for it there alone, and we
    // would take for a header what it has taken away or set itself (RFC 9110 section 6.5.1).
    void on_field_impl(beast::field, Text name, Text value, Code&) override {
        if (!head_done_) request.headers.emplace_back(lower(view(name)), view(value));
    }
    void on_header_impl(Code&) override { head_done_ = true; }
    void on_body_init_impl(const boost::optional<std::uint64_t>& length, Code&) override {
        request.body.reserve(static_cast<std::size_t>(length.value_or(0)));
    }
    std::size_t on_body_impl(Text part, Code&) override {
        request.body.append(part.data(), part.size());
        return part.size();
    }
    // Beast takes a line feed within quotes; to others a line ends there.
    void on_chunk_header_impl(std::uint64_t, Text extension, Code& failed) override {
        if (extension.find('\n') != Text::npos) failed = beast::error::bad_chunk_extension;
    }
    std::size_t on_chunk_body_impl(std::uint64_t, Text part, Code&) override {
        request.body.append(part.data(), part.size());
        return part.size();
    }
    void on_finish_impl(Code&) override {}

    bool head_done_ = false;
};

class Connection::Turn final : public Exchange, public std::enable_shared_from_this<Turn> {
public:
    explicit Turn(Connection& connection)
        : connection_(&connection), loop_(connection.server_.loop_) {}

    void answer(unsigned status, const Headers& headers, std::string body) override {
        if (connection_) connection_->answer(status, headers, std::move(body));
    }
    void begin(const Headers& headers) override {
        if (connection_) connection_->begin(headers);
    }
    void write(std::string_view bytes) override {
        if (connection_) connection_->write(bytes);
    }
    void end() override {
        if (connection_) connection_->end();
    }
    std::size_t waiting() const override {
        return connection_ ? connection_->out_bytes_ - connection_->out_begin_ : 0;
    }
    // Who asks late, for it had to wait before it was looked at, is told all the same.
    void when_gone(std::function<void()> gone) override {
        gone_ = std::move(gone);
        if (lost_ && gone_) loop_.defer([self = shared_from_this()] { self->lose(); });
    }

    // It is answered.
    void settle() {
        connection_ = nullptr;
        gone_ = nullptr;
    }
    void lose() {
        connection_ = nullptr;
        lost_ = true;
        if (const auto gone = std::exchange(gone_, nullptr)) gone();
    }

private:
    Connection* connection_;
    core::Loop& loop_;
    bool lost_ = false;
    std::function<void()> gone_;
};

Connection::Connection(Server& server, std::unique_ptr<ByteStream> stream, std::string peer)
    : server_(server),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      limit_(server.loop_, [this] { on_late(); }),
      ready_(stream_->ready()) {
    const auto watch = server_.loop_.watch(stream_->fd(), core::Loop::kReadable,
                                           [this](unsigned events) { on_events(events); });
    if (watch) watch_ = *watch;
    waiting_for_ = core::Loop::kReadable;
    const auto most = ready_ ? server_.limits_.idle : server_.limits_.head;
    limit(watch ? most : 0s, 0);  // nothing will be heard of it
}

Connection::~Connection() {
    lifetime_.end();
    if (watch_) server_.loop_.unwatch(watch_);
    if (parser_) server_.reading_ -= parser_->counted;
    if (turn_) turn_->lose();
}

void Connection::refuse_all() {
    full_ = true;
}

void Connection::stop() {
    keep_ = false;
    if (!turn_ && out_.empty() && state_ == State::Open) close();
}

void Connection::limit(std::chrono::seconds most, unsigned status) {
    late_status_ = status;
    limit_.set(most);
}

void Connection::on_late() {
    if (late_status_ == 0) return close();
    refuse(late_status_, "the request did not come in time");
}

void Connection::wait_for(unsigned events) {
    if (watch_ && std::exchange(waiting_for_, events) != events)
        server_.loop_.modify(watch_, events);
}

void Connection::on_events(unsigned events) {
    const auto alive = lifetime_.watch();
    if (events & core::Loop::kWritable && !stream_->reads_by_writing()) flush();
    if (alive.expired() || state_ == State::Closed) return;
    if (events & core::Loop::kReadable || stream_->reads_by_writing()) readable();
}

void Connection::readable() {
    char block[kReadBytes];
    const auto got = stream_->read(block, sizeof block);
    if (stream_->reads_by_writing()) wait_for(waiting_for_ | core::Loop::kWritable);
    if (!ready_ && stream_->ready()) {
        ready_ = true;
        limit(server_.limits_.idle, 0);
    }
    if (!got) return;
    if (*got == 0) return close();
    if (state_ == State::LastWords) return;
    in_.append(block, *got);
    parse();
}

void Connection::parse() {
    if (turn_ || ended_ || state_ != State::Open) {
        // The end of the connection is not seen meanwhile; neither is it by who sends so much ahead.
        if (in_.size() > kAheadBytes) wait_for(waiting_for_ & ~unsigned{core::Loop::kReadable});
        return;
    }
    wait_for(waiting_for_ | core::Loop::kReadable);
    while (!in_.empty()) {
        if (!parser_) {
            // Empty lines before a request are passed over.
            const auto begin = in_.find_first_not_of("\r\n");
            in_.erase(0, begin);
            if (in_.empty()) return;
            parser_ = std::make_unique<Parser>();
            parser_->header_limit(static_cast<std::uint32_t>(server_.limits_.head_bytes));
            parser_->body_limit(server_.limits_.body_bytes);
            parser_->eager(true);
            limit(server_.limits_.head, 408);
        }
        boost::beast::error_code failed;
        const auto taken = parser_->put(boost::asio::buffer(in_), failed);
        const bool folded = parser_->is_header_done() && !parser_->head_judged && is_folded(in_);
        in_.erase(0, taken);
        if (folded) return refuse(400, "a field of the head goes on in another line");
        if (failed == beast::error::header_limit)
            return refuse(431, "the head of the request is over " +
                                   std::to_string(server_.limits_.head_bytes) + " bytes");
        if (failed == beast::error::body_limit)
            return refuse(413, "the body of the request is over " +
                                   std::to_string(server_.limits_.body_bytes) + " bytes");
        if (failed && failed != beast::error::need_more)
            return refuse(400, "this is no HTTP/1.1 request: " + failed.message());
        if (parser_->is_header_done() && !accept_head()) return;
        const auto now = parser_->request.body.size();
        server_.reading_ += now - std::exchange(parser_->counted, now);
        // Those who are sending much leave room for who has little to say.
        if (server_.reading_ > server_.limits_.all_body_bytes && now > server_.limits_.own_bytes)
            return refuse(503, "too much is being sent at once; try again");
        if (parser_->is_done()) return dispatch();
        // The parser has no limit for a line between two chunks, nor for what stands behind the last.
        if (in_.size() > server_.limits_.head_bytes)
            return refuse(431,
                          "a line between the chunks of a body, or what stands behind them, is "
                          "over " +
                              std::to_string(server_.limits_.head_bytes) + " bytes");
        if (failed == beast::error::need_more || taken == 0) return;
    }
}

// What two readers of one request could understand in two ways is refused.
bool Connection::accept_head() {
    if (std::exchange(parser_->head_judged, true)) return true;
    const auto& request = parser_->request;
    const auto version = parser_->version;
    const auto refused = [this](unsigned status, std::string_view why) {
        refuse(status, why);
        return false;
    };
    head_only_ = request.method == "HEAD";
    if (full_) return refused(429, "too many connections; try again later");
    if (version != 11 && version != 10) return refused(505, "HTTP/1.1 is spoken here");
    const auto codings = request.count("transfer-encoding");
    const auto lengths = request.count("content-length");
    if (codings > 0) {
        if (codings > 1 || lower(*request.header("transfer-encoding")) != "chunked")
            return refused(501, "no transfer coding but chunked is known");
        if (version == 10 || lengths > 0)
            return refused(400, "the length of the body is said twice");
    }
    // "2, 2" is a length to some.
    const auto* length = request.header("content-length");
    if (lengths > 1 || (length && length->find_first_not_of("0123456789") != length->npos))
        return refused(400, "the length of the body is said twice");
    const auto hosts = request.count("host");
    if (hosts > 1 || (version == 11 && hosts == 0))
        return refused(400, "a request has one Host header");
    if (request.method == "POST" && codings == 0 && lengths == 0)
        return refused(411, "a POST says how long its body is");
    if (const auto* expected = request.header("expect")) {
        if (lower(*expected) != "100-continue")
            return refused(417, "only 100-continue can be expected");
        if (!parser_->is_done()) put("HTTP/1.1 100 Continue\r\n\r\n");
    }
    limit(server_.limits_.body, 408);
    return true;
}

void Connection::dispatch() {
    limit_.clear();
    keep_ = keep_ && parser_->keep_alive() && !server_.stopped_;
    chunked_ = parser_->version == 11;
    auto request = std::move(parser_->request);
    request.peer = peer_;
    server_.reading_ -= parser_->counted;
    parser_.reset();
    // A proxy's form of a target says the host itself.
    if (const auto scheme = lower(std::string_view(request.target).substr(0, 7));
        scheme == "http://") {
        const auto slash = request.target.find('/', scheme.size());
        const auto host = request.target.substr(scheme.size(), slash - scheme.size());
        for (auto& [name, value] : request.headers)
            if (name == "host") value = host;
        request.target = slash == std::string::npos ? "/" : request.target.substr(slash);
    }
    turn_ = std::make_shared<Turn>(*this);
    if (!request.target.starts_with('/'))
        return refuse(400, "the target of a request is a path: /mcp");
    ended_ = false;
    server_.handler_.on_request(turn_, std::move(request));
}

void Connection::refuse(unsigned status, std::string_view why) {
    keep_ = false;
    if (parser_) server_.reading_ -= parser_->counted;
    parser_.reset();
    if (state_ != State::Open || ended_) return;
    Headers headers{{"Content-Type", "text/plain; charset=utf-8"}};
    if (status == 429 || status == 503) headers.emplace_back("Retry-After", "1");
    answer(status, headers, std::string(why) + "\n");
}

std::string Connection::head(unsigned status, const Headers& headers) const {
    if (server_.observer_) server_.observer_->on_http_answer(status);
    std::string head;
    head.reserve(kHeadBytes);
    head.append("HTTP/1.1 ").append(std::to_string(status)).append(" ");
    head.append(reason_of(status)).append("\r\n");
    for (const auto& [name, value] : headers)
        head.append(name).append(": ").append(value).append("\r\n");
    if (!keep_) head += "Connection: close\r\n";
    return head;
}

void Connection::answer(unsigned status, const Headers& headers, std::string body) {
    auto first = head(status, headers);
    // Neither has one, and neither says that it is empty.
    if (status != 204 && status != 304)
        first.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    put(std::move(first.append("\r\n")));
    if (!body.empty() && !head_only_) put(std::move(body));
    ended_ = true;
}

void Connection::begin(const Headers& headers) {
    if (!chunked_) keep_ = false;
    put(head(200, headers) + (chunked_ ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n"));
}

void Connection::write(std::string_view bytes) {
    if (bytes.empty()) return;
    if (!chunked_) return put(std::string(bytes));
    char size[2 * sizeof(std::size_t) + 3];
    const int digits = std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    std::string chunk;
    chunk.reserve(static_cast<std::size_t>(digits) + bytes.size() + 2);
    put(std::move(
        chunk.append(size, static_cast<std::size_t>(digits)).append(bytes).append("\r\n")));
}

void Connection::end() {
    if (chunked_) put("0\r\n\r\n");
    ended_ = true;
    if (out_.empty()) flush();
}

// All of one turn of the loop goes out in one write.
void Connection::put(std::string bytes) {
    out_bytes_ += bytes.size();
    if (!out_.empty() && out_.back().size() + bytes.size() <= kPieceBytes)
        out_.back() += bytes;
    else
        out_.push_back(std::move(bytes));
    if (!std::exchange(flush_planned_, true))
        server_.loop_.defer(lifetime_.guard([this] { flush(); }));
}

void Connection::flush() {
    flush_planned_ = false;
    if (state_ == State::Closed) return;
    bool wrote = false;
    while (!out_.empty()) {
        std::array<std::string_view, kPiecesAtOnce> pieces;
        std::size_t count = 0;
        for (const auto& each : out_) {
            if (count == pieces.size()) break;
            pieces[count] = each;
            if (count == 0) pieces[count].remove_prefix(out_begin_);
            ++count;
        }
        const auto taken = stream_->write({pieces.data(), count});
        if (!taken) return close();
        if (*taken == 0) break;
        wrote = true;
        out_begin_ += *taken;
        auto left = out_.begin();
        for (; left != out_.end() && out_begin_ >= left->size(); ++left) {
            out_begin_ -= left->size();
            out_bytes_ -= left->size();
        }
        out_.erase(out_.begin(), left);
    }
    if (out_.empty()) {
        wait_for(waiting_for_ & ~unsigned{core::Loop::kWritable});
        return written_all();
    }
    wait_for(waiting_for_ | core::Loop::kWritable);
    if (wrote || !limit_.is_set()) limit(server_.limits_.write, 0);
}

void Connection::written_all() {
    if (!ended_) return turn_ ? limit_.clear() : void();  // more will come of it; or 100 Continue
    if (turn_) std::exchange(turn_, nullptr)->settle();
    ended_ = false;
    if (!keep_) return linger();
    limit(server_.limits_.idle, 0);
    head_only_ = false;
    if (in_.empty() && in_.capacity() > kKeptBytes) in_ = {};
    parse();
}

// Closed at once, what it still sends would make the system take back what it has not read.
void Connection::linger() {
    state_ = State::LastWords;
    in_.clear();
    stream_->end();
    wait_for(core::Loop::kReadable);
    limit(kLinger, 0);
}

void Connection::close() {
    if (state_ == State::Closed) return;
    state_ = State::Closed;
    limit_.clear();
    if (watch_) server_.loop_.unwatch(std::exchange(watch_, 0));
    stream_.reset();
    out_.clear();
    out_bytes_ = out_begin_ = 0;
    server_.drop(*this);
    if (const auto turn = std::exchange(turn_, nullptr)) turn->lose();
}

}  // namespace patchbay::http
