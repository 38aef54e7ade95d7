// What the files say of servers: of one, and of all in the files of one scope.
#include "app/definitions.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "config/ids.hpp"
#include "config/keys.hpp"
#include "config/show.hpp"

#include <algorithm>
#include <memory>

namespace patchbay::app {
namespace json = boost::json;

namespace {

int get_verb(const GlobalOptions& global, const std::string& id) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_those_of({id});
    const auto* server = server_of(session.host().config(), id);
    if (!server) return session.report_no_server(id);
    const auto shown = config::to_json(*server);
    auto others = definitions_of(id, environment_of(global));
    std::erase_if(others, [&](const auto& each) { return each.place == server->place; });
    if (global.json) {
        json::array told;
        for (const auto& other : others)
            told.push_back({{"scope", config::name_of(other.place.scope)},
                            {"file", other.place.file},
                            {"line", other.place.line},
                            {"adjusts", !other.connects}});
        print_json(json::serialize(json::object{{"id", id},
                                                {"scope", config::name_of(server->place.scope)},
                                                {"file", server->place.file},
                                                {"line", server->place.line},
                                                {"definition", shown},
                                                {"others", std::move(told)}}));
        return kOk;
    }
    std::vector<std::vector<Cell>> rows{{{"written in"}, {config::to_string(server->place)}}};
    for (const auto& member : shown)
        rows.push_back({{std::string(member.key())}, {json::serialize(member.value())}});
    for (const auto& other : others)
        rows.push_back(
            {{other.connects ? "also in" : "adjusted in"}, {config::to_string(other.place)}});
    print_table(rows);
    return kOk;
}

std::string transport_in(const config::ServerEntry& entry) {
    const auto* named = entry.body.find("transport");
    if (named) return config::canonical_transport(named->text);
    if (!config::defines_connection(entry.body)) return "";
    const auto* url = entry.body.find("url");
    return config::transport_for(entry.body.find("command") != nullptr, url ? url->text : "");
}

}  // namespace

int list_of_scope(const GlobalOptions& global, const std::string& scope) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_all();
    auto sources = config::discover(environment_of(global), {});
    config::settle_ids(sources.fragments);
    json::array list;
    std::vector<std::vector<Cell>> rows{{{"ID"}, {"TRANSPORT"}, {"COUNTS"}, {"FILE"}}};
    for (const auto& fragment : sources.fragments) {
        if (config::name_of(fragment.source.scope) != scope) continue;
        for (const auto& entry : fragment.servers) {
            const auto place = fragment.source.place(entry.mark);
            const auto transport = transport_in(entry);
            const auto* server = server_of(session.host().config(), entry.id);
            const bool counts = server && (server->place == place || transport.empty());
            list.push_back({{"id", entry.id},
                            {"transport", transport},
                            {"counts", counts},
                            {"scope", scope},
                            {"file", place.file},
                            {"line", place.line}});
            const std::string how = transport.empty() && counts ? "adjusts" : counts ? "yes" : "no";
            rows.push_back(
                {{entry.id}, {transport}, {how}, {place.file + ":" + std::to_string(place.line)}});
        }
    }
    const auto& diagnostics = session.host().config().diagnostics;
    const bool unread = std::any_of(diagnostics.begin(), diagnostics.end(), [&](const auto& each) {
        return each.severity == config::Severity::Error && each.server.empty() &&
               config::name_of(each.place.scope) == scope;
    });
    if (global.json)
        print_json(json::serialize(list));
    else if (!list.empty())
        print_table(rows);
    else if (!unread)
        say("no file of the " + scope + " scope defines a server");
    return unread ? int(kConfigError) : int(kOk);
}

void add_get_verb(CLI::App& mcp, Choice& choice) {
    const auto id = std::make_shared<std::string>();
    auto& get =
        add_verb(mcp, "get", "One server as it counts, secrets masked, and where it is said",
                 "  patchbay mcp get docs --json");
    get.add_option("ID", *id, "The server")->required();
    choice.on(get, [id](const auto& global) { return get_verb(global, *id); });
}

}  // namespace patchbay::app
