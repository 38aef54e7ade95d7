#include "app/host_silence.hpp"
#include "app/line_output.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/error_words.hpp"
#include "core/json.hpp"

#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

struct Asked {
    std::string server, after;
    bool follow = false;
};

// The events of the host that runs, as it tells them, on stdout.
class EventRelay {
public:
    EventRelay(Session& session, HostLine& line)
        : session_(session),
          line_(line),
          out_(
              session.host().loop(), {nullptr, LineOutput::Unread::Waits, session.signals()},
              [this] { advance(); }, [](const std::string&, std::size_t) {}) {}

    int run(const Asked& asked) {
        line_.listen([this](std::string_view line) { take(line); }, [this] { advance(); });
        line_.put(request(asked));
        silence_.begin();
        bool interrupted = false;
        session_.wait([&] { return over() || interrupted; }, [&] { interrupted = true; });
        session_.close();
        out_.finish(kLastWords);
        if (interrupted) return session_.code_of_end();
        if (failure_) return session_.report_missing(*failure_);
        if (answered_ || out_.lost()) return kOk;
        return session_.report({ErrorCode::Unavailable, lost_host(line_)});
    }

private:
    static std::string request(const Asked& asked) {
        json::object members{{"id", 1}, {"op", "events"}};
        if (!asked.server.empty()) members["server"] = asked.server;
        if (!asked.after.empty()) members["after"] = std::stoll(asked.after);
        if (asked.follow) members["follow"] = true;
        return json::serialize(members);
    }

    bool over() const {
        return ((answered_ || silence_.silent() || line_.gone()) && out_.written()) || out_.lost();
    }
    // While nobody reads us the host is not read: it counts what it drops.
    void advance() { line_.pause(out_.crowded()); }

    // What the host says of the one request, without its number.
    void take(std::string_view line) {
        silence_.heard();
        // By the beginnings of our own lines: what is behind them is the host's, and goes on byte by byte.
        constexpr std::string_view kEvent = "{\"id\":1,\"event\":";
        constexpr std::string_view kDropped = "{\"event\":\"dropped\",\"id\":1,";
        constexpr std::string_view kAnew = "{\"event\":\"anew\",\"id\":1,";
        if (line.starts_with(kAnew)) {
            out_.put("{\"event\":\"anew\"," + std::string(line.substr(kAnew.size())));
        } else if (line.starts_with(kEvent)) {
            out_.put("{" + std::string(line.substr(line.find(',') + 1)));
        } else if (line.starts_with(kDropped)) {
            out_.put("{\"event\":\"dropped\"," + std::string(line.substr(kDropped.size())));
        } else if (const auto answer = core::parse_json_object(line);
                   answer && answer->contains("ok")) {
            answered_ = true;
            if (const auto* error = core::object_in(&*answer, "error"))
                failure_ = Error{error_code_from(core::text_in(error, "kind").value_or(""))
                                     .value_or(ErrorCode::Internal),
                                 std::string(core::text_in(error, "message").value_or(""))};
        }
        advance();
    }

    Session& session_;
    HostLine& line_;
    LineOutput out_;
    HostSilence silence_{session_, line_, [] {}};
    bool answered_ = false;
    std::optional<Error> failure_;
};

std::string no_event_number(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed == std::errc() && end == text.data() + text.size() && number >= 0) return {};
    return "\"" + text + "\" is no number of an event";
}

int events_verb(const GlobalOptions& global, const Asked& asked) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    const auto line = running_host(session, Guest::Person);
    if (!line) return session.report(line.error());
    return EventRelay(session, **line).run(asked);
}

}  // namespace

void add_events_verb(CLI::App& app, Choice& choice) {
    const auto asked = std::make_shared<Asked>();
    auto& events = add_verb(
        app, "events", "What happens in the host that runs: JSON Lines, an event each",
        "  patchbay events                      the last ones, as far as they are kept\n  patchbay "
        "events --follow --server x\nEvents have numbers without gaps, for each host from 1; who "
        "does not read fast enough misses some, and is\ntold how many (`dropped`). Behind a number "
        "that this host has not told yet all are, and first `anew`.\nExit code 5: no host runs, or "
        "it has gone; with --follow 130 for Ctrl-C.");
    events.add_flag("-f,--follow", asked->follow, "Go on, with each as it happens");
    take_server(events, asked->server, "Only events of this server");
    events.add_option("--after", asked->after, "Only those behind the one of this number")
        ->check(no_event_number);
    choice.on(events, [asked](const auto& global) { return events_verb(global, *asked); });
}

}  // namespace patchbay::app
