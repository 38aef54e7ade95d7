// `${...}` in settings: once, never nested, at connect time. What a variable holds is never looked
// into again, so a value from outside cannot name another one.
#include "config/approval.hpp"
#include "config/launch.hpp"
#include "config/load.hpp"
#include "config/references.hpp"
#include "config/secret_names.hpp"
#include "config/secrets.hpp"
#include "core/log.hpp"
#include "core/program.hpp"
#include "core/secret_name.hpp"
#include "core/text.hpp"

#include <climits>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace patchbay::config {

namespace {

namespace json = boost::json;

bool is_of_a_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A relative path stands beside the file it is written in; what no file says, where we are.
std::string beside_the_file(const Server& server, const std::string& path,
                            const Environment& environment) {
    if (path.starts_with('/')) return path;
    const auto& file = server.place.file;
    const auto folder =
        file.starts_with('/') ? file.substr(0, file.rfind('/')) : environment.working_directory;
    return folder + "/" + path;
}

// A program named by a path, and the folder to start it in, do not depend on where we are. In a
// table the program is the first of a list.
json::object anchored(json::object settings, const Server& server, const Environment& environment) {
    for (const char* key : {"command", "cwd"}) {
        auto* value = settings.if_contains(key);
        if (value && value->is_array() && !value->get_array().empty())
            value = &value->get_array().front();
        if (!value || !value->is_string()) continue;
        const std::string path(value->get_string());
        const bool program_of_path = key[1] == 'o' && path.find('/') == std::string::npos;
        if (!path.empty() && !program_of_path) *value = beside_the_file(server, path, environment);
    }
    return settings;
}

// What was approved is a file. Since then a link, or an earlier folder of PATH, may lead elsewhere.
// `what`: a server, or an [auth.*] table, as a person reads it; `id`: as it is approved.
Result<json::object> still_approved(json::object settings, const Server& server,
                                    const std::string& what, const std::string& id,
                                    const Environment& environment) {
    const auto launch = config::launch_of(settings);
    if (!server.program || !launch) return settings;
    const auto now = program_of(*launch, environment);
    if (now == server.program) return settings;
    const auto named = [](const std::optional<std::string>& program) {
        return program && !program->empty() ? "\"" + core::printable(*program, PATH_MAX) + "\""
                                            : std::string("no program");
    };
    return Error{ErrorCode::Denied, to_string(server.place) + ": " + what +
                                        ": its command leads to " + named(now) +
                                        " now, approved was " + named(server.program) +
                                        "; to see and approve it: " + trust_command(id)};
}

// Form looks at how references are written: it asks for no variable, reads and runs nothing. Here runs
// nothing either, and goes on past variables and files that are not here, to tell of them all.
enum class Look { Form, Here, Values };

// Where `path` leads, each link on its way followed; nothing: through one of `folders`, which end with
// `/`, or nowhere. What a link there says may change as what a file there holds.
std::optional<std::string> way_around(const std::string& path,
                                      const std::vector<std::string>& folders) {
    constexpr int kMostLinks = 40;
    std::string at;  // behind links
    std::filesystem::path left(path);
    for (int links = 0; !left.empty();) {
        const auto name = left.begin()->string();
        std::filesystem::path rest;
        for (auto each = std::next(left.begin()); each != left.end(); ++each) rest /= *each;
        left = std::move(rest);
        if (name == "/") at.clear();
        if (name == "..") at.resize(std::min(at.rfind('/'), at.size()));
        if (name.empty() || name == "/" || name == "." || name == "..") continue;
        const auto next = at + "/" + name;
        for (const auto& folder : folders)
            if ((next + "/").starts_with(folder)) return {};
        std::error_code no_link;
        const auto target = std::filesystem::read_symlink(next, no_link);
        if (no_link)
            at = next;
        else if (++links > kMostLinks)
            return {};
        else
            left = target / left;
    }
    return at;
}

constexpr std::size_t kMostLacking = 20;  // told of one server

struct Lacking {
    std::string path;  // "env.TOKEN", "args[1]"
    std::string why;
};

// As origins have it: of a list they know the key alone.
const Place& place_of(const Config& config, const std::string& key, const Place& otherwise) {
    const auto* origin = config.find_origin(key.substr(0, key.find('[')));
    return origin ? *origin : otherwise;
}

class Expander {
public:
    Expander(const Server& server, const Environment& environment, const std::stop_token& stop,
             Look look = Look::Values)
        : server_(server), environment_(environment), stop_(stop), look_(look) {}

