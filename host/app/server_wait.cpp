#include "app/server_wait.hpp"

#include "app/output.hpp"
#include "core/text.hpp"
#include "core/timer.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace patchbay::app {

namespace {

constexpr std::size_t kNamed = 10;

// Those of `servers`, all when empty, of which nothing is known yet.
std::vector<std::string> silent_of(const Session& session,
                                   const std::vector<std::string>& servers) {
    std::vector<std::string> silent;
    for (const auto& status : session.asked().statuses()) {
        const bool meant = servers.empty() ||
                           std::find(servers.begin(), servers.end(), status.id) != servers.end();
        if (meant && service::undecided(status)) silent.push_back(status.id);
    }
    return silent;
}

// " (12 s of 60 s)", with what it said last if it said anything.
std::string how_far(const std::optional<connection::Starting>& starting) {
    if (!starting || starting->queued) return {};
    if (!starting->last_said.empty()) return " (" + connection::to_string(*starting) + ")";
    const auto taken = std::chrono::floor<std::chrono::seconds>(starting->taken);
    if (taken.count() < 1) return {};
    const auto limit = starting->limit.count() > 0 ? " of " + core::duration(starting->limit) : "";
    return " (" + core::duration(taken) + limit + ")";
}

void say_waiting_for(const Session& session, const std::vector<std::string>& silent) {
    if (silent.empty() || session.global().quiet) return;
    std::vector<std::string> named;
    for (const auto& status : session.asked().statuses()) {
        if (named.size() == kNamed) break;
        if (std::find(silent.begin(), silent.end(), status.id) != silent.end())
            named.push_back(status.id + how_far(status.starting));
    }
    say("waiting for " + core::join(named, ", ") +
        (silent.size() > kNamed ? " and " + std::to_string(silent.size() - kNamed) + " more" : "") +
        " ...");
}

struct Count {
    std::size_t asked, known = 0;
};

void bring(Session& session, const std::vector<std::string>& servers, Count count,
           const std::function<void(std::function<void()> settled)>& begin,
           const Meanwhile& meanwhile) {
    // Told at the latest when the servers are closed, which is after this has returned.
    const auto settled = std::make_shared<bool>(false);
    begin([settled] { *settled = true; });
    wait_for(session,
             {count.asked, [&] { return silent_of(session, servers); },
              [&] { return *settled || session.was_interrupted(); }, [] {}, count.known},
             meanwhile);
}

}  // namespace

bool wait_for(Session& session, const std::string& server, const std::function<bool()>& done) {
    // Once more where there is something new to tell, as of a program that is still being fetched.
    core::Timer silence(session.host().loop());
    const std::function<void()> tell = [&] {
        say_waiting_for(session, silent_of(session, {server}));
        silence.start(kPatienceAgain, tell);
    };
    silence.start(kPatienceWithOne, tell);
    return session.wait(done);
}

void wait_for(Session& session, const OnTheirWay& servers, const Meanwhile& meanwhile) {
    ProgressLine line;
    const auto count = servers.count;
    if (!session.global().quiet)
        line.show("connecting to " + std::to_string(count) +
                  (count == 1 ? " server ..." : " servers ..."));
    auto& loop = session.host().loop();
    // Two looks that find as many silent ones are the patience.
    core::Loop::TimerId next = 0;
    std::size_t seen = count + servers.known, told = seen;
    const std::function<void()> look = [&] {
        const auto silent = servers.silent();
        if (silent.size() == seen && seen != told && !silent.empty()) {
            told = seen;
            line.clear();
            meanwhile.show();
            if (!meanwhile.is_enough()) say_waiting_for(session, silent);
        }
        seen = silent.size();
        next = loop.after(kPatience, look);
    };
    const std::function<void()> tell = [&] {
        line.clear();
        say_waiting_for(session, servers.silent());
        next = loop.after(kPatienceAgain, tell);
    };
    if (meanwhile.show && count + servers.known > 1)
        next = loop.after(kPatience, look);
    else
        next = loop.after(kPatienceWithOne, tell);
    session.wait([&] { return servers.done() || meanwhile.is_enough(); }, servers.interrupted);
    loop.cancel(next);
    line.clear();
    if (!session.was_interrupted()) tell_rules_without_tools(session);
}

void connect(Session& session, const std::vector<std::string>& servers,
             const Meanwhile& meanwhile) {
    const auto all = session.host().connections().ids().size();
    bring(
        session, servers, {servers.empty() ? all : servers.size()},
        [&](auto settled) { session.asked().connect(servers, std::move(settled)); }, meanwhile);
}

void ask_for_tools(Session& session, const std::vector<std::string>& servers, service::Ask ask,
                   std::size_t known, const Meanwhile& meanwhile) {
    if (servers.empty()) return tell_rules_without_tools(session);
    bring(
        session, servers, {servers.size(), known},
        [&](auto settled) { session.asked().ask_for_tools(servers, ask, std::move(settled)); },
        meanwhile);
}

// Whoever is shown a list, and may wonder of when that is.
void tell_when_listed(const std::vector<service::Heard>& heard, service::Ask ask,
                      const GlobalOptions& global) {
    std::vector<std::string> told;
    for (const auto& each : heard)
        if (each.standing.recalled)
            told.push_back(each.server + " (" + service::time_of(each.standing.listed) + ")");
    if (!global.verbose || told.empty()) return;
    const auto servers = core::join(told, ", ");
    say(ask == service::Ask::Anew
            ? "as listed before, as they have not answered now: " + servers
            : "as listed before, and not asked now: " + servers + "; --refresh asks the servers");
}

void tell_rules_without_tools(const Session& session) {
    if (session.global().quiet) return;
    for (const auto& warning : session.asked().rule_warnings())
        if (session.first_time(warning)) say(warning);
}

}  // namespace patchbay::app
