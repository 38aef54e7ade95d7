#include "app/configuration_digest.hpp"
#include "app/meeting_point.hpp"
#include "app/output.hpp"
#include "app/service_unit.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "config/assignment.hpp"
#include "core/replace_file.hpp"
#include "core/text.hpp"

#include <boost/json.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kUnitBytes = 256u << 10;

// What says which files are read and where commands come, and what a program inherits that makes it another: a
// service has none of it by itself, or has another value. No variable that may hold a secret: a unit is read by every program of the user.
constexpr const char* kKept[] = {"PATH",
                                 "HOME",
                                 "XDG_RUNTIME_DIR",
                                 "PATCHBAY_CONFIG",
                                 "PATCHBAY_PLUGIN_PATH",
                                 "XDG_CONFIG_HOME",
                                 "XDG_STATE_HOME",
                                 "XDG_DATA_HOME",
                                 "XDG_DATA_DIRS",
                                 "LANG",
                                 "LC_ALL",
                                 "TZ",
                                 "TMPDIR",
                                 "SSL_CERT_FILE",
                                 "SSL_CERT_DIR"};

struct Unit {
    std::string path;
    std::optional<std::string> text;  // as it is there; none: it is not
    std::string wanted;               // as it would be written now; empty: it cannot be
};

struct Units {
    std::string name;
    MeetingPoint point;
    Unit service, socket;
    std::optional<Error> fault;  // why they cannot be written
};

