#include "http/connection.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

#include <utility>

namespace patchbay::http {
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kReadBytes = 4 * ByteStream::kPiece;
constexpr std::chrono::seconds kLinger{2};
constexpr std::size_t kAskedBytes = 200;  // of a line of the log

bool is_logged() {
    return core::log::enabled(core::log::Level::Debug);
}

// Without what is behind a question mark, which may be anything.
std::string in_short(const Request& request) {
    const auto path = std::string_view(request.target).substr(0, request.target.find('?'));
    return core::printable(request.method + " " + std::string(path), kAskedBytes);
}

}  // namespace

class Connection::Turn final : public Exchange, public std::enable_shared_from_this<Turn> {
public:
    explicit Turn(Connection& connection)
        : connection_(&connection), loop_(connection.server_.loop_) {}

    void read_body(std::function<void(std::string)> then) override {
        if (connection_) connection_->read_body(std::move(then));
    }
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
    std::size_t waiting() const override { return connection_ ? connection_->writer_.size() : 0; }
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
      watch_(server.loop_),
      limit_(server.loop_, [this] { on_late(); }),
      reader_(server.limits_),
      body_(reader_, server.limits_, server.reading_),
      ready_(stream_->ready()) {
    const bool watched = watch_.start(stream_->fd(), core::Loop::kReadable,
                                      [this](unsigned events) { on_events(events); });
    const auto most = ready_ ? server_.limits_.idle : server_.limits_.head;
    limit(watched ? most : 0s, 0);  // nothing will be heard of it
}

Connection::~Connection() {
    lifetime_.end();
    watch_.stop();
    if (turn_) turn_->lose();
}

void Connection::stop() {
    keep_ = false;
    if (!turn_ && writer_.empty() && state_ == State::Open) close();
}

void Connection::limit(std::chrono::seconds most, unsigned status) {
    late_status_ = status;
    limit_.set(most);
}

void Connection::on_late() {
    if (late_status_ == 0) return close();
    refuse(late_status_, "the request did not come in time");
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
    if (stream_->reads_by_writing()) watch_.want_more(core::Loop::kWritable);
    if (!ready_ && stream_->ready()) {
        ready_ = true;
        limit(server_.limits_.idle, 0);
    }
    if (!got) return;
    if (*got == 0) return close();
    if (state_ == State::LastWords) return;
    reader_.append(block, *got);
    take_requests();
}

void Connection::take_requests() {
    if ((turn_ && !body_.is_wanted()) || ended_ || state_ != State::Open) {
        // The end of the connection is not seen meanwhile; neither is it by who sends so much ahead.
        if (reader_.unread() > kAheadBytes) watch_.want_less(core::Loop::kReadable);
        return;
    }
    watch_.want_more(core::Loop::kReadable);
    for (;;) {
        const auto step = reader_.next();
        if (step == RequestReader::Step::Refused)
            return refuse(reader_.refusal().status, reader_.refusal().why);
        // Those who are sending much leave room for who has little to say.
        if (!body_.count()) return refuse(503, "too much is being sent at once; try again");
        switch (step) {
            case RequestReader::Step::Begun:
                limit(server_.limits_.head, 408);
                break;
            case RequestReader::Step::Head:
                return dispatch();
            case RequestReader::Step::Whole:
                limit_.clear();
                return body_.hand_over();
            case RequestReader::Step::Nothing:
            case RequestReader::Step::Refused:
                return;
        }
    }
}

void Connection::dispatch() {
    limit_.clear();
    auto request = reader_.take_head();
    body_.expect();
    request.peer = peer_;
    asked_ = is_logged() ? in_short(request) : std::string();
    keep_ = keep_ && reader_.keeps_alive() && !server_.stopped_;
    writer_.shape(reader_.chunked(), reader_.head_only());
    turn_ = std::make_shared<Turn>(*this);
    if (!request.target.starts_with('/'))
        return refuse(400, "the target of a request is a path: /mcp");
    ended_ = false;
    server_.handler_.on_request(turn_, std::move(request));
}

void Connection::read_body(std::function<void(std::string)> then) {
    if (!body_.is_due() || ended_ || state_ != State::Open) return;
    body_.want(std::move(then));
    take_requests();
    if (!body_.is_wanted()) return;
    if (reader_.waits_to_send()) {
        writer_.go_on();
        plan_flush();
    }
    limit(server_.limits_.body, 408);
}

void Connection::refuse(unsigned status, std::string_view why) {
    keep_ = false;
    body_.drop();
    if (const auto turn = std::exchange(turn_, nullptr)) turn->lose();
    if (state_ != State::Open || ended_) return;
    writer_.head_only(reader_.head_only());
    Headers headers{{"Content-Type", "text/plain; charset=utf-8"}};
    if (status == 429 || status == 503) headers.emplace_back("Retry-After", "1");
    log_refusal(status, why);
    send_answer(status, headers, std::string(why) + "\n");
}

// What a client was let in for has lines of its own, where it is carried out.
void Connection::log_refusal(unsigned status, std::string_view why) const {
    if (status < 400 || !is_logged()) return;
    core::log::debug("http: " + (peer_.empty() ? "" : peer_ + ": ") +
                     (asked_.empty() ? "" : asked_ + ": ") + std::to_string(status) +
                     (why.empty() ? "" : ": " + std::string(why)));
}

void Connection::answer(unsigned status, const Headers& headers, std::string body) {
    log_refusal(status, {});
    send_answer(status, headers, std::move(body));
}

void Connection::send_answer(unsigned status, const Headers& headers, std::string body) {
    if (server_.observer_) server_.observer_->on_http_answer(status);
    if (!body_.forgo()) keep_ = false;
    writer_.answer(status, headers, keep_, std::move(body));
    ended_ = true;
    plan_flush();
}

void Connection::begin(const Headers& headers) {
    if (!body_.forgo()) keep_ = false;
    if (!writer_.chunked()) keep_ = false;
    if (server_.observer_) server_.observer_->on_http_answer(200);
    writer_.begin(headers, keep_);
    plan_flush();
}

void Connection::write(std::string_view bytes) {
    if (bytes.empty()) return;
    writer_.write(bytes);
    plan_flush();
}

void Connection::end() {
    writer_.end();
    ended_ = true;
    if (writer_.empty()) return flush();
    plan_flush();
}

// All of one turn of the loop goes out in one write.
void Connection::plan_flush() {
    if (!std::exchange(flush_planned_, true))
        server_.loop_.defer(lifetime_.guard([this] { flush(); }));
}

void Connection::flush() {
    flush_planned_ = false;
    if (state_ == State::Closed) return;
    bool wrote = false;
    while (!writer_.empty()) {
        AnswerWriter::Pieces pieces;
        const auto taken = stream_->write(writer_.pieces(pieces));
        if (!taken) return close();
        if (*taken == 0) break;
        wrote = true;
        writer_.taken(*taken);
    }
    if (writer_.empty()) {
        watch_.want_less(core::Loop::kWritable);
        return written_all();
    }
    watch_.want_more(core::Loop::kWritable);
    if (wrote || !limit_.is_set()) limit(server_.limits_.write, 0);
}

void Connection::written_all() {
    if (!ended_) {  // more will come of it; or this was 100 Continue
        if (body_.is_wanted()) return limit(server_.limits_.body, 408);
        return turn_ ? limit_.clear() : void();
    }
    if (turn_) std::exchange(turn_, nullptr)->settle();
    ended_ = false;
    asked_.clear();
    if (!keep_) return linger();
    limit(server_.limits_.idle, 0);
    reader_.rest();
    take_requests();
}

// Closed at once, what it still sends would make the system take back what it has not read.
void Connection::linger() {
    state_ = State::LastWords;
    reader_.drop_unread();
    stream_->end();
    watch_.want(core::Loop::kReadable);
    limit(kLinger, 0);
}

void Connection::close() {
    if (state_ == State::Closed) return;
    state_ = State::Closed;
    limit_.clear();
    watch_.stop();
    stream_.reset();
    writer_.clear();
    body_.drop();
    server_.drop(*this);
    if (const auto turn = std::exchange(turn_, nullptr)) turn->lose();
}

}  // namespace patchbay::http