    Result<json::object> run() {
        json::object settings = server_.settings;
        for (const auto* key : {"command", "args", "cwd", "env", "url", "headers"}) {
            auto* value = settings.if_contains(key);
            if (value && !expand(*value, key)) return std::move(error_);
        }
        return settings;
    }

    // Of Look::Here: `args[0]: the variable X is not set...`, each with where it stands.
    const std::vector<Lacking>& lacking() const { return lacking_; }

    Result<json::object> run_on(json::object settings, const std::string& table) {
        for (auto& member : settings) {
            if (!expand(member.value(), table + "." + std::string(member.key()))) return error_;
        }
        return settings;
    }

private:
    bool expand(json::value& value, const std::string& path) {
        if (value.is_string()) {
            if (value.get_string().find("${") == json::string::npos) return true;
            auto text = expanded(std::string(value.get_string()), path);
            if (!text) {
                error_ = within(path, text.error());
                return false;
            }
            value = json::string(*text);
        } else if (value.is_array()) {
            std::size_t i = 0;
            for (auto& item : value.get_array()) {
                if (!expand(item, path + "[" + std::to_string(i++) + "]")) return false;
            }
        } else if (value.is_object()) {
            for (auto& member : value.get_object()) {
                if (!expand(member.value(), path + "." + std::string(member.key()))) return false;
            }
        }
        return true;
    }

    // `path`: where the text stands, like "headers.X-Key", "args[1]", "auth.corp.token".
    Result<std::string> expanded(std::string_view text, const std::string& path) {
        const bool secret = is_for_a_secret(path), address = is_address(path);
        std::string out;
        while (true) {
            const auto at = text.find("${");
            if (at == std::string_view::npos) return out + std::string(text);
            if (at > 0 && text[at - 1] == '$') {
                out.append(text.substr(0, at - 1)).append("${");
                text.remove_prefix(at + 2);
                continue;
            }
            const auto close = text.find('}', at);
            if (close == std::string_view::npos) {
                return Error{
                    ErrorCode::Invalid,
                    "a \"${\" that is never closed; write \"$${\" for the characters themselves"};
            }
            auto value = resolve(text.substr(at + 2, close - at - 2));
            if (!value && look_ == Look::Here) {
                if (lacking_.size() < kMostLacking)
                    lacking_.push_back({core::printable(path, 200), value.error().message});
                value = std::string();
            }
            if (!value) return value;
            out.append(text.substr(0, at));
            text.remove_prefix(close + 1);
            if (secret || (address && is_hidden_part(out, text))) mask(*value);
            out.append(*value);
        }
    }

    // All that a header is made of, and what is called like a secret.
    static bool is_for_a_secret(std::string_view path) {
        const auto begin = path.find("headers.");
        const bool header = begin == 0 || (begin != path.npos && path[begin - 1] == '.');
        return header || names_a_secret(path.substr(path.rfind('.') + 1));
    }

    static bool is_address(std::string_view path) {
        return path == "url" || path.starts_with("auth.");
    }

    // Of an address: before the `@` of its authority, or behind its path.
    static bool is_hidden_part(std::string_view before, std::string_view after) {
        const auto scheme = before.find("://");
        if (scheme == before.npos) return false;
        const auto rest = before.substr(scheme + 3);
        if (rest.find_first_of("?#") != rest.npos) return true;
        return rest.find('/') == rest.npos &&
               after.substr(0, after.find_first_of("/?#")).find('@') != after.npos;
    }