Result<std::optional<std::string>> read_unit(const std::string& path) {
    using Read = std::optional<std::string>;
    std::error_code failed;
    const auto kind = fs::symlink_status(path, failed).type();
    if (kind == fs::file_type::not_found) return Read();
    if (kind != fs::file_type::regular)
        return Error{ErrorCode::Invalid, path + " is no plain file, and not ours to touch"};
    if (fs::file_size(path, failed) > kUnitBytes)
        return Error{ErrorCode::Limit, path + " is no unit of ours: it is too long"};
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::Io, "cannot read " + path + ": " + std::strerror(errno)};
    return Read(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::vector<std::string> command_of(const GlobalOptions& global, const std::string& folder) {
    std::error_code failed;
    std::vector<std::string> words{fs::read_symlink("/proc/self/exe", failed).string()};
    const auto add = [&](const char* option, const std::string& value) {
        words.emplace_back(option);
        words.push_back(value);
    };
    for (const auto& file : global.config_files)
        add("--config", (fs::path(folder) / file).lexically_normal().string());
    for (const auto& set : global.sets) add("--set", set);
    for (const auto& directory : global.plugin_directories)
        add("--plugin-dir", (fs::path(folder) / directory).lexically_normal().string());
    words.emplace_back("run");
    return words;
}

Result<Units> units_of(const GlobalOptions& global) {
    const auto environment = environment_of(global);
    const auto key = meeting_key(environment, global.plugin_directories);
    const auto& folder = environment.working_directory;
    const MeetingPoint point(runtime_folder(environment), key);
    ServiceTerms terms{unit_name(folder, key),     folder, point.path(),
                       command_of(global, folder), {},     {}};
    for (const char* name : kKept)
        if (const auto value = environment.variable(name))
            terms.environment.emplace_back(name, *value);
        else
            terms.unset.emplace_back(name);
    terms.unset.emplace_back("PATCHBAY_CONFIG_JSON");  // with it install writes none
    const auto directory = environment.config_home + "/systemd/user/";
    Units units{terms.name, point, {}, {}, {}};
    for (auto [unit, suffix, text] : {std::tuple{&units.service, ".service", service_text(terms)},
                                      std::tuple{&units.socket, ".socket", socket_text(terms)}}) {
        unit->path = directory + terms.name + suffix;
        if (text)
            unit->wanted = *text;
        else
            units.fault = text.error();
        auto there = read_unit(unit->path);
        if (!there) return there.error();
        unit->text = std::move(*there);
    }
    return units;
}

const char* state_of(const Unit& unit) {
    if (!unit.text) return "absent";
    if (*unit.text == unit.wanted) return "installed";
    switch (authorship_of(*unit.text)) {
        case Authorship::Ours:
            return "outdated";
        case Authorship::Changed:
            return "changed";
        case Authorship::Others:
            return "foreign";
    }
    return "";
}

// None of both is touched where one is somebody else's.
Result<void> check_ours(const Units& units) {
    for (const auto* unit : {&units.service, &units.socket})
        if (unit->text && authorship_of(*unit->text) != Authorship::Ours)
            return Error{ErrorCode::Denied,
                         unit->path +
                             (authorship_of(*unit->text) == Authorship::Changed
                                  ? " was changed by somebody since it was installed"
                                  : " was not written by patchbay") +
                             "; move it away first"};
    return {};
}

bool systemd_runs() {
    std::error_code failed;
    return fs::exists("/run/systemd/system", failed);  // sd_booted(3)
}

json::object to_json(const Units& units, const std::optional<Holder>& holder) {
    json::object told{
        {"name", units.name},
        {"service", {{"file", units.service.path}, {"state", state_of(units.service)}}},
        {"socket", {{"file", units.socket.path}, {"state", state_of(units.socket)}}},
        {"systemd", systemd_runs()},
        {"listens_at", units.point.path()}};
    if (holder) told["host"] = {{"pid", holder->pid}, {"since", holder->since}};
    return told;
}

void say_next(const std::string& name, bool install) {
    if (!systemd_runs()) {
        say(install ? "systemd does not run here; where it does: systemctl --user enable --now " +
                          name + ".socket"
                    : "systemd does not run here; where it does, it reads the units when the user "
                      "next logs in");
        return;
    }
    say(install ? "next: systemctl --user daemon-reload && systemctl --user enable --now " + name +
                      ".socket"
                : "next: systemctl --user daemon-reload");
}

// Every program of the user reads a unit, and all can see what a process was started with.
Result<void> check_sets(const GlobalOptions& global) {
    for (const auto& set : global.sets)
        if (config::may_hold_a_secret(set))
            return Error{ErrorCode::Invalid,
                         "--set " + core::printable(set.substr(0, set.find('=')), 200) +
                             " may hold a secret, and a unit is no place for them; write it to a "
                             "file, and say --config"};
    return {};
}

int install_service(const GlobalOptions& global) {
    if (const char* text = std::getenv("PATCHBAY_CONFIG_JSON"); text && *text)
        return report({ErrorCode::Invalid,
                       "PATCHBAY_CONFIG_JSON may hold secrets, and a unit is no place for them; "
                       "write it to a file, and say --config"},
                      global);
    if (auto sets = check_sets(global); !sets) return report(sets.error(), global);
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_all();
    auto units = units_of(global);
    if (!units) return session.report(units.error());
    if (units->fault) return session.report(*units->fault);
    if (auto ours = check_ours(*units); !ours) return session.report(ours.error());
    std::error_code failed;
    fs::create_directories(fs::path(units->service.path).parent_path(), failed);
    for (auto* unit : {&units->service, &units->socket}) {
        if (unit->text == unit->wanted) continue;
        if (auto written = core::replace_file(unit->path, unit->wanted, core::Durable::Yes);
            !written)
            return session.report(written.error());
        unit->text = unit->wanted;
    }
    if (global.json)
        print_json(json::serialize(to_json(*units, {})));
    else
        for (const auto* unit : {&units->service, &units->socket}) print_line(unit->path);
    if (global.quiet) return kOk;
    const auto names = variables_given(*session.host().snapshot());
    if (!names.empty())
        say("servers are given variables that a service does not have by itself: systemctl --user "
            "import-environment " +
            core::join(names, " "));
    if (!global.log_level.empty())
        say("--log-level is in no unit; [log] level in a file of the configuration is for the host "
            "too");
    say_next(units->name, true);
    return kOk;
}

int status_service(const GlobalOptions& global) {
    const auto units = units_of(global);
    if (!units) return report(units.error(), global);
    const auto holder = units->point.holder();
    if (!holder) return report(holder.error(), global);
    if (global.json) return print_json(json::serialize(to_json(*units, *holder))), kOk;
    print_table({{{"service"}, {state_of(units->service)}, {units->service.path}},
                 {{"socket"}, {state_of(units->socket)}, {units->socket.path}},
                 {{"systemd"}, {systemd_runs() ? "runs" : "does not run here"}},
                 {{"host"},
                  {*holder ? "runs" : "does not run"},
                  {*holder ? "pid " + std::to_string((*holder)->pid) + ", since " + (*holder)->since
                           : units->point.path()}}});
    return kOk;
}

int remove_service(const GlobalOptions& global) {
    const auto units = units_of(global);
    if (!units) return report(units.error(), global);
    if (!units->service.text && !units->socket.text)
        return report({ErrorCode::NotFound,
                       "no service is installed for this folder and "
                       "configuration: there is no " +
                           units->service.path},
                      global);
    if (auto ours = check_ours(*units); !ours) return report(ours.error(), global);
    json::array removed;
    for (const auto* unit : {&units->service, &units->socket}) {
        if (!unit->text) continue;
        if (::unlink(unit->path.c_str()) != 0)
            return report(
                {ErrorCode::Io, "cannot remove " + unit->path + ": " + std::strerror(errno)},
                global);
        removed.emplace_back(unit->path);
        if (!global.json) print_line("removed " + unit->path);
    }
    if (global.json) print_json(json::serialize(json::object{{"removed", std::move(removed)}}));
    if (!global.quiet) say_next(units->name, false);
    return kOk;
}

}  // namespace

void add_service_verbs(CLI::App& app, Choice& choice) {
    auto& service = add_verb(
        app, "service", "The host that runs, kept by systemd: install, status, remove",
        "  patchbay service install\n  systemctl --user enable --now NAME.socket\nSystemd "
        "listens for this folder and configuration, and starts `patchbay run` with the first "
        "command that comes.");
    service.require_subcommand(1);
    auto& install = add_verb(
        service, "install", "Write a service and a socket unit of systemd, for this user",
        "  patchbay service install\n  patchbay --config ci.toml service install\nIt writes two "
        "files "
        "and starts nothing; units that somebody has changed are left alone (exit code 7).");
    choice.on(install, install_service);
    auto& status =
        add_verb(service, "status", "Whether the units are there, and whether a host runs",
                 "  patchbay service status --json\nIt asks neither systemd nor the host.");
    choice.on(status, status_service);
    auto& remove =
        add_verb(service, "remove", "Take away the units that install has written",
                 "  systemctl --user disable --now NAME.socket NAME.service; patchbay service "
                 "remove\nUnits that "
                 "somebody has changed are left alone (exit code 7). Exit code 6: there are none.");
    choice.on(remove, remove_service);
}

}  // namespace patchbay::app
