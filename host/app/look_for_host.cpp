#include "app/look_for_host.hpp"

#include "app/configuration_digest.hpp"
#include "app/meeting_point.hpp"
#include "app/output.hpp"
#include "core/log.hpp"
#include "protocol/compose.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::app {

namespace {

// Why this command has its own, whoever runs; empty: it need not.
std::string why_alone(const Session& session) {
    const auto& global = session.global();
    const char* variable = std::getenv("PATCHBAY_ALONE");
    if (global.alone) return "--alone";
    if (variable && *variable) return "PATCHBAY_ALONE is set";
    // What a running host logs is not on this terminal.
    if (!global.log_level.empty() && core::log::enabled(core::log::Level::Info))
        return "--log-level " + global.log_level + " is about a host of its own";
    if (session.host().config().client.elicitation == "ask" &&
        whoever_is_there() != auth::Person::Presence::Nobody)
        return "[client] elicitation = \"ask\" is for this terminal";
    return {};
}

std::chrono::milliseconds patience(Fit fit) {
    if (fit == Fit::Any) return kLongPatience;
    const char* said = std::getenv("PATCHBAY_HOST_PATIENCE_MS");
    const std::string_view text = said ? said : "";
    int milliseconds = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole && milliseconds > 0 ? std::chrono::milliseconds(milliseconds) : kHostPatience;
}

void say_more(const Session& session, const std::string& text) {
    if (session.global().verbose) say(text);
}

std::string name_of(const Welcome& host) {
    return "the running host (pid " + std::to_string(host.pid) + ", since " + host.since + ")";
}

// The host at `place`, if it may be used.
std::unique_ptr<HostLine> greet(const Session& session, const MeetingPoint& place,
                                core::Descriptor socket, const Hello& hello, Fit fit) {
    auto line =
        HostLine::open(session.host().loop(), place, std::move(socket), hello, patience(fit));
    if (!line) {
        const bool to_mend = line.error().code == ErrorCode::Unsupported;
        if (session.global().verbose || (to_mend && !session.global().quiet))
            say("note: the running host at " + place.path() +
                " is not asked: " + line.error().message);
        return {};
    }
    const auto& host = (*line)->welcome();
    if (host.version != PATCHBAY_VERSION) {
        if (!session.global().quiet)
            say("note: " + name_of(host) + " is patchbay " + host.version +
                " and is not asked; end it and start it anew");
        return {};
    }
    if (!host.kept.empty() && fit != Fit::Exactly) {
        if (!session.global().quiet)
            say("warning: " + name_of(host) + " goes on with what it ran by before: " + host.kept);
        return std::move(*line);
    }
    if (!host.fits && fit != Fit::Any) {
        say_more(session, name_of(host) + " runs by another configuration and is not asked");
        return {};
    }
    say_more(session, name_of(host) + " is asked");
    return std::move(*line);
}

}  // namespace

// The nearest first: above, a host counts where no server minds in which folder it runs, or for what is
// turned there.
std::unique_ptr<HostLine> look_for_host(Session& session, Guest as, Fit fit) {
    if (const auto why = why_alone(session); !why.empty()) {
        say_more(session, "no running host is asked: " + why);
        return {};
    }
    const auto environment = environment_of(session.global());
    std::optional<Hello> hello;
    for (const auto& folder : meeting_folders(environment)) {
        const MeetingPoint place(
            runtime_folder(environment),
            meeting_key(environment, session.global().plugin_directories, folder));
        auto socket = place.connect();
        if (!socket) {
            // What others could have put there is worth a word, what this user just cannot reach is
            // not.
            const bool to_mend =
                socket.error().code == ErrorCode::Denied && !session.global().quiet;
            if (to_mend || session.global().verbose)
                say("warning: no running host is asked: " + socket.error().message);
            return {};
        }
        if (socket->get() < 0) continue;
        if (!hello)
            hello = Hello{PATCHBAY_VERSION, as,
                          configuration_digest(*session.host().snapshot(), environment)};
        if (auto line = greet(session, place, std::move(*socket), *hello, fit)) return line;
    }
    if (!hello) say_more(session, "no host runs for this folder and configuration");
    return {};
}

void interrupt_guest(const Session& session, const HostLine& other, const std::string& why) {
    auto socket = other.place().connect();
    if (!socket || socket->get() < 0) return;
    auto line = HostLine::open(session.host().loop(), other.place(), std::move(*socket),
                               {PATCHBAY_VERSION, Guest::Person, {}}, kHostPatience);
    if (!line) return;
    bool answered = false;
    (*line)->listen([&](std::string_view) { answered = true; }, [] {});
    (*line)->put("{\"id\":1,\"op\":\"host/interrupt\",\"guest\":" +
                 std::to_string(other.welcome().guest) + ",\"why\":" + protocol::quoted(why) + "}");
    (*line)->read_until([&] { return answered; }, kHostPatience);
}

}  // namespace patchbay::app
