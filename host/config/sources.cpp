#include "config/sources.hpp"

#include "config/approval.hpp"
#include "config/assignment.hpp"
#include "config/dialects.hpp"
#include "config/enterprise_folder.hpp"
#include "config/followed.hpp"
#include "config/merge.hpp"
#include "core/ownership.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::config {

namespace {

constexpr std::size_t kMostLevels = 256;  // of the search upwards
// Each server of a checkout is told of and asked about, whether anybody approves it or not.
constexpr std::size_t kMostInCheckout = 4096;

bool exists(const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0;
}

std::string parent_of(const std::string& directory) {
    const auto slash = directory.rfind('/');
    return slash == std::string::npos || directory == "/" ? ""
           : slash == 0                                   ? "/"
                                                          : directory.substr(0, slash);
}

// The files of one name, in every format.
std::vector<std::string> named(const std::string& stem) {
    std::vector<std::string> paths;
    for (const auto& [suffix, format] : kSuffixes) paths.push_back(stem + std::string(suffix));
    return paths;
}

class Discovery {
public:
    explicit Discovery(const Environment& environment) : environment_(environment) {}

    Sources run(const std::vector<PluginFragment>& plugins) {
        // First, since it decides whether the others are read at all; listed last.
        std::vector<Candidate> enterprise_places;
        std::vector<Fragment> enterprise;
        enterprise_files(enterprise_places, enterprise);
        for (const auto& fragment : enterprise) {
            if (fragment.broken) out_.closed_by = fragment.source.file + " is broken";
        }
        if (out_.closed_by.empty() && exclusive(enterprise))
            out_.closed_by = enterprise.front().source.file + " is exclusive";

        for (const auto& plugin : plugins) plugin_servers(plugin);
        user();
        project();
        session();
        std::move(enterprise_places.begin(), enterprise_places.end(),
                  std::back_inserter(out_.candidates));
        std::move(enterprise.begin(), enterprise.end(), std::back_inserter(out_.fragments));
        clients();
        return std::move(out_);
    }

private:
    void look(Candidate& place, Source source, std::vector<Fragment>& into) const {
        auto fragment =
            read_source(place.path, std::move(source), place, environment_.parsed.get());
        if (place.found != Candidate::Found::Absent) into.push_back(std::move(fragment));
    }

    // A folder of enterprise files that may hold one which is not read is as bad as a broken file.
    void enterprise_files(std::vector<Candidate>& places, std::vector<Fragment>& into) const {
        const auto& folder = environment_.enterprise_directory;
        const auto broken = [&](RuleId rule, const std::string& path, Candidate::Found found,
                                std::string why) {
            places.push_back({Scope::Enterprise, path, found, std::move(why)});
            auto& fragment = into.emplace_back();
            fragment.source = {Scope::Enterprise, 0, path};
            fragment.broken = true;
            fragment.diagnostics.push_back(
                {rule, Severity::Error, fragment.source.place({}), places.back().note, {}});
        };
        if (auto fault = fault_of_folder(folder); !fault.empty())
            return broken(RuleId::UnreadableFile, folder, Candidate::Found::Unreadable,
                          std::move(fault));
        std::vector<std::string> read;
        for (const auto& path : named(folder + "/enterprise")) {
            auto& place = places.emplace_back(Candidate{Scope::Enterprise, path, {}, {}});
            look(place, {Scope::Enterprise, 0, path}, into);
            read.push_back(path);
        }
        const auto names = "enterprise" + core::join(suffixes(), ", enterprise");
        const auto [there, failed] = entries_of(folder);
        if (failed && failed != std::errc::no_such_file_or_directory && into.empty())
            broken(RuleId::UnreadableFile, folder, Candidate::Found::Unreadable,
                   "cannot list it: " + failed.message() + ", and it has none of " + names);
        for (const auto& name : there) {
            const auto path = folder + "/" + name;
            if (std::find(read.begin(), read.end(), path) == read.end() &&
                is_nearly_enterprise(name))
                broken(RuleId::MisnamedFile, path, Candidate::Found::Broken,
                       "not read: the name is expected to be one of " + names);
        }
    }

    // False when the enterprise file shuts this source out; the candidate says so.
    bool admitted(Candidate& place) {
        if (out_.closed_by.empty()) return true;
        place.found = Candidate::Found::Ignored;
        place.note = out_.closed_by;
        return false;
    }

    void file(Scope scope, std::string path, const std::string& project = {}) {
        auto& place = out_.candidates.emplace_back(Candidate{scope, std::move(path), {}, {}});
        if (!admitted(place)) return;
        look(place, {scope, 0, place.path, project}, out_.fragments);
        if (!project.empty() && place.found == Candidate::Found::Read)
            bound(out_.fragments.back(), place);
    }

