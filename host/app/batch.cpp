#include "app/batch.hpp"

#include "app/call_arguments.hpp"
#include "protocol/compose.hpp"

#include <utility>

namespace patchbay::app {

namespace {

constexpr std::chrono::milliseconds kLookAgain{500};

}  // namespace

Batch::Batch(Parts parts)
    : servers_(parts.servers),
      loop_(parts.servers.connections().loop()),
      input_(parts.input),
      changed_(std::move(parts.changed)),
      more_(parts.more),
      output_(loop_, std::move(parts.output), [this] { advance(); }),
      in_flight_(loop_, output_, [this] { advance(); }),
      waits_(loop_, in_flight_),
      look_again_(loop_),
      operations_(servers_, parts.caller, in_flight_, waits_, parts.event_log, parts.reference,
                  std::move(parts.recall)) {}

Batch::~Batch() {
    for (const auto& id : in_flight_.ids())
        if (const auto* request = in_flight_.find(id); request && request->call)
            servers_.router().cancel(request->call, "whoever asked has gone");
}

void Batch::begin() {
    input_.begin([this] { advance(); });
}

void Batch::notify(const std::string& server, const std::string& method, std::string_view params) {
    output_.notification(server, method, params);
    waits_.on_notification(server, method);
}

void Batch::interrupt(const std::string& why) {
    if (interrupted()) return;
    interruption_ = why;
    input_.stop();
    for (const auto& id : in_flight_.ids()) {
        const auto* request = in_flight_.find(id);
        if (request && request->call)
            servers_.router().cancel(request->call, why);
        else  // it waits for servers, whose end is no answer
            in_flight_.fail(id, {ErrorCode::Cancelled, why});
    }
    look_again_.start(kLastAnswers, [this] {
        fail_the_rest();
        advance();
    });
    advance();
}

// What has come is answered still.
void Batch::end_input() {
    input_.stop();
    advance();
}

void Batch::fail_the_rest() {
    const Error interruption{ErrorCode::Cancelled, interruption_};
    for (const auto& id : in_flight_.ids()) in_flight_.fail(id, interruption);
    if (!barrier_.empty()) output_.error(std::exchange(barrier_, {}), interruption);
}

bool Batch::failed() const {
    return in_flight_.any_lacking() || input_.failed() || output_.told_errors() || output_.lost();
}

// As many as may be in flight and are read at the other end: what is left waits in the pipe.
void Batch::take_lines() {
    while (in_flight_.size() < kInFlight && barrier_.empty() && !output_.crowded()) {
        const auto line = input_.next();
        if (!line) return;
        if (*line)
            take_line(**line);
        else
            refuse_line("null", line->error());
    }
}

void Batch::take_line(std::string_view text) {
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    if (text.find_first_not_of(" \t") == std::string_view::npos) return;
    const auto number = input_.line_number();
    const auto value = parse_json(text, name_of_line(number), servers_.config().limits.json_depth);
    if (!value) return refuse_line("null", value.error());
    const auto* members = value->if_object();
    if (!members)
        return refuse_line(
            "null",
            wrong_line(number, "a request is a JSON object like {\"id\":1,\"op\":\"tools/list\"}"));
    const auto given = raw_member_of(text, "id");
    const std::string id(given.empty() ? protocol::quoted(name_of_line(number)) : given);
    if (in_flight_.find(id))
        return refuse_line(id, wrong_line(number, "id " + id + " is in flight already"));
    if (const auto trouble = trouble_with(*members); !trouble.empty())
        return refuse_line(id, wrong_line(number, trouble));
    const BatchLine line{id, *members, text, number};
    in_flight_.add(id);
    if (more_ && more_->start(line, in_flight_)) return;
    if (!operations_.accepts(line)) return;
    if (core::string_in(*members, "op") != "barrier") return operations_.start(line);
    in_flight_.forget(id);  // it would wait for itself; advance() answers it
    barrier_ = id;
}

void Batch::refuse_line(const std::string& id, const Error& error) {
    output_.line_error(id, error, input_.line_number());
}

void Batch::advance() {
    look();
    changed_();
}

void Batch::look() {
    if (done_ || output_.lost()) return;
    if (interrupted()) {
        if (in_flight_.size() > 0) return;
        look_again_.stop();
        fail_the_rest();  // the barrier
        done_ = true;
        return;
    }
    take_lines();
    // Streams that are listened to end with the input, so nothing may wait for them. What follows a
    // barrier may be another one.
    while (!barrier_.empty() && in_flight_.only_endless()) {
        output_.result(std::exchange(barrier_, {}), "{}");
        take_lines();
    }
    const bool starts_no_more = input_.over() || !barrier_.empty();
    if (starts_no_more && waits_.size() > 0 && in_flight_.ending() == waits_.size()) {
        operations_.end_hopeless_waits();
        // A connection that ends meanwhile tells nobody here.
        look_again_.start(kLookAgain, [this] { advance(); });
    }
    input_.pause(in_flight_.size() >= kInFlight || !barrier_.empty() || output_.crowded());
    if (!input_.over() || !barrier_.empty()) return;
    if (in_flight_.size() == 0) {
        done_ = true;
    } else if (in_flight_.only_endless()) {
        for (const auto& id : in_flight_.ids()) {
            auto* request = in_flight_.find(id);
            if (!request) continue;
            request->over = true;
            if (request->call == 0)  // no server's
                in_flight_.succeed(id, "{}");
            else
                servers_.router().cancel(request->call, "the batch is over");
        }
    }
}

}  // namespace patchbay::app
