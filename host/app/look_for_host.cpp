#include "app/look_for_host.hpp"

#include "app/configuration_digest.hpp"
#include "app/meeting_point.hpp"
#include "app/output.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::app {

namespace {

// Why this command has its own, whoever runs; empty: it need not.
std::string why_alone(const Session& session, Fit fit) {
    const auto& global = session.global();
    const char* variable = std::getenv("PATCHBAY_ALONE");
    if (global.alone) return "--alone";
    const std::string_view text = variable ? variable : "";
    if (!text.empty() && text != "0") return "PATCHBAY_ALONE is set";
    if (fit == Fit::Any) return {};  // it could not do with one of its own
    // What a running host logs is not on this terminal.
    if (!global.log_level.empty() && core::log::enabled(core::log::Level::Info))
        return "--log-level " + global.log_level + " is about a host of its own";
    if (session.host().config().client.elicitation == "ask" &&
        whoever_is_there() != auth::Person::Presence::Nobody)
        return "[client] elicitation = \"ask\" is for this terminal";
    return {};
}

std::chrono::milliseconds patience(Fit fit, bool quiet) {
    if (fit == Fit::Any) return kLongPatience;
    const char* said = std::getenv("PATCHBAY_HOST_PATIENCE_MS");
    const std::string_view text = said ? said : "";
    int milliseconds = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    if (whole && milliseconds > 0) return std::chrono::milliseconds(milliseconds);
    if (!text.empty() && !quiet)
        say("warning: PATCHBAY_HOST_PATIENCE_MS: \"" + core::printable(text, 40) +
            "\" is no number of milliseconds from 1; " + std::to_string(kHostPatience.count()) +
            " count");
    return kHostPatience;
}

void say_more(const Session& session, const std::string& text) {
    if (session.global().verbose) say(text);
}

std::string name_of(const Welcome& host) {
    return "the running host (pid " + std::to_string(host.pid) + ", since " + host.since + ")";
}

// For who asks for the state; by what it runs where that is not what the files say, or is asked for.
void say_how_it_runs(const Session& session, const Welcome& host, bool by_what) {
    if (session.global().quiet) return;
    if (by_what && host.configuration > 1)
        say("note: " + name_of(host) + " runs by configuration " +
            std::to_string(host.configuration));
    if (!host.looks_because.empty())
        say("note: it looks for changes of its files each 2 s, since " + host.looks_because);
}

// That it goes on; why was told already where it is a fault of what this command has read.
void say_that_it_goes_on(const Session& session, const Welcome& host) {
    const auto& told = session.host().config().diagnostics;
    const bool known = std::any_of(told.begin(), told.end(), [&](const auto& each) {
        return each.severity == config::Severity::Error &&
               host.kept.find(each.message) != std::string::npos;
    });
    say("warning: " + name_of(host) + " goes on with what it ran by before" +
        (known ? "" : ": " + host.kept));
}

// Why a host that runs in `folder` by something else does.
std::string why_another(const Session& session, const Welcome& host, const std::string& folder) {
    if (!host.next_start.empty())
        return "has another value of " + host.next_start + ", which counts when it is started anew";
    const bool above = folder != environment_of(session.global()).working_directory;
    if (!above || !minds_the_folder(*session.host().snapshot()))
        return "runs by another configuration";
    return "runs in " + folder +
           ", and here a local server without `cwd`, or a relative root, is of the folder that it "
           "is started in";
}

// Of all folders in which a host may run that this command could ask, the nearest first.
std::vector<std::pair<std::string, MeetingPoint>> meeting_points(const Session& session) {
    const auto environment = environment_of(session.global());
    std::vector<std::pair<std::string, MeetingPoint>> points;
    for (const auto& folder : meeting_folders(environment))
        points.emplace_back(
            folder,
            MeetingPoint(runtime_folder(environment),
                         meeting_key(environment, session.global().plugin_directories, folder)));
    return points;
}

struct Looked {
    std::unique_ptr<HostLine> line;
    std::string why_not;             // the one that is there did not do
    std::optional<Error> not_shown;  // what a client is to be shown it does not show
};

// The host of `folder` at `place`, if it may be used.
std::unique_ptr<HostLine> greet(const Session& session, const MeetingPoint& place,
                                const std::string& folder, core::Descriptor socket,
                                const Hello& hello, Fit fit, Looked& looked) {
    auto line = HostLine::open(session.host().loop(), place, std::move(socket), hello,
                               patience(fit, session.global().quiet));
    if (!line) {
        looked.why_not = line.error().message;
        const auto code = line.error().code;
        if (hello.as == Guest::Client &&
            (code == ErrorCode::NotFound || code == ErrorCode::Denied)) {
            looked.not_shown = line.error();
            return {};
        }
        const bool to_mend = line.error().code == ErrorCode::Unsupported;
        if (session.global().verbose || (to_mend && !session.global().quiet))
            say("note: the running host at " + place.path() +
                " is not asked: " + line.error().message);
        return {};
    }
    const auto& host = (*line)->welcome();
    if (host.version != PATCHBAY_VERSION) {
        looked.why_not = "it is patchbay " + host.version + "; end it and start it anew";
        if (!session.global().quiet)
            say("note: " + name_of(host) + " is patchbay " + host.version +
                " and is not asked; end it and start it anew");
        return {};
    }
    if (!host.kept.empty() && fit != Fit::Exactly) {
        if (!session.global().quiet) say_that_it_goes_on(session, host);
        if (fit == Fit::EvenIfKept) say_how_it_runs(session, host, true);
        return std::move(*line);
    }
    // Who turns a server of it, or looks at it, may wonder why nothing else does as it does.
    const bool to_tell = fit == Fit::Any || (fit == Fit::EvenIfKept && !host.next_start.empty());
    if (!host.fits && to_tell && !session.global().quiet)
        say("note: " + name_of(host) + " " + why_another(session, host, folder) +
            ": commands that could do without it do not ask it, and bring up servers of their own");
    if (!host.fits && fit != Fit::Any) {
        // The states that `mcp list` tells are its own.
        if (!host.kept.empty() && !session.global().quiet)
            say("note: " + name_of(host) +
                " is not asked: it goes on with what it ran by before; `patchbay mcp list` shows "
                "that");
        else
            say_more(session, name_of(host) + " " + why_another(session, host, folder) +
                                  ", and is not asked");
        return {};
    }
    if (fit == Fit::EvenIfKept) say_how_it_runs(session, host, session.global().verbose);
    say_more(session, name_of(host) + " is asked");
    return std::move(*line);
}

// The nearest first: above, a host counts where no server minds in which folder it runs, or for what is
// turned there.
Looked look(Session& session, Guest as, Fit fit, const Shown& shown) {
    Looked looked;
    if (const auto why = why_alone(session, fit); !why.empty()) {
        say_more(session, "no running host is asked: " + why);
        return {};
    }
    const auto environment = environment_of(session.global());
    std::optional<Hello> hello;
    for (const auto& [folder, place] : meeting_points(session)) {
        auto socket = place.connect();
        if (!socket) {
            // What others could have put there is worth a word, what this user just cannot reach is
            // not.
            const auto code = socket.error().code;
            const bool to_mend = (code == ErrorCode::Denied || code == ErrorCode::Invalid) &&
                                 !session.global().quiet;
            if (to_mend || session.global().verbose)
                say("warning: no running host is asked: " + socket.error().message);
            looked.why_not = socket.error().message;
            return looked;
        }
        if (socket->get() < 0) continue;
        if (!hello)
            hello = Hello{PATCHBAY_VERSION, as,
                          configuration_digest(*session.host().snapshot(), environment), shown,
                          session.approving()};
        looked.line = greet(session, place, folder, std::move(*socket), *hello, fit, looked);
        if (looked.line || looked.not_shown) return looked;
    }
    if (!hello) say_more(session, "no host runs for this folder and configuration");
    return looked;
}

// Also one that nobody finds at its socket; not one that is ending.
bool somebody_runs(const Session& session) {
    for (const auto& [folder, place] : meeting_points(session)) {
        const auto holder = place.holder();
        if (holder && *holder && !(*holder)->ending) return true;
    }
    return false;
}

// Who has the lock runs, though nobody finds it, or it answers nobody.
std::string why_nobody(const Session& session, const Looked& looked) {
    if (const auto why = why_alone(session, Fit::Any); !why.empty())
        return "no running host is asked: " + why + "; leave that away";
    for (const auto& [folder, place] : meeting_points(session)) {
        const auto holder = place.holder();
        if (!holder) return "no running host is asked: " + holder.error().message;
        if (!*holder) continue;
        const auto pid = std::to_string((*holder)->pid);
        const auto name = "the host (pid " + pid + ")";
        if ((*holder)->ending)
            return name + " is ending; `patchbay run` waits for that, and starts another";
        if (const auto socket = place.connect(); socket && socket->get() < 0)
            return name + " is not at its socket " + place.path() +
                   "; where it was removed, `kill -HUP " + pid + "` has it make another";
        return name + " is not asked: " +
               (looked.why_not.empty() ? "it does not answer" : looked.why_not) + "; `kill " + pid +
               "` ends it, `kill -KILL " + pid + "` one that hangs";
    }
    return looked.why_not.empty()
               ? "no host runs for this folder and configuration; `patchbay run` starts one"
               : "no running host is asked: " + looked.why_not;
}

}  // namespace