    // In the order of reading: a file whose servers are too many leaves out its own alone. What they
    // forbid goes with them, so it is as good as unread.
    void bound(Fragment& fragment, Candidate& place) {
        if (in_checkout_ + fragment.servers.size() <= kMostInCheckout) {
            in_checkout_ += fragment.servers.size();
            return;
        }
        fragment.servers.clear();
        fragment.broken = fragment.source.scope != Scope::ClientProject;  // that forbids nothing
        place.found = Candidate::Found::Broken;
        place.note = "its servers are left out: with them, the project's files name more than " +
                     std::to_string(kMostInCheckout) + " servers, the limit";
        fragment.diagnostics.push_back(
            {RuleId::TooLarge, Severity::Error, fragment.source.place({}), place.note, {}});
    }

    void plugin_servers(const PluginFragment& plugin) {
        Candidate place{Scope::Plugin, plugin.manifest_path, Candidate::Found::Read, {}};
        if (admitted(place)) {
            // Of a manifest only [servers] is configuration; the rest belongs to the plugin room.
            auto parsed = parse(plugin.text, Format::Toml);
            if (parsed.problem) {
                place.found = Candidate::Found::Broken;
                place.note = parsed.problem->message;
            } else if (auto* servers = parsed.root.find("servers")) {
                Node root = Node::of_map({1, 1});
                root.members.push_back({"servers", servers->mark, std::move(*servers)});
                out_.fragments.push_back(
                    restate(std::move(root), {Scope::Plugin, 0, plugin.manifest_path}));
            }
        }
        out_.candidates.push_back(std::move(place));
    }

    // Last, since other files say which; listed behind those of plugins.
    void clients() {
        auto followed = follow(out_.fragments, out_.candidates, out_.closed_by, environment_);
        std::vector<Candidate> places;
        for (auto& file : followed.files) {
            for (auto& fragment : file.fragments) {
                if (from_project(fragment.source.scope)) bound(fragment, file.place);
                out_.fragments.push_back(std::move(fragment));
            }
            places.push_back(std::move(file.place));
        }
        const auto at = std::find_if(out_.candidates.begin(), out_.candidates.end(),
                                     [](const auto& each) { return each.scope > Scope::Plugin; });
        out_.candidates.insert(at, std::make_move_iterator(places.begin()),
                               std::make_move_iterator(places.end()));
        std::move(followed.diagnostics.begin(), followed.diagnostics.end(),
                  std::back_inserter(out_.diagnostics));
    }

    void user() {
        if (environment_.config_home.empty()) return;
        for (const auto* stem : {"/patchbay/config", "/patchbay/mcp"}) {
            for (auto& path : named(environment_.config_home + stem))
                file(Scope::User, std::move(path));
        }
    }

    // Upwards to the first folder with a project file; the repository's root and home are the last
    // ones that are searched.
    void project() {
        auto directory = environment_.working_directory;
        while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
        for (std::size_t level = 0; !directory.empty() && level < kMostLevels; ++level) {
            const auto base = directory == "/" ? std::string() : directory;
            const auto before = out_.candidates.size();
            for (auto& path : named(base + "/.patchbay/config"))
                file(Scope::Project, std::move(path), directory);
            for (auto& path : named(base + "/.mcp")) {
                file(Scope::Project, std::move(path), directory);
                leave_ourselves_out();
            }
            bool found = false, refused = false;
            for (auto i = before; i < out_.candidates.size(); ++i) {
                const auto& place = out_.candidates[i];
                refused = refused || place.found == Candidate::Found::Ignored;
                found = found || (place.found != Candidate::Found::Absent &&
                                  place.found != Candidate::Found::Ignored);
            }
            if (found) {
                for (auto& path : named(base + "/.patchbay.local"))
                    file(Scope::Local, std::move(path), directory);
                return;
            }
            lonely(base,
                   refused ? "nor is the project file beside it" : "no project file beside it");
            if (directory == environment_.home || exists(base + "/.git")) return;
            directory = parent_of(directory);
        }
    }

    // Other clients read that file too, and `patchbay connect` puts Patchbay into it for them: it is no server of its own.
    void leave_ourselves_out() {
        auto& place = out_.candidates.back();
        if (place.found != Candidate::Found::Read) return;
        std::erase_if(out_.fragments.back().servers, [&](const ServerEntry& entry) {
            const bool ours = starts_ourselves(entry.body);
            if (ours)
                place.note = "its entry \"" + core::printable(entry.id, 80) +
                             "\" starts Patchbay itself, and is left out";
            return ours;
        });
    }

