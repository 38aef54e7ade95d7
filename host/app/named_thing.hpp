// Which server has the resource or prompt of a name, and the lists that say so, for the verbs about one.
//
// Threads: [loop]; waits for servers.
// Errors:  reported here, with the exit code that the verb ends with.
#pragma once

#include "app/session.hpp"
#include "core/result.hpp"
#include "service/things.hpp"

#include <functional>
#include <string>

namespace patchbay::app {

using Which = service::ThingListing::Servers;

// Of `server`, or of all; each that is asked is so as soon as it is there. `show` and `enough` as in
// Meanwhile; without `show` all of them are waited for.
service::ThingList list_things(
    Session& session, service::Kind kind, const std::string& server, Which which,
    const std::function<void(const service::ThingList& so_far)>& show = {},
    std::function<bool()> enough = {});
// Without a host that runs, what is known of `server`, of all when empty, without asking.
void ask_who_runs(Session& session, const std::string& server);
// A running host asks nobody to sign in; here somebody is.
bool asks_better_alone(const Error& error);
// What `then` returns of the thing of this name, in a session that was opened for it.
int with_thing(const GlobalOptions& global, service::Kind kind, const std::string& name,
               const std::string& server,
               const std::function<int(Session&, const service::NamedThing&)>& then);

}  // namespace patchbay::app
