#include "app/named_thing.hpp"

#include "app/distant_host.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/server_wait.hpp"
#include "core/json.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace patchbay::app {
using service::Kind;
using service::NamedThing;
using service::ThingList;

namespace {

ThingList list_as_they_are(Session& session, Kind kind) {
    std::optional<ThingList> listed;
    const auto listing = session.asked().list_things(
        kind, {}, Which::AsTheyAre, [&](ThingList list) { listed = std::move(list); });
    session.wait([&] { return listed.has_value(); }, [&] { listing->cut_short(); });
    return listed.value_or(ThingList());
}

// The thing that a verb is about, or what it ends with: then why was reported.
using Meant = std::variant<NamedThing, int>;

bool shows_kept(const ThingList& listed) {
    return std::any_of(listed.heard.begin(), listed.heard.end(),
                       [](const auto& each) { return each.standing.recalled; });
}

// The one server that has it by what they listed before, where all have told.
std::optional<std::string> known_owner(const ThingList& listed, Kind kind,
                                       const std::string& name) {
    const auto servers = service::offering(listed, kind, name);
    if (servers.size() != 1 || !listed.errors.empty() || !shows_kept(listed)) return {};
    return servers.front();
}

// What counts is what that server lists when it is asked; nothing: that no more.
std::optional<NamedThing> as_listed_now(Session& session, Kind kind, const std::string& name,
                                        const std::string& server) {
    if (kind == Kind::Resources) return NamedThing{server, {}};
    const auto listed = list_things(session, kind, server, Which::Connect);
    auto found = service::find_thing_of(listed, kind, name, server);
    if (!found || !found->definition) return {};
    return std::move(*found);
}

// The thing of this name, from the one server that has it: for that, all have to answer (things.hpp
// says why), as long as the time-outs of their start and of the list let them.
Meant find_thing(Session& session, Kind kind, const std::string& name) {
    std::vector<std::string> offering;  // by now
    bool hinted = false;
    const auto look = [&](const ThingList& so_far) {
        offering = service::offering(so_far, kind, name);
        if (offering.size() != 1 || session.global().quiet || std::exchange(hinted, true)) return;
        say("note: server \"" + offering.front() + "\" lists it, and others may; --server " +
            offering.front() + " does not wait for them");
    };
    const auto list = [&](Which which) {
        offering.clear();  // what was kept is not what is listed now
        return list_things(session, kind, "", which, look, [&] { return offering.size() > 1; });
    };
    auto listed = list(Which::Known);
    if (session.was_interrupted()) return session.report({ErrorCode::Cancelled, "interrupted"});
    if (auto owner = known_owner(listed, kind, name)) {
        if (auto found = as_listed_now(session, kind, name, *owner)) return std::move(*found);
    }
    if (shows_kept(listed)) listed = list(Which::Connect);
    if (std::any_of(listed.errors.begin(), listed.errors.end(),
                    [](const auto& each) { return asks_better_alone(each.error); })) {
        session.ask_own();
        listed = list(Which::Connect);
    }
    if (session.was_interrupted()) return session.report({ErrorCode::Cancelled, "interrupted"});
    if (auto found = service::find_thing(listed, kind, name)) {
        if (*found) return std::move(**found);
        if (found->error().code == ErrorCode::Unavailable)
            for (const auto& each : listed.errors) say("error: " + each.error.message);
        return session.report(found->error());
    }

    session.troubles().tell_all();
    const auto& servers = session.servers();
    if (servers.connections().ids().empty()) return session.report_missing(servers.nobody_to_ask());
    if (listed.answered == 0 && !listed.errors.empty())
        return session.report(service::nobody_answered(listed.errors));
    // It may be a server that is not there which has it, or one that may not be asked.
    for (const auto* errors : {&listed.errors, &listed.denied})
        for (const auto& each : *errors) say("error: " + each.error.message);
    if (kind == Kind::Resources) {
        const auto templates = list_as_they_are(session, Kind::Templates);
        if (const auto explained = service::explained_by_template(templates, name))
            return session.report(*explained);
    }
    return session.report_missing(servers.missing(service::not_listed(listed, kind, name), {}));
}

// A prompt by the name that clients of `serve` have for it, mcp__SERVER__PROMPT. One whose own name that is comes first.
std::optional<NamedThing> by_public_name(Session& session, Kind kind, const std::string& name,
                                         const std::string& server) {
    if (kind != Kind::Prompts || !name.starts_with("mcp__")) return {};
    for (const auto& owner : protocol::servers_for(name, session.host().connections().ids())) {
        if (!server.empty() && owner != server) continue;
        const auto list = list_things(session, kind, owner, Which::Connect);
        if (session.was_interrupted()) return {};
        if (!service::offering(list, kind, name).empty()) return {};
        for (const auto& thing : list.things)
            if (const auto own = core::text_in(&thing.definition, "name");
                own && protocol::public_name(owner, *own) == name)
                return NamedThing{owner, thing.definition};
    }
    return {};
}

Meant thing_of(Session& session, Kind kind, const std::string& name, const std::string& server) {
    if (auto found = by_public_name(session, kind, name, server)) return std::move(*found);
    if (server.empty()) return find_thing(session, kind, name);
    // A URI may be read though no list has it, and nothing but the server is needed for that.
    if (kind == Kind::Resources) return NamedThing{server, {}};
    const auto listed = list_things(session, kind, server, Which::Connect);
    if (session.was_interrupted()) return session.report({ErrorCode::Cancelled, "interrupted"});
    auto found = service::find_thing_of(listed, kind, name, server);
    if (!found) return session.report(found.error());
    return std::move(*found);
}

}  // namespace

ThingList list_things(Session& session, Kind kind, const std::string& server, Which which,
                      const std::function<void(const ThingList& so_far)>& show,
                      std::function<bool()> enough) {
    std::optional<ThingList> listed;
    const auto listing = session.asked().list_things(
        kind, server, which, [&](ThingList list) { listed = std::move(list); });
    Meanwhile meanwhile{nullptr, std::move(enough)};
    if (show) meanwhile.show = [&] { show(listing->so_far()); };
    wait_for(session,
             {listing->silent().size(),
              [&] { return listed ? std::vector<std::string>() : listing->silent(); },
              [&] { return listed.has_value(); }, [&] { listing->cut_short(); }},
             meanwhile);
    return listed ? std::move(*listed) : listing->so_far();
}

void ask_who_runs(Session& session, const std::string& server) {
    if (auto line = look_for_host(session, Guest::Person))
        session.ask(std::make_unique<DistantHost>(session.servers(), std::move(line),
                                                  session.approval_asker()));
    else if (server.empty())
        session.host().recall_lists();
    else
        session.host().recall_lists({server});
}

bool asks_better_alone(const Error& error) {
    return error.code == ErrorCode::AuthRequired &&
           whoever_is_there() != auth::Person::Presence::Nobody;
}

int with_thing(const GlobalOptions& global, Kind kind, const std::string& name,
               const std::string& server,
               const std::function<int(Session&, const NamedThing&)>& then) {
    const auto session = Session::open(global, Session::Life::OneShot, whoever_is_there());
    if (!session) return kConfigError;
    session->troubles().tell_those_of({server});
    if (!session->servers().has(server)) return session->report_no_server(server);
    ask_who_runs(*session, server);
    const auto meant = thing_of(*session, kind, name, server);
    const auto* thing = std::get_if<NamedThing>(&meant);
    return thing ? then(*session, *thing) : std::get<int>(meant);
}

}  // namespace patchbay::app