    // Local files adjust a project's: alone they are not read, which nobody would guess.
    void lonely(const std::string& base, const std::string& why) {
        for (auto& path : named(base + "/.patchbay.local")) {
            Candidate place{Scope::Local, std::move(path), Candidate::Found::Ignored,
                            "not read: " + why};
            if (!exists(place.path)) continue;
            if (admitted(place))
                out_.diagnostics.push_back({RuleId::IgnoredSource,
                                            Severity::Warning,
                                            {Scope::Local, place.path, 0, 0},
                                            place.note,
                                            {}});
            out_.candidates.push_back(std::move(place));
        }
    }

    void session() {
        // A flag is typed for this one run, a variable may stand there since long.
        unsigned rank = 0;
        const auto variable = [&](const char* name) {
            return environment_.variable ? environment_.variable(name) : std::nullopt;
        };
        if (const auto path = variable("PATCHBAY_CONFIG"); path && !path->empty()) {
            session_file("PATCHBAY_CONFIG", *path, rank++);
        }
        if (const auto text = variable("PATCHBAY_CONFIG_JSON"); text && !text->empty()) {
            auto& place = out_.candidates.emplace_back(
                Candidate{Scope::Session, "PATCHBAY_CONFIG_JSON", Candidate::Found::Read, {}});
            if (admitted_or_told(place)) {
                auto fragment =
                    read_fragment(*text, Format::Json, {Scope::Session, rank, place.path});
                if (fragment.broken) {
                    place.found = Candidate::Found::Broken;
                    stop(fragment.diagnostics.front());
                }
                out_.fragments.push_back(std::move(fragment));
            }
            ++rank;
        }
        for (const auto& path : environment_.config_files) session_file("--config", path, rank++);
        if (!environment_.sets.empty()) sets("--set", environment_.sets, rank++);
        if (!environment_.log_level.empty())
            sets("--log-level", {"log.level=" + environment_.log_level}, rank);
    }

    // What was named for this run is wanted: without it nothing may run.
    void stop(const Diagnostic& diagnostic) {
        if (out_.stop.empty()) out_.stop = to_string(diagnostic.place) + ": " + diagnostic.message;
    }

    // Somebody asked for this source by name: passing over it in silence would puzzle them.
    bool admitted_or_told(Candidate& place) {
        if (admitted(place)) return true;
        std::string message = "ignored: " + place.note;
        out_.diagnostics.push_back({RuleId::IgnoredSource,
                                    Severity::Warning,
                                    {Scope::Session, place.path, 0, 0},
                                    std::move(message),
                                    {}});
        return false;
    }

    void session_file(const std::string& asked_by, const std::string& given, unsigned rank) {
        const auto path =
            given.starts_with('/') ? given : environment_.working_directory + "/" + given;
        auto& place = out_.candidates.emplace_back(Candidate{Scope::Session, path, {}, asked_by});
        if (!admitted_or_told(place)) return;
        auto fragment =
            read_source(path, {Scope::Session, rank, path}, place, environment_.parsed.get());
        if (place.found == Candidate::Found::Absent) {
            std::string message = "no such file (named by " + asked_by + ")";
            fragment.diagnostics.push_back({RuleId::MissingFile,
                                            Severity::Error,
                                            {Scope::Session, path, 0, 0},
                                            std::move(message),
                                            {}});
        }
        if (place.found != Candidate::Found::Read) stop(fragment.diagnostics.front());
        out_.fragments.push_back(std::move(fragment));
    }

    void sets(const char* flag, const std::vector<std::string>& written, unsigned rank) {
        auto& place = out_.candidates.emplace_back(
            Candidate{Scope::Session, flag, Candidate::Found::Read, {}});
        if (!admitted_or_told(place)) return;
        Node root = Node::of_map({});
        std::vector<Diagnostic> problems;
        for (const auto& set : written) {
            if (auto why = add_set(root, set); !why.empty()) {
                problems.push_back({RuleId::InvalidValue,
                                    Severity::Error,
                                    {Scope::Session, flag, 0, 0},
                                    std::move(why),
                                    {}});
            }
        }
        auto fragment = restate(std::move(root), {Scope::Session, rank, flag});
        std::move(problems.begin(), problems.end(), std::back_inserter(fragment.diagnostics));
        out_.fragments.push_back(std::move(fragment));
    }

    static std::string add_set(Node& root, const std::string& set) {
        auto parsed = parse_assignment(set);
        if (!parsed) return parsed.error().message;
        graft(root, std::move(*parsed));
        return {};
    }

    // A later --set of the same key replaces the earlier one.
    static void graft(Node& onto, Node from) {
        for (auto& member : from.members) {
            auto* there = onto.find(member.key);
            if (!there)
                onto.members.push_back(std::move(member));
            else if (there->is(Node::Kind::Map) && member.value.is(Node::Kind::Map))
                graft(*there, std::move(member.value));
            else
                *there = std::move(member.value);
        }
    }

