#include "app/wanted_entry.hpp"

#include "app/serve_words.hpp"
#include "app/server_edit.hpp"
#include "core/program.hpp"
#include "core/text.hpp"
#include "gateway/access/listening.hpp"
#include "http/address.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// What a client is to start: the short name where PATH leads to this very program.
Result<std::string> command_for(const config::Environment& environment) {
    const auto self = self_path();
    if (self.empty())
        return Error{ErrorCode::NotFound,
                     "the program that is running is not on the disk any more; start it anew"};
    if (!core::valid_utf8(self))
        return invalid("the path of patchbay is not UTF-8, and a client could not be told of it");
    const auto path = environment.variable ? environment.variable("PATH") : std::nullopt;
    const auto found =
        core::find_on_path("patchbay", path ? std::string_view(*path) : core::kDefaultPath, {});
    if (found && found->starts_with('/') && core::behind_links(*found) == self) return "patchbay";
    return self;
}

// A client that is given what it cannot open says so much later, in words of its own.
Result<void> check_url(const std::string& url) {
    const bool web = url.starts_with("http://") || url.starts_with("https://");
    const auto host = web ? url.substr(url.find("//") + 2) : std::string();
    const auto slash = host.find('/');
    const std::string example =
        "; expected what `patchbay serve --http` prints, like http://127.0.0.1:8808/mcp, "
        "http://[::1]:8808/mcp/AGENT or https://mcp.example.com/mcp";
    if (url.starts_with("unix:"))
        return invalid("--http: no client here takes a Unix socket in place of a URL" + example);
    if (!web || host.empty() || slash == 0)
        return invalid("--http: \"" + core::printable(url, 80) + "\" is no URL" + example);
    if (host.substr(0, slash).find('@') != std::string::npos)
        return invalid(
            "--http: a URL with a user or a password would stand in the client's file; "
            "patchbay asks for none");
    if (slash == std::string::npos || slash + 1 == host.size())
        return invalid("--http: " + core::printable(url, 80) + " has no path" + example);
    return {};
}

// None that looks like a token of ours, which such a name could be.
bool is_variable(const std::string& name) {
    constexpr std::size_t kMostBytes = 64;
    return name.size() <= kMostBytes && !(name[0] >= '0' && name[0] <= '9') &&
           std::all_of(name.begin(), name.end(),
                       [](unsigned char c) { return c < 0x80 && (std::isalnum(c) || c == '_'); });
}

// The client looks the token up where it runs: it stands in no file.
Result<void> use_token(const KnownClient& client, const WantedEntry& wanted, Launch& launch) {
    if (wanted.token_env.empty()) return {};
    if (!is_variable(wanted.token_env))
        return invalid(
            "--token-env takes the name of a variable that has the token where the client is "
            "started, like PATCHBAY_TOKEN; a token itself is not written into a file");
    if (!client.reference)
        return Error{ErrorCode::Unsupported,
                     std::string(client.title) +
                         " has no word in its file for a variable; without --token-env the entry "
                         "is written, and the header \"Authorization: Bearer TOKEN\" is yours to "
                         "add as its documentation says: " +
                         client.source};
    std::string reference = client.reference;
    reference.replace(reference.find('*'), 1, wanted.token_env);
    launch.token_variable = wanted.token_env;
    launch.authorization = "Bearer " + reference;
    return {};
}

// Beside PATH and HOME, which every client hands on, those that decide which files are read and where a host
// that runs is met. PATCHBAY_CONFIG_JSON is a configuration itself, and may hold what belongs in no file of another.
constexpr const char* kPlaces[] = {"XDG_CONFIG_HOME",     "XDG_STATE_HOME",  "XDG_DATA_HOME",
                                   "XDG_DATA_DIRS",       "XDG_RUNTIME_DIR", "PATCHBAY_CONFIG",
                                   "PATCHBAY_PLUGIN_PATH"};

// One file: the client may start us elsewhere.
std::string wherever_started(const std::string& name, const std::string& value,
                             const config::Environment& environment) {
    return name == "PATCHBAY_CONFIG" && !value.starts_with('/')
               ? environment.working_directory + "/" + value
               : value;
}

Result<void> add_places(const KnownClient& client, const config::Environment& environment,
                        json::object& entry) {
    json::object places;
    for (const auto& name : dropped_variables(client, environment)) {
        const auto value = wherever_started(name, *environment.variable(name), environment);
        if (!core::valid_utf8(value))
            return invalid("the value of " + name + " is not UTF-8, and " + client.title +
                           ", which hands no such variable on, could not be told of it");
        places[name] = value;
    }
    if (!places.empty()) entry[client.words.env] = std::move(places);
    return {};
}

}  // namespace

std::vector<std::string> dropped_variables(const KnownClient& client,
                                           const config::Environment& environment) {
    std::vector<std::string> names;
    if (!client.words.drops_variables || !environment.variable) return names;
    for (const char* name : kPlaces)
        if (const auto value = environment.variable(name); value && !value->empty())
            names.emplace_back(name);
    return names;
}

// On this machine nobody else hears it.
bool WantedEntry::goes_in_the_clear() const {
    if (!url.starts_with("http://")) return false;
    const auto parsed = gateway::parse_web_url(url);
    return !parsed || !http::names_this_machine(parsed->host);
}

std::string self_path() {
    return core::behind_links("/proc/self/exe");
}

Result<json::object> entry_for(const KnownClient& client, const WantedEntry& wanted,
                               const config::Environment& environment) {
    Launch launch{wanted.name, {}, {"serve"}, {}, {}};
    if (!wanted.url.empty()) {
        if (!client.url)
            return Error{
                ErrorCode::Unsupported,
                std::string(client.title) +
                    " takes no URL from its file; without --http it starts patchbay itself"};
        if (!wanted.serve.empty())
            return invalid(
                "options behind -- are for the `patchbay serve` that the client starts; with "
                "--http it starts none");
        if (auto fine = check_url(wanted.url); !fine) return fine.error();
        if (auto fine = use_token(client, wanted, launch); !fine) return fine.error();
        return client.url(launch, wanted.url);
    }
    const auto more = serve_words(wanted.serve, environment.working_directory);
    if (!more) return more.error();
    auto command = command_for(environment);
    if (!command) return command.error();
    launch.command = std::move(*command);
    launch.arguments.insert(launch.arguments.end(), more->begin(), more->end());
    auto entry = client.program(launch);
    if (!wanted.project)
        if (auto added = add_places(client, environment, entry); !added) return added.error();
    return entry;
}

}  // namespace patchbay::app
