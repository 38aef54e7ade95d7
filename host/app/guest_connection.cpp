#include "app/guest_connection.hpp"

#include "app/rule_warnings.hpp"
#include "app/shown_view.hpp"
#include "app/socket_sink.hpp"
#include "config/config.hpp"
#include "core/log.hpp"
#include "gateway/approvals.hpp"

#include <boost/json.hpp>

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// Reading and writing are watched apart, and a loop knows a descriptor once.
core::Descriptor copy_of(const core::Descriptor& socket) {
    return core::Descriptor(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
}

core::Principal principal(std::size_t number) {
    return {core::Principal::Kind::Batch, std::to_string(number), {}, core::Trust::Approves};
}

}  // namespace

GuestConnection::GuestConnection(Desk& desk, core::Descriptor socket, std::size_t number)
    : desk_(desk),
      loop_(desk.host().loop()),
      socket_(std::move(socket)),
      writing_(copy_of(socket_)),
      number_(number),
      greeting_(loop_),
      input_(loop_, socket_.get()) {
    if (writing_.get() < 0 || !desk_.hang_ups().add(socket_.get(), [this] { cut_off(); })) {
        over_ = true;  // there are no descriptors left
        return;
    }
    greeting_.start(kGreeting, [this] {
        refuse({ErrorCode::Timeout, "no greeting came within 5 s"});
    });
    input_.say_nothing();
    input_.limit_line(kHelloBytes);
    input_.begin([this] { look_for_greeting(); });
}

GuestConnection::~GuestConnection() {
    lifetime_.end();
    operations_.reset();  // before the requests in flight that it answers
    approvals_.reset();   // before those that wait for it
    if (own_) own_->set_notification_handler({});
    if (own_) own_->set_approver({});
    desk_.hang_ups().remove(socket_.get());
    batch_.reset();
    client_.reset();
}

std::size_t GuestConnection::bytes() const {
    return input_.waiting() + (batch_ ? batch_->waiting() : 0) + (client_ ? client_->waiting() : 0);
}

void GuestConnection::look_for_greeting() {
    if (over_ || greeted_) return;
    const auto line = input_.next();
    if (!line && !input_.over()) return;
    if (!line) return cut_off();
    if (!*line) return refuse(within("greeting", line->error()));
    const auto hello = parse_hello(**line);
    if (!hello) return refuse(hello.error());
    greet(*hello);
}

void GuestConnection::greet(const Hello& hello) {
    greeting_.stop();
    greeted_ = true;
    // What a person types is one caller, which outlives each command: so its servers stay (decision 40).
    if (hello.as == Guest::Person) {
        caller_ = &desk_.person();
    } else if (hello.as == Guest::Batch) {
        own_ =
            std::make_unique<LocalCaller>(desk_.host().callers(), principal(number_),
                                          connection::Responder(desk_.host().config().client, {}));
        caller_ = own_.get();
    }
    // Not from inside the input's call to us, which begin() replaces.
    loop_.defer(lifetime_.guard([this, hello] { begin(hello); }));
}

void GuestConnection::begin(const Hello& hello) {
    input_.limit_line(LineInput::kLineBytes);
    input_.count_anew();
    if (hello.as == Guest::Client) return begin_client(hello);
    operations_.emplace(desk_.host().servers(), *caller_, desk_, number_);
    approvals_.emplace(hello.approving, [this](std::string line) {
        batch_->output().line(std::move(line));
        look();
    });
    batch_.emplace(
        Batch::Parts{desk_.host().servers(),
                     *caller_,
                     input_,
                     {std::make_unique<SocketSink>(writing_.get()), LineOutput::Unread::IsLost, -1},
                     [this] { look(); },
                     hello.as == Guest::Person ? &*operations_ : nullptr,
                     desk_.host().event_log(),
                     [](const std::string&) {},
                     number_});
    auto welcome = desk_.welcome(hello);
    welcome.guest = number_;
    batch_->output().line(to_line(welcome));
    if (own_) {
        own_->set_approver(
            [this](const auto& wanted, auto decide) { return approve(wanted, std::move(decide)); });
        own_->set_notification_handler(
            [this](const std::string& server, const std::string& method, std::string_view params) {
                batch_->notify(server, method, params);
                look();
            });
    }
    batch_->begin();
    if (ending_) batch_->end_input();
}