    Result<std::string> resolve(std::string_view reference) {
        if (const auto at = reference.find(":-");
            at != std::string_view::npos && is_variable(reference.substr(0, at))) {
            const auto name = reference.substr(0, at);
            const auto value = variable(name);
            return of_variable(
                name, value && !value->empty() ? *value : std::string(reference.substr(at + 2)));
        }
        if (reference.starts_with("file:")) return file(reference.substr(5));
        if (reference.starts_with("command:")) return command(reference.substr(8));
        for (const auto kind : kStoredSecrets)
            if (reference.starts_with(kind)) return stored(reference.substr(kind.size()));
        if (reference.starts_with("env:"))
            reference.remove_prefix(4);  // as VS Code and Cursor write it
        if (!is_variable(reference)) {
            // Behind a mistyped name may stand a default, which may be a secret.
            const auto name = reference.substr(
                0, static_cast<std::size_t>(
                       std::find_if_not(reference.begin(), reference.end(), is_of_a_name) -
                       reference.begin()));
            return Error{
                ErrorCode::Invalid,
                "\"${" + core::printable(name, 80) + (name.size() < reference.size() ? "..." : "") +
                    "}\" is no reference; expected ${NAME}, ${NAME:-default}, ${secret:NAME}" +
                    (runs_no_commands() ? " or ${file:PATH}" : ", ${file:PATH} or ${command:...}") +
                    "; write \"$${\" for the characters themselves"};
        }
        if (auto value = variable(reference)) return of_variable(reference, std::move(*value));
        return Error{ErrorCode::Invalid, "the variable " + std::string(reference) +
                                             " is not set; set it, or write ${" +
                                             std::string(reference) + ":-default}"};
    }

    Result<std::string> stored(std::string_view written) const {
        const std::string name(written);
        if (auto fine = core::check_secret_name(name); !fine) return fine.error();
        if (look_ == Look::Form) return std::string();
        const auto& secrets = environment_.stored_secrets;
        if (!secrets.read)
            return Error{ErrorCode::Unsupported, "no secrets are kept here; use a variable"};
        if (look_ == Look::Values) return secret(secrets.read(name));
        const auto there = secrets.check(name);
        return there ? Result<std::string>("") : there.error();
    }

    std::optional<std::string> variable(std::string_view name) const {
        if (look_ == Look::Form) return std::string();
        return environment_.variable ? environment_.variable(std::string(name)) : std::nullopt;
    }

    // ~/ is home.
    std::string path_of(std::string_view written) const {
        if (written.starts_with("~/")) return environment_.home + std::string(written.substr(1));
        return beside_the_file(server_, std::string(written), environment_);
    }

    // What lies in a checkout changes with it, and what was approved is the text that names it.
    Result<std::string> file(std::string_view written) const {
        const auto refused = [&] {
            return Error{
                ErrorCode::Denied,
                std::string("${file:...} of a ") + name_of(server_.place.scope) +
                    " file may not lead into its own folder or repository, where it changes "
                    "unapproved; write the value itself, or a file elsewhere, as "
                    "${file:~/PATH}"};
        };
        const bool ours = !from_project(server_.place.scope);
        const auto path = path_of(written);
        // What /proc and /dev have depends on who looks.
        const auto plain = std::filesystem::path(path).lexically_normal().relative_path();
        const auto first = plain.empty() ? plain : *plain.begin();
        const bool is_elsewhere = (written.starts_with("~/") || written.starts_with('/')) &&
                                  first != "proc" && first != "dev";
        if (!ours && !is_elsewhere) return refused();
        if (look_ == Look::Form) return std::string();
        if (ours) return secret(secret_from_file(path));
        const auto real = way_around(path, {folder_of_checkout(), "/proc/", "/dev/"});
        return real ? secret(secret_from_file(*real)) : refused();
    }

    // With its `/`. A file in a folder like `.patchbay` speaks for the one around it. The repository
    // around that comes and goes with it; a home that is one is everybody's.
    std::string folder_of_checkout() const {
        auto folder = server_.place.file.substr(0, server_.place.file.rfind('/'));
        if (const auto name = folder.rfind('/'); folder.compare(name + 1, 1, ".") == 0)
            folder.resize(name);
        const auto own = core::behind_links(folder), home = core::behind_links(environment_.home);
        auto outermost = own;  // what is around a submodule
        for (auto around = own; !around.empty() && around != home; around.resize(around.rfind('/')))
            if (::access((around + "/.git").c_str(), F_OK) == 0) outermost = around;
        return outermost + "/";
    }

    bool runs_no_commands() const { return from_project(server_.place.scope); }

