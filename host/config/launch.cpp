#include "config/launch.hpp"

#include "core/json.hpp"
#include "core/program.hpp"
#include "core/text.hpp"

#include <climits>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::config {

namespace {

// What becomes of `text`; no value: a `${...}` decides.
std::optional<std::string> expanded(const Launch& launch, std::string text) {
    if (!launch.expands) return text;
    for (auto at = text.find("${"); at != text.npos; at = text.find("${", at + 1)) {
        if (at == 0 || text[at - 1] != '$') return std::nullopt;
        text.erase(--at, 1);  // `$${` is `${`
    }
    return text;
}

std::string from(const std::string& folder, const std::string& path) {
    return path.starts_with('/') ? path : folder + "/" + path;
}

// Of the entry, or of its `config`.
const Node* setting(const Node& body, std::string_view key) {
    const auto* found = body.find(key);
    if (!found)
        if (const auto* nested = body.find("config")) found = nested->find(key);
    return found;
}

// The file as it is found, links and all; no value: a `${...}` decides about it.
std::optional<Result<std::string>> found_by(const Launch& launch, const Environment& environment) {
    const auto name = expanded(launch, launch.command);
    if (!name || name->empty()) return std::nullopt;
    // As execvp(3) does: a name with a slash is looked for nowhere else.
    if (name->find('/') != std::string::npos) return from(launch.folder, *name);
    auto set = environment.variable ? environment.variable("PATH") : std::nullopt;
    if (launch.path) {
        set = expanded(launch, *launch.path);
        if (!set) return std::nullopt;
    }
    const std::string path = set && !set->empty() ? *set : std::string(core::kDefaultPath);
    const auto written = expanded(launch, launch.cwd);
    const auto cwd = launch.cwd.empty() ? environment.working_directory
                                        : from(launch.folder, written.value_or(launch.cwd));
    const auto program = core::find_on_path(*name, path, cwd);
    // Found by a relative folder of PATH, which begins where the program is started.
    if (program && !program->starts_with('/')) {
        if (!written) return std::nullopt;
        return from(cwd, *program);
    }
    return program;
}

std::optional<Launch> launch_of(const Node& body, std::string folder, bool expands) {
    const auto* command = setting(body, "command");
    if (command && command->is(Node::Kind::List) && !command->items.empty())
        command = &command->items.front();
    if (!command || command->text.empty()) return {};
    Launch launch{command->text, {}, {}, std::move(folder), expands};
    if (const auto* cwd = setting(body, "cwd")) launch.cwd = cwd->text;
    if (const auto* env = setting(body, "env"))
        if (const auto* path = env->find("PATH")) launch.path = path->text;
    return launch;
}

std::optional<std::string> program_at(const std::optional<Result<std::string>>& found) {
    if (!found) return std::nullopt;
    return *found ? core::behind_links(**found) : std::string();
}

std::string fault_at(const std::optional<Result<std::string>>& found, const Launch& launch) {
    if (!found) return {};
    if (!*found) return found->error().message;
    const auto trouble = core::trouble_with_program(**found);
    return trouble.empty() ? std::string() : "command \"" + launch.command + "\": " + trouble;
}

}  // namespace

std::optional<Launch> launch_of_server(const Node& body, std::string folder) {
    const auto* expand = body.find("expand");
    const bool expands = !expand || !expand->is(Node::Kind::Flag) || expand->flag;
    return launch_of(body, std::move(folder), expands);
}

std::optional<Launch> launch_of_table(const Node& body, std::string folder) {
    return launch_of(body, std::move(folder), true);
}

std::optional<Launch> launch_of(const boost::json::object& settings) {
    const auto* command = settings.if_contains("command");
    if (command && command->is_array() && !command->get_array().empty())
        command = &command->get_array().front();
    if (!command || !command->is_string()) return {};
    Launch launch{std::string(command->get_string()), {}, {}, {}, false};
    launch.cwd = core::text_in(&settings, "cwd").value_or("");
    launch.path = core::text_in(core::object_in(&settings, "env"), "PATH");
    return launch;
}

std::optional<std::string> program_of(const Launch& launch, const Environment& environment) {
    return program_at(found_by(launch, environment));
}

std::string fault_of_program(const Launch& launch, const Environment& environment) {
    return fault_at(found_by(launch, environment), launch);
}

const ProgramSearch::Found& ProgramSearch::look(const Launch& launch) {
    const auto [at, is_new] = found_.try_emplace(
        Key{launch.command, launch.path, launch.cwd, launch.folder, launch.expands});
    // Many servers have one program (npx): each folder of PATH is looked at once.
    if (is_new) {
        const auto found = found_by(launch, environment_);
        at->second = {program_at(found), fault_at(found, launch)};
    }
    return at->second;
}

void check_programs(Config& config, const Environment& environment) {
    for (const auto& server : config.servers) {
        auto launch = launch_of(server.settings);
        if (!server.enabled || !launch) continue;
        const auto& file = server.place.file;
        launch->expands = server.expand;
        launch->folder =
            file.starts_with('/') ? file.substr(0, file.rfind('/')) : environment.working_directory;
        const auto cwd = expanded(*launch, launch->cwd);
        struct stat status {};
        // Of a file that is only to be written its folder is not there yet, and `..` leads nowhere as it stands.
        const auto folder =
            cwd ? std::filesystem::path(from(launch->folder, *cwd)).lexically_normal().string()
                : std::string();
        const bool lacks_cwd = cwd && !cwd->empty() &&
                               (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode));
        const auto fault =
            lacks_cwd ? "cwd \"" + core::printable(*cwd, PATH_MAX) + "\": there is no such folder"
                      : fault_of_program(*launch, environment);
        if (fault.empty()) continue;
        config.diagnostics.push_back({RuleId::MissingProgram, Severity::Warning, server.place,
                                      "server \"" + server.id + "\" would not start here: " + fault,
                                      server.id});
    }
}

std::string hint_of_cwd(const Server& server) {
    const auto& file = server.place.file;
    const auto* args = server.settings.if_contains("args");
    if (server.transport != "stdio" || server.settings.contains("cwd") || !file.starts_with('/') ||
        !args || !args->is_array())
        return {};
    const auto folder = file.substr(0, file.rfind('/') + 1);
    for (const auto& arg : args->get_array()) {
        if (!arg.is_string()) continue;
        const std::string path(arg.get_string());
        if (path.empty() || path.front() == '/' || path.front() == '-') continue;
        // Only what is beside the file, and not where the server starts, was surely meant so.
        if (::access((folder + path).c_str(), F_OK) != 0 || ::access(path.c_str(), F_OK) == 0)
            continue;
        return "; \"" + core::printable(path, 200) + "\" is in " + folder +
               " and not in the working directory: set cwd, for which \".\" is the folder of that "
               "file";
    }
    return {};
}

}  // namespace patchbay::config