    const Environment& environment_;
    Sources out_;
    std::size_t in_checkout_ = 0;  // servers
};

}  // namespace

Sources discover(const Environment& environment, const std::vector<PluginFragment>& plugins) {
    return Discovery(environment).run(plugins);
}

Result<std::string> read_file(const std::string& path, std::size_t most_bytes, Writable writable) {
    // One system call for each of the many places where nothing is. A link to nowhere is there, and
    // means something else was expected.
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0) {
        const bool absent = errno == ENOENT || errno == ENOTDIR;
        return Error{absent ? ErrorCode::NotFound : ErrorCode::Io,
                     std::string("cannot read it: ") + std::strerror(errno)};
    }
    // Asked before it is opened, since what is not ours may be a pipe or closed to us, and again
    // of what was opened.
    std::optional<core::Writers> writers;
    if (writable != Writable::ByAnybody) {
        writers = core::Writers::of_this_process(
            writable == Writable::ByAdministrators ? core::Groups::Trusted : core::Groups::Refused);
        auto others = core::who_else_replaces(path, *writers);
        if (!others.empty()) return Error{ErrorCode::Denied, std::move(others)};
    }
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return Error{ErrorCode::Io, std::string("cannot read it: ") + std::strerror(errno)};
    struct Closer {
        int fd;
        ~Closer() { ::close(fd); }
    } closer{fd};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return Error{ErrorCode::Io, "cannot read it: not a regular file"};
    if (writers) {
        auto others = core::who_else_writes(fd, *writers);
        if (!others.empty()) return Error{ErrorCode::Denied, std::move(others)};
    }
    std::string text(
        std::min<std::size_t>(static_cast<std::size_t>(status.st_size), most_bytes) + 1, '\0');
    std::size_t size = 0;
    while (size <= most_bytes) {
        if (size == text.size()) text.resize(std::min(2 * text.size(), most_bytes + 1));
        const auto got = ::read(fd, text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return Error{ErrorCode::Io, std::string("cannot read it: ") + std::strerror(errno)};
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return text;
}

Fragment read_source(const std::string& path, Source source, Candidate& candidate,
                     ParsedTexts* parsed) {
    Fragment fragment;
    const bool project = from_project(source.scope);
    const auto text = read_file(path, kFileBytes,
                                project                             ? Writable::ByUserAlone
                                : source.scope == Scope::Enterprise ? Writable::ByAdministrators
                                                                    : Writable::ByAnybody);
    const auto format = format_of(path);
    if (text && format) {
        fragment = read_fragment(*text, *format, std::move(source), parsed);
        candidate.found = fragment.broken ? Candidate::Found::Broken : Candidate::Found::Read;
        if (fragment.broken) candidate.note = fragment.diagnostics.front().message;
        return fragment;
    }
    fragment.source = std::move(source);
    if (!text && text.error().code == ErrorCode::NotFound) return fragment;  // Absent
    if (!text && text.error().code == ErrorCode::Denied && project) {
        candidate.found = Candidate::Found::Ignored;
        candidate.note = "not read, since others may write it: " + text.error().message;
        fragment.diagnostics.push_back(
            {RuleId::UnsafeFile, Severity::Warning, fragment.source.place({}), candidate.note, {}});
        return fragment;
    }
    candidate.found = Candidate::Found::Unreadable;
    candidate.note = text ? "unknown kind of file; expected one of " + core::join(suffixes(), ", ")
                          : text.error().message;
    fragment.broken = true;
    fragment.diagnostics.push_back(
        {RuleId::UnreadableFile, Severity::Error, fragment.source.place({}), candidate.note, {}});
    return fragment;
}

Environment Environment::of_this_process() {
    Environment environment;
    // Service managers start programs without a HOME; the person has one all the same.
    std::optional<std::string> home;
    if (const char* said = std::getenv("HOME"); said && *said)
        home = said;
    else if (const auto* person = ::getpwuid(::getuid()); person && *person->pw_dir)
        home = person->pw_dir;
    environment.variable = [home](const std::string& name) -> std::optional<std::string> {
        if (name == "HOME") return home;
        const char* value = std::getenv(name.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
    std::error_code ignored;  // without a working directory there is no project
    environment.working_directory = std::filesystem::current_path(ignored).string();
    environment.home = home.value_or("");
    const auto config_home = environment.variable("XDG_CONFIG_HOME").value_or("");
    // The base directory specification: relative paths there are to be ignored.
    if (config_home.starts_with('/'))
        environment.config_home = config_home;
    else if (!environment.home.empty())
        environment.config_home = environment.home + "/.config";
    return environment;
}

}  // namespace patchbay::config
