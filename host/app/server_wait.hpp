// How a verb waits for servers: with a progress line on a terminal, and a word on stderr of whom it waits
// for when they take their time.
//
// Threads: [loop]. Each ends early when the session is interrupted.
#pragma once

#include "app/session.hpp"
#include "service/tools.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace patchbay::app {

// When most of many servers have answered, nobody has for kPatience, and some are silent still, `meanwhile`
// shows what is there, and once more when more have answered. Who is waited for is told on stderr, unless
// there is enough.
struct Meanwhile {
    std::function<void()> show{};    // none: nothing is told before all have answered
    std::function<bool()> enough{};  // that nobody else need be waited for; none: never
    bool is_enough() const { return enough && enough(); }
};
inline constexpr std::chrono::milliseconds kPatience{1000};
// The same where there is but one to wait for, with nothing to show before.
inline constexpr std::chrono::milliseconds kPatienceWithOne{5000}, kPatienceAgain{10'000};

// Servers that are on their way, for whatever was asked of them.
struct OnTheirWay {
    std::size_t count;
    std::function<std::vector<std::string>()> silent;  // of which nothing is known yet
    std::function<bool()> done;
    std::function<void()> interrupted;
    std::size_t known = 0;  // others that the same question is about, and nobody waits for
};

void wait_for(Session& session, const OnTheirWay& servers, const Meanwhile& meanwhile = {});
// As Session::wait, for something of `server`; that this takes its time to start is told once.
bool wait_for(Session& session, const std::string& server, const std::function<bool()>& done);
// Connects these servers, all when empty. Interrupted, it leaves them as they are: what is known by then is
// worth telling.
void connect(Session& session, const std::vector<std::string>& servers,
             const Meanwhile& meanwhile = {});
// The same of what tools they have, which are asked anew or only where that is not known; of as many others it is
// `known` without that.
void ask_for_tools(Session& session, const std::vector<std::string>& servers, service::Ask ask,
                   std::size_t known, const Meanwhile& meanwhile = {});
// With -v: of which servers it is shown what they listed before, and since when that is known. `ask`: as they were
// asked.
void tell_when_listed(const std::vector<service::Heard>& heard, service::Ask ask,
                      const GlobalOptions& global);
// Rules that match no tool of the servers that have listed theirs by now.
void tell_rules_without_tools(const Session& session);

}  // namespace patchbay::app