    Result<std::string> command(std::string_view line) {
        if (runs_no_commands()) {
            return Error{ErrorCode::Denied, std::string("${command:...} is not allowed in a ") +
                                                name_of(server_.place.scope) +
                                                " file; write this server to your user config"};
        }
        if (look_ == Look::Form) return std::string();
        if (look_ == Look::Here) {
            const auto first = std::min(line.find_first_not_of(' '), line.size());
            const auto program = line.substr(first, line.find(' ', first) - first);
            const auto fault = fault_of_program(
                {std::string(program), {}, {}, environment_.working_directory, false},
                environment_);
            return fault.empty() ? Result<std::string>("") : Error{ErrorCode::NotFound, fault};
        }
        return secret(secret_from_command(std::string(line), stop_));
    }

    // Most hold no secret: a home that is masked would make a riddle of every path.
    std::string of_variable(std::string_view name, std::string value) const {
        if (names_a_secret(name) || looks_like_a_token(value)) mask(value);
        return value;
    }

    Result<std::string> secret(Result<std::string> found) const {
        if (found) mask(*found);
        return found;
    }

    void mask(const std::string& value) const {
        if (look_ != Look::Values) return;
        if (environment_.secrets)
            environment_.secrets->add(value);
        else
            core::log::mask(value);
    }

    const Server& server_;
    const Environment& environment_;
    const std::stop_token& stop_;
    const Look look_;
    Error error_;
    std::vector<Lacking> lacking_;
};

}  // namespace

bool expansion_waits(const json::object& settings) {
    const auto text = json::serialize(settings);
    const auto has = [&](std::string_view kind) {
        return text.find("${" + std::string(kind)) != std::string::npos;
    };
    return has("command:") || has("file:") ||
           std::any_of(std::begin(kStoredSecrets), std::end(kStoredSecrets), has);
}

Result<json::object> expand(const Server& server, const Environment& environment,
                            const std::stop_token& stop) {
    auto settings = server.expand ? Expander(server, environment, stop).run()
                                  : Result<json::object>(server.settings);
    const auto name = "server \"" + server.id + "\"";
    if (!settings) return within(to_string(server.place) + ": " + name, settings.error());
    return still_approved(anchored(std::move(*settings), server, environment), server, name,
                          server.id, environment);
}

std::string fault_of_references(const Server& server) {
    if (!server.expand) return {};
    const Environment none;
    const std::stop_token never;
    const auto settings = Expander(server, none, never, Look::Form).run();
    return settings ? std::string() : settings.error().message;
}

void check_references(Config& config, const Environment& environment) {
    const std::stop_token never;
    std::set<std::string> seen;  // tables
    const auto tell = [&](const Server& server, const Place& place, const std::string& text) {
        config.diagnostics.push_back({RuleId::UnresolvedReference, Severity::Warning, place,
                                      "server \"" + server.id + "\" " + text, server.id});
    };
    for (const auto& server : config.servers) {
        if (!server.enabled) continue;
        const auto key = "servers." + server.id + ".";
        if (server.expand) {
            Expander settings(server, environment, never, Look::Here);
            static_cast<void>(
                settings.run());  // what no environment could expand is told elsewhere
            for (const auto& [path, why] : settings.lacking())
                tell(server, place_of(config, key + path, server.place),
                     "would not start here: " + path + ": " + why);
        }
        if (const auto& name = server.bearer_token_env_var;
            !name.empty() && environment.variable && !environment.variable(name))
            tell(server, place_of(config, key + "bearer_token_env_var", server.place),
                 "could not sign in here: bearer_token_env_var: the variable " +
                     core::printable(name, 80) + " is not set");
        const auto table = config.auth.find(server.auth);
        const auto path = "auth." + server.auth;
        if (table == config.auth.end() || !seen.insert(path).second) continue;
        auto speaker = server;
        speaker.place = place_of(config, path, server.place);
        Expander settings(speaker, environment, never, Look::Here);
        static_cast<void>(settings.run_on(table->second, path));
        for (const auto& [where, why] : settings.lacking())
            tell(server, speaker.place, "could not sign in here: " + where + ": " + why);
    }
}

Result<json::object> expand_auth(const Server& server, const json::object& settings,
                                 const Environment& environment, const std::stop_token& stop) {
    auto own = Expander(server, environment, stop).run_on(settings, "auth." + server.auth);
    if (!own) return own;
    const auto table = "auth." + server.auth;
    return still_approved(anchored(std::move(*own), server, environment), server, table, table,
                          environment);
}

}  // namespace patchbay::config
