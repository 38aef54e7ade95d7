#include "app/batch.hpp"

#include "app/call_arguments.hpp"
#include "app/output.hpp"
#include "protocol/compose.hpp"

namespace patchbay::app {

namespace {

constexpr std::chrono::milliseconds kLookAgain{500};
constexpr std::chrono::seconds kLastWords{1};  // then nobody reads what an interruption ends

const Error kInterruption{ErrorCode::Cancelled, "interrupted by the user"};

}  // namespace

Batch::Batch(Session& session, int input)
    : session_(session),
      input_(session.host().loop(), input),
      output_(session.host().loop(), session.signals(), [this] { advance(); }),
      in_flight_(session.host().loop(), output_, [this] { advance(); }),
      waits_(session.host().loop(), in_flight_),
      look_again_(session.host().loop()),
      operations_(session.servers(), session.caller(), in_flight_, waits_) {
    session_.caller().set_notification_handler(
        [this](const std::string& server, const std::string& method, std::string_view params) {
            output_.notification(server, method, params);
            waits_.on_notification(server, method);
        });
}

Batch::~Batch() {
    session_.caller().set_notification_handler({});
}

int Batch::run() {
    input_.begin([this] {
        take_lines();
        advance();
    });
    // An answer that cannot be delivered is worth no further request.
    session_.wait([this] { return (done_ && output_.written()) || output_.lost(); },
                  [this] { interrupt(); });
    const bool interrupted = session_.was_interrupted();
    if (!interrupted) session_.tell_rules_without_tools();
    session_.close();  // requests that are left end while we are here to be told
    for (const auto& id : in_flight_.ids()) in_flight_.fail(id, kInterruption);
    if (!barrier_.empty()) output_.error(barrier_, kInterruption);
    output_.finish(kLastWords);
    if (interrupted) return kInterrupted;
    const bool failed =
        in_flight_.any_lacking() || input_.failed() || output_.told_errors() || output_.lost();
    return failed ? kFailure : kOk;
}

// Nothing more is started, the servers are told to stop, and every request is answered.
void Batch::interrupt() {
    input_.stop();
    for (const auto& id : in_flight_.ids()) {
        const auto* request = in_flight_.find(id);
        if (request && request->call)
            session_.host().router().cancel(request->call, kInterruption.message);
        else
            in_flight_.fail(id, kInterruption);  // it waits for servers, whose end is no answer
    }
    session_.host().interrupt();
}

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
    const auto value =
        parse_json(text, name_of_line(number), session_.host().config().limits.json_depth);
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
    if (!operations_.accepts(line)) return;
    if (text_of(*members, "op") != "barrier") return operations_.start(line);
    in_flight_.forget(id);  // it would wait for itself; advance() answers it
    barrier_ = id;
}

void Batch::refuse_line(const std::string& id, const Error& error) {
    output_.line_error(id, error, input_.line_number());
}

void Batch::advance() {
    if (done_ || output_.lost() || session_.was_interrupted()) return;
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
            session_.host().router().cancel(request->call, "the batch is over");
        }
    }
}

}  // namespace patchbay::app
