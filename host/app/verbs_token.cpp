#include "app/entrance.hpp"
#include "app/host.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/text.hpp"
#include "gateway/access/token_file.hpp"
#include "gateway/view.hpp"
#include "protocol/qualified_name.hpp"
#include "service/statuses.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using gateway::Token;
using gateway::TokenFile;

namespace {

struct TokenOptions {
    std::string name, lifetime, bundle;
    std::vector<std::string> servers, tools;
};

TokenFile token_file(const GlobalOptions& global) {
    return TokenFile(default_state_directory(environment_of(global)));
}

std::string expiry_of(const Token& token) {
    if (!token.expires) return "never";
    return (token.expired(core::machine_time().date()) ? "expired " : "") +
           date_text(*token.expires);
}

std::string scope_of(const std::vector<std::string>& list) {
    return list.empty() ? "all" : core::printable(core::join(list, ","), 200);
}

json::object to_json(const Token& token) {
    json::object object{{"name", token.name}, {"created_at", service::time_of(token.created)}};
    if (token.expires) object["expires_at"] = service::time_of(*token.expires);
    for (const auto& [key, list] :
         {std::pair("servers", &token.servers), std::pair("tools", &token.tools)})
        if (!list->empty()) object[key] = json::array(list->begin(), list->end());
    if (!token.bundle.empty()) object["bundle"] = token.bundle;
    return object;
}

bool has_unread(const Session& session) {
    const auto& told = session.host().config().diagnostics;
    return std::any_of(told.begin(), told.end(), [](const auto& each) {
        return each.severity == config::Severity::Error && each.server.empty();
    });
}

// One that is not there is shown to nobody, which is safe and seldom meant.
void warn_of_strangers(const Session& session, const std::vector<std::string>& servers) {
    for (const auto& id : servers)
        if (!session.servers().has(id))
            say("warning: --servers: " + session.servers().no_such_server(id).message);
}

// All tools of these servers as they were listed last, by server and public name; nothing where one was never asked.
using ToolNames = std::vector<std::pair<std::string, std::string>>;
std::optional<ToolNames> tools_of(Host& host, const std::vector<std::string>& ids) {
    host.recall_lists(ids);
    ToolNames names;
    for (const auto& id : ids) {
        const auto listed = host.catalogue().listings().find(id);
        if (listed == host.catalogue().listings().end() || !listed->second->whole) return {};
        for (const auto& tool : listed->second->tools)
            names.emplace_back(id, protocol::public_name(id, tool.name));
    }
    return names;
}

// Patterns that show nothing: that are about none of the servers that the token is for, or fit no tool of theirs.
// `session` null: nobody knows what is configured, and the servers that were named are all that there is to go by.
void warn_of_patterns(Session* session, gateway::View shown, const TokenOptions& options) {
    if (!session && options.servers.empty()) return;
    std::string whose = "any server";
    if (!options.bundle.empty()) whose = "bundle \"" + core::printable(options.bundle, 80) + "\"";
    if (!options.servers.empty()) {
        whose = "--servers " + scope_of(options.servers);
        shown = shown.within(
            {.picked = gateway::View::Ids(options.servers.begin(), options.servers.end())});
    }
    for (const auto& pattern : options.tools) {
        auto view = shown;
        view.tools.push_back({pattern});
        auto meant = session ? session->host().connections().ids() : options.servers;
        std::erase_if(meant, [&](const auto& id) { return !view.holds(id); });
        const auto warn = [&](const std::string& more) {
            say("warning: --tools: \"" + core::printable(pattern, 200) + "\" fits no tool of " +
                whose + more);
        };
        if (meant.empty()) {
            warn(", and shows nothing");
            continue;
        }
        const auto tools = session ? tools_of(session->host(), meant) : std::nullopt;
        if (!tools || std::any_of(tools->begin(), tools->end(), [&](const auto& tool) {
                return view.holds(tool.first, tool.second);
            }))
            continue;
        std::vector<std::string> names;
        for (const auto& [id, name] : *tools) names.push_back(name);
        warn(" as they were listed last, and shows nothing" + core::did_you_mean(pattern, names));
    }
}

// Nothing that the token is for would be in it.
void warn_of_servers_beside(const gateway::View& bundle, const TokenOptions& options) {
    if (options.servers.empty() || std::any_of(options.servers.begin(), options.servers.end(),
                                               [&](const auto& id) { return bundle.holds(id); }))
        return;
    say("warning: --servers: bundle \"" + core::printable(options.bundle, 80) +
        "\" holds none of " + scope_of(options.servers) + ", so that the token shows nothing");
}

// Printed only once it is kept: a token that nobody knows of could not be taken back.
int add(const GlobalOptions& global, const TokenOptions& options) {
    const auto text = gateway::make_token();
    Token token{options.name, gateway::sha256_of_token(text), core::machine_time().date()};
    token.servers = options.servers;
    token.tools = options.tools;
    token.bundle = options.bundle;
    if (!options.lifetime.empty()) {
        const auto lifetime = gateway::parse_lifetime(options.lifetime);
        if (!lifetime) return report(within("--expires", lifetime.error()), global);
        token.expires = token.created + *lifetime;
    }
    // A token without a bundle counts whatever is configured, and however wrong that is.
    std::unique_ptr<Session> session;
    const bool narrowed = !options.servers.empty() || !options.tools.empty();
    if (!options.bundle.empty() || (narrowed && !global.quiet))
        session = Session::open(global, Session::Life::Offline);
    // A bundle that is not there would show nothing, and nobody would be told but who brings the token.
    std::optional<gateway::View> bundle;
    if (!options.bundle.empty()) {
        if (!session) return kConfigError;
        auto found = gateway::view_of_bundle(session->host().config(), options.bundle);
        if (!found) {
            // It may be in a file that cannot be read.
            session->troubles().tell_all();
            const int code = session->report_missing(within("--bundle", found.error()));
            return has_unread(*session) ? int(kConfigError) : code;
        }
        bundle = std::move(*found);
    }
    if (const auto kept = token_file(global).add(token); !kept) return report(kept.error(), global);
    // What a file that cannot be read would say of them nobody knows.
    if (session && has_unread(*session)) {
        session->troubles().tell_all();
    } else if (!global.quiet) {
        if (session) warn_of_strangers(*session, options.servers);
        if (bundle) warn_of_servers_beside(*bundle, options);
        warn_of_patterns(session.get(), bundle.value_or(gateway::View()), options);
    }
    if (global.json) {
        auto told = to_json(token);
        told["token"] = text;
        print_line(json::serialize(told));
        return kOk;
    }
    print_line(text);
    std::fflush(
        stdout);  // alone on stdout, and before the words on it: TOKEN=$(patchbay token add x)
    say("token \"" + token.name +
        "\" is kept as a hash, and shown this once; a client sends it as "
        "\"Authorization: Bearer TOKEN\"; expires: " +
        expiry_of(token));
    return kOk;
}

int list_tokens(const GlobalOptions& global) {
    const auto tokens = token_file(global).read();
    if (!tokens) return report(tokens.error(), global);
    if (!global.quiet && std::any_of(tokens->all().begin(), tokens->all().end(),
                                     [](const Token& token) { return !token.bundle.empty(); })) {
        const Host host(host_options(global));
        // In a file that cannot be read each of them may be.
        print_diagnostics(host.config().diagnostics, global.quiet);
        warn_of_bundles(host.config(), tokens->all());
    }
    if (global.json) {
        json::array all;
        for (const auto& each : tokens->all()) all.push_back(to_json(each));
        print_line(json::serialize(all));
        return kOk;
    }
    if (tokens->all().empty()) {
        say("no token was given out; patchbay token add NAME");
        return kOk;
    }
    std::vector<std::vector<Cell>> rows{
        {{"NAME"}, {"CREATED"}, {"EXPIRES"}, {"SERVERS"}, {"TOOLS"}, {"BUNDLE"}}};
    for (const auto& each : tokens->all())
        rows.push_back({{each.name},
                        {date_text(each.created)},
                        {expiry_of(each)},
                        {scope_of(each.servers)},
                        {scope_of(each.tools)},
                        {each.bundle.empty() ? "none" : core::printable(each.bundle, 80)}});
    print_table(rows);
    return kOk;
}

int remove_token(const GlobalOptions& global, const std::string& name) {
    if (const auto gone = token_file(global).remove(name); !gone)
        return report(gone.error(), global);
    if (global.json)
        print_line(json::serialize(json::object{{"name", name}, {"state", "removed"}}));
    else
        print_line("token \"" + name +
                   "\" is none any more: within a second a gateway that runs lets nobody in with "
                   "it, and what it had open ends");
    return kOk;
}

}  // namespace