std::unique_ptr<HostLine> look_for_host(Session& session, Guest as, Fit fit) {
    return look(session, as, fit, {}).line;
}

Result<std::unique_ptr<HostLine>> host_for_client(Session& session, const Shown& shown) {
    auto looked = look(session, Guest::Client, Fit::Exactly, shown);
    if (looked.not_shown)
        return within("the running host",
                      {looked.not_shown->code,
                       looked.not_shown->message + "; with --alone serve has one of its own"});
    return std::move(looked.line);
}

Result<std::unique_ptr<HostLine>> running_host(Session& session, Guest as) {
    auto looked = look(session, as, Fit::Any, {});
    if (looked.line) return std::move(looked.line);
    return Error{ErrorCode::Unavailable, why_nobody(session, looked)};
}

Result<std::unique_ptr<HostLine>> host_if_any(Session& session, Guest as) {
    auto looked = look(session, as, Fit::Any, {});
    if (looked.line) return std::move(looked.line);
    if (!why_alone(session, Fit::Any).empty()) return std::unique_ptr<HostLine>();
    if (looked.why_not.empty() && !somebody_runs(session)) return std::unique_ptr<HostLine>();
    return Error{ErrorCode::Unavailable, why_nobody(session, looked)};
}

namespace {

// Another connection to the same host; null: nobody greets there.
std::unique_ptr<HostLine> beside(core::Loop& loop, const HostLine& other,
                                 std::chrono::milliseconds most) {
    auto socket = other.place().connect();
    if (!socket || socket->get() < 0) return {};
    auto line = HostLine::open(loop, other.place(), std::move(*socket),
                               {PATCHBAY_VERSION, Guest::Person, {}, {}, {}}, most);
    return line ? std::move(*line) : std::unique_ptr<HostLine>();
}

}  // namespace

bool still_answers(const Session& session, const HostLine& other) {
    return beside(session.host().loop(), other, kAlive) != nullptr;
}

bool tell_guest(core::Loop& loop, const HostLine& other, const std::string& op,
                const std::string& members, std::chrono::milliseconds most) {
    const auto line = beside(loop, other, most);
    if (!line) return false;
    bool answered = false;
    line->listen([&](std::string_view) { answered = true; }, [] {});
    line->put("{\"id\":1,\"op\":\"" + op + "\",\"guest\":" + std::to_string(other.welcome().guest) +
              members + "}");
    line->read_until([&] { return answered; }, most);
    return answered;
}

void interrupt_guest(const Session& session, const HostLine& other, const std::string& why) {
    tell_guest(session.host().loop(), other, "host/interrupt", ",\"why\":" + protocol::quoted(why),
               kHostPatience);
}

}  // namespace patchbay::app