connection::Question GuestConnection::approve(const connection::Approvable& wanted,
                                              connection::Caller::Decide decide) {
    if (!approvals_ || over_) {
        decide(connection::Approval::NobodyThere);
        return {};
    }
    return approvals_->ask(gateway::approval_text(desk_.host().config(), wanted), wanted,
                           std::move(decide));
}

void GuestConnection::decide(std::int64_t number, connection::Approval approval) {
    if (approvals_ && !over_) approvals_->decide(number, approval);
}

// A session of its own, as a client has that starts `serve`.
void GuestConnection::begin_client(const Hello& hello) {
    auto welcome = desk_.welcome(hello);
    auto view = view_of(desk_.host().servers(), hello.shown);
    // Who has read something else may have what is not here.
    if (!view)
        return refuse(welcome.fits ? view.error()
                                   : Error{ErrorCode::Unavailable, view.error().message});
    shown_ = hello.shown;
    client_ = std::make_unique<ClientLines>(ClientLines::Parts{
        desk_.host(),
        input_,
        {std::make_unique<SocketSink>(writing_.get()), LineOutput::Unread::IsLost, -1},
        std::move(*view),
        ClientLines::Others::MayCome,
        [this] { look_at_client(); }});
    welcome.guest = number_;
    client_->line(to_line(welcome));
    client_->begin();
    if (ending_) end_input();
}

void GuestConnection::show_anew() {
    if (client_ && !over_) client_->show(view_by_now(desk_.host().servers(), shown_));
}

// Behind the end of what it sends it is owed what it has asked, for a while; where the host ends, for as long as that
// takes.
void GuestConnection::look_at_client() {
    if (over_ || !client_) return;
    if (client_->over()) return cut_off();
    if (client_->input_over() && !ending_ && !greeting_.running())
        greeting_.start(ClientLines::kLastAnswers, [this] { cut_off(); });
    desk_.look_at(*this);
}

// Who has not greeted yet has asked nothing.
void GuestConnection::end_input() {
    ending_ = true;
    if (batch_) {
        batch_->end_input();
    } else if (client_) {
        client_->end_streams();
        input_.stop();
        client_->advance();
    } else if (!greeted_)
        refuse({ErrorCode::Unavailable, "the host ends"});
}

// What is answered and not read by now is not waited for.
void GuestConnection::interrupt(const std::string& why) {
    if (batch_ && !batch_->answered())
        batch_->interrupt(why);
    else
        cut_off();
}

void GuestConnection::refuse(const Error& error) {
    if (over_) return;
    const auto line = refusal_line(error) + "\n";
    static_cast<void>(
        !::send(socket_.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    // Closed with bytes that nobody read, the socket would tell of that before it told why (unix(7)).
    char unread[64u << 10];
    for (int most = 16; most > 0; --most)
        if (::recv(socket_.get(), unread, sizeof unread, MSG_DONTWAIT) <= 0) break;
    cut_off();
}

void GuestConnection::cut_off() {
    if (std::exchange(over_, true)) return;
    greeting_.stop();
    input_.stop();
    desk_.hang_ups().remove(socket_.get());
    desk_.look_at(*this);
}

std::string GuestConnection::last_line() const {
    json::array warnings;
    for (const auto& each : rule_warnings(desk_.host().servers(), *caller_))
        warnings.emplace_back(core::log::masked(config::to_string(each)));
    return json::serialize(json::object{
        {"event", "end"}, {"failed", batch_->failed()}, {"warnings", std::move(warnings)}});
}

void GuestConnection::look() {
    if (over_ || !batch_) return;
    if (batch_->answered() && !std::exchange(told_end_, true))
        batch_->output().last_line(last_line());
    else if (told_end_ && batch_->over())
        return cut_off();
    desk_.look_at(*this);
}

}  // namespace patchbay::app