void add_token_verbs(CLI::App& app, Choice& choice) {
    const auto options = std::make_shared<TokenOptions>();
    auto& token = add_verb(app, "token", "Who may come to `patchbay serve --http`: add, list, rm",
                           "  patchbay token add laptop\n  patchbay token list\n  patchbay token "
                           "rm laptop");
    token.require_subcommand(1);
    auto& added = add_verb(
        token, "add", "Give out a token: printed once, kept as a hash",
        "  patchbay token add laptop\n  patchbay token add ci --expires 30d --servers git,files "
        "--tools 'mcp__git__*'\n  patchbay token add reviewer --bundle review\nA gateway that runs "
        "knows it at once.");
    added.add_option("NAME", options->name, "What it is called in lists")->required();
    added.add_option("--expires", options->lifetime, "It counts for so long: 30d, 12h, 90m")
        ->type_name("TIME");
    // With commas, as `serve` has them, and also repeated.
    added
        .add_option("--servers", options->servers,
                    "Who brings it is shown these servers alone, by their ids")
        ->type_name("ID,...")
        ->delimiter(',')
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    added
        .add_option("--tools", options->tools,
                    "And of their tools those whose public name one of these matches")
        ->type_name("PATTERN,...")
        ->delimiter(',')
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    added
        .add_option("--bundle", options->bundle,
                    "And no more than the bundle of that name holds, as [bundles.NAME] says; it "
                    "has to be there whenever the token is used")
        ->type_name("BUNDLE");
    choice.on(added, [options](const auto& global) { return add(global, *options); });
    auto& listed = add_verb(token, "list", "List the tokens, without what they are",
                            "  patchbay token list --json");
    choice.on(listed, list_tokens);
    auto& removed = add_verb(
        token, "rm",
        "Take a token back: within a second it counts no more, and what was opened with it ends",
        "  patchbay token rm laptop");
    removed.alias("remove");
    removed.add_option("NAME", options->name, "As it was added")->required();
    choice.on(removed,
              [options](const auto& global) { return remove_token(global, options->name); });
}

}  // namespace patchbay::app
