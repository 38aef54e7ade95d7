#include "plugin/loading/discovery.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "plugin/loading/trust.hpp"
#include "plugin/services/host_services.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::plugin {
namespace {

std::string resolved(const std::string& path) {
    char* real = ::realpath(path.c_str(), nullptr);
    if (!real) return {};
    std::string text(real);
    std::free(real);
    return text;
}

// The same of a name in a folder that has been resolved, where mostly one look is enough.
std::string resolved_in(const std::string& folder, const std::string& name) {
    const auto path = folder + "/" + name;
    struct stat status {};
    if (name.find('/') != name.npos || ::lstat(path.c_str(), &status) != 0 ||
        S_ISLNK(status.st_mode))
        return resolved(path);
    return path;
}

std::string folder_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}
std::string name_in(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

constexpr std::size_t kReadBytes = 4096;  // most manifests and schemas, in one read

// The whole of a small regular file that nobody else may write to.
Result<std::string> read_trusted(const std::string& path, std::size_t most_bytes) {
    const auto failed = [&](const std::string& why) {
        return Error{ErrorCode::Io, path + ": " + why};
    };
    // O_NONBLOCK: a FIFO in its place must not hold up the search.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return failed(std::strerror(errno));
    struct Closer {
        int fd;
        ~Closer() { ::close(fd); }
    } closer{fd};
    struct stat status {};
    if (::fstat(fd, &status) != 0) return failed(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return failed("not a regular file");
    if (auto why = why_untrusted(status, path); !why.empty())
        return Error{ErrorCode::Denied, path + ": " + why};
    // What is as long as it was a moment ago is whole: mostly that is one read.
    const auto size = static_cast<std::size_t>(status.st_size);
    std::string text;
    while (text.size() <= most_bytes) {
        const auto used = text.size();
        text.resize(std::min(most_bytes + 1, used + kReadBytes));
        const auto got = ::read(fd, text.data() + used, text.size() - used);
        if (got < 0 && errno == EINTR) {
            text.resize(used);
            continue;
        }
        if (got < 0) return failed(std::strerror(errno));
        text.resize(used + static_cast<std::size_t>(got));
        if (got == 0 || (text.size() == size && size <= most_bytes)) return text;
    }
    return Error{ErrorCode::Limit, path + ": larger than " + std::to_string(most_bytes) + " bytes"};
}

// Sorted names without hidden ones. Empty optional: `why` tells.
std::vector<std::string> names_in(const std::string& directory, std::string& why) {
    std::vector<std::string> names;
    DIR* stream = ::opendir(directory.c_str());
    if (!stream) {
        why = std::strerror(errno);
        return names;
    }
    while (const dirent* entry = ::readdir(stream)) {
        if (entry->d_name[0] == '.') continue;
        if (names.size() == kEntriesPerPlace) {
            why = "more than " + std::to_string(kEntriesPerPlace) + " entries, the rest is ignored";
            break;
        }
        names.emplace_back(entry->d_name);
    }
    ::closedir(stream);
    std::sort(names.begin(), names.end());
    return names;
}

// Why this host cannot use what the manifest describes; empty: it can.
std::string why_unusable(const Manifest& manifest) {
    if (manifest.generation != PATCHBAY_ABI_MAJOR)
        return "built for ABI generation " + std::to_string(manifest.generation) +
               ", this host speaks " + std::to_string(PATCHBAY_ABI_MAJOR);
    if (manifest.minor > PATCHBAY_ABI_MINOR)
        return "needs ABI " + std::to_string(PATCHBAY_ABI_MAJOR) + "." +
               std::to_string(manifest.minor) + ", this host speaks " +
               std::to_string(PATCHBAY_ABI_MAJOR) + "." + std::to_string(PATCHBAY_ABI_MINOR);
    if (manifest.isolation == "process")
        return "wants isolation = \"process\", which this host does not offer yet";
    const auto& offered = offered_extensions();
    for (const auto& id : manifest.requires_extensions) {
        if (std::find(offered.begin(), offered.end(), id) == offered.end())
            return "requires \"" + core::printable(id, 128) +
                   "\", which this host does not offer; offered: " + core::join(offered, ", ");
        if (const auto grant = grant_for(id); !grant.empty()) {
            const auto found = manifest.grants.find(std::string(grant));
            if (found == manifest.grants.end() || !found->second)
                return "requires \"" + id + "\" but [grants] does not say " + std::string(grant) +
                       " = true";
        }
    }
    return {};
}

class Search {
public:
    explicit Search(const std::vector<std::string>& disabled) : disabled_(disabled) {}

    Discovered found;

    void look_in(const SearchPlace& place) {
        place_ = &place;
        first_here_ = found.plugins.size();
        const auto real = resolved(place.directory);
        if (real.empty())
            return note(place.directory, errno == ENOENT ? "not there" : std::strerror(errno),
                        errno == ENOENT);
        if (std::find(seen_.begin(), seen_.end(), real) != seen_.end())
            return note(place.directory, "already looked at", true);
        seen_.push_back(real);
        look_in_folder(real, true);
        refuse_duplicates();
        shadow();
    }

private:
    void note(const std::string& path, std::string finding, bool ok) {
        found.looked.push_back({*place_, path, std::move(finding), ok});
    }

    void look_in_folder(const std::string& folder, bool is_place) {
        struct stat status {};
        if (::stat(folder.c_str(), &status) != 0) return note(folder, std::strerror(errno), false);
        if (!S_ISDIR(status.st_mode)) return note(folder, "not a directory", false);
        if (auto why = why_untrusted(status, folder); !why.empty())
            return note(folder, "refused: " + why, false);
        std::string trouble;
        const auto names = names_in(folder, trouble);
        if (!trouble.empty()) note(folder, trouble, false);
        std::vector<std::string> manifests, libraries;
        for (const auto& name : names) {
            const auto path = folder + "/" + name;
            if (ends_with(name, ".toml"))
                manifests.push_back(path);
            else if (ends_with(name, ".so"))
                libraries.push_back(path);
            else if (is_place && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
                look_in_folder(path, false);
        }
        const auto before = found.plugins.size();
        const auto real = is_place ? folder : resolved_in(folder_of(folder), name_in(folder));
        // First, since a refused manifest speaks for the library beside it.
        for (const auto& path : manifests) look_at(path, real);
        for (const auto& library : libraries) {
            const bool claimed =
                std::any_of(found.plugins.begin() + static_cast<std::ptrdiff_t>(before),
                            found.plugins.end(), [&](const PluginInfo& info) {
                                return name_in(info.library_path) == name_in(library) ||
                                       info.state == PluginState::Refused;
                            });
            if (!claimed)
                refuse_unnamed(library, "a library without a manifest (plugin.toml beside it)");
        }
        if (is_place && names.empty() && trouble.empty()) note(folder, "empty", true);
    }

    // A thing that has no identity: visible under its file's name.
    void refuse_unnamed(const std::string& path, std::string reason) {
        PluginInfo info;
        const auto file = name_in(path);
        info.id =
            file == "plugin.toml" ? name_in(folder_of(path)) : file.substr(0, file.rfind('.'));
        info.id = core::printable(info.id, 128);
        info.manifest_path = ends_with(path, ".toml") ? path : "";
        info.library_path = ends_with(path, ".so") ? path : "";
        info.place = *place_;
        info.state = PluginState::Refused;
        info.reason = std::move(reason);
        note(path, "refused: " + info.reason, false);
        found.plugins.push_back(std::move(info));
        found.manifests.emplace_back();
    }

    // `folder`: the real one that it is in.
    void look_at(const std::string& path, const std::string& folder) {
        const auto text = read_trusted(path, kManifestBytes);
        if (!text) return refuse_unnamed(path, text.error().message);
        auto manifest = parse_manifest(*text, path);
        if (!manifest) return refuse_unnamed(path, manifest.error().message);

        PluginInfo info;
        info.id = manifest->id;
        info.name = manifest->name;
        info.version = manifest->version;
        info.license = manifest->license;
        info.manifest_path = path;
        info.library_path = folder_of(path) + "/" + manifest->library;
        info.sha256 = manifest->sha256;
        info.place = *place_;
        info.requires_extensions = manifest->requires_extensions;
        info.wants_extensions = manifest->wants_extensions;
        info.grants = manifest->grants;
        info.has_servers = manifest->has_servers;
        // Of a refused one too: what it would provide is missed by somebody.
        for (const auto& provides : manifest->provides)
            info.provides.push_back({provides.kind, provides.name, {}, provides.local});
        info.reason = why_unusable(*manifest);
        if (info.reason.empty()) info.reason = settle_files(*manifest, info, folder);
        if (!info.reason.empty()) {
            info.state = PluginState::Refused;
        } else if (std::find(disabled_.begin(), disabled_.end(), info.id) != disabled_.end()) {
            info.state = PluginState::Disabled;
            info.reason = "disabled by [plugins] disabled";
        }
        for (const auto& warning : manifest->warnings) note(path, "warning: " + warning, true);
        if (info.state == PluginState::Refused) note(path, "refused: " + info.reason, false);
        found.plugins.push_back(std::move(info));
        found.manifests.push_back(std::move(*manifest));
    }

    // Behind all links, and inside of the folder that was judged: what is trusted is files, not names.
    // The schema texts and the library's place; what is wrong with them, or empty.
    std::string settle_files(const Manifest& manifest, PluginInfo& info,
                             const std::string& folder) {
        const auto inside = [&](const std::string& real) {
            return real.rfind(folder + "/", 0) == 0;
        };
        for (std::size_t i = 0; i < manifest.provides.size(); ++i) {
            const auto& file = manifest.provides[i].schema_file;
            if (file.empty()) continue;
            const auto path = folder_of(info.manifest_path) + "/" + file;
            const auto real = resolved_in(folder, file);
            if (real.empty()) return path + ": " + std::strerror(errno);
            if (!inside(real)) return path + ": is a link to outside the manifest's folder";
            auto text = read_trusted(real, kSchemaFileBytes);
            if (!text) return text.error().message;
            if (const auto schema = core::check_json_object(*text); !schema)
                return path + " " + schema.error().message;
            info.provides[i].schema_text = std::move(*text);
        }
        const auto real = resolved_in(folder, manifest.library);
        if (real.empty()) return info.library_path + ": " + std::strerror(errno);
        if (!inside(real))
            return info.library_path + ": is a link to outside the manifest's folder";
        struct stat status {};
        if (::stat(real.c_str(), &status) != 0) return real + ": " + std::strerror(errno);
        if (!S_ISREG(status.st_mode)) return real + ": not a regular file";
        if (auto why = why_untrusted(status, real); !why.empty()) return real + ": " + why;
        info.library_path = real;
        return {};
    }

    // One place says an id once: which of two would win is nobody's guess.
    void refuse_duplicates() {
        for (std::size_t i = first_here_; i < found.plugins.size(); ++i) {
            auto& info = found.plugins[i];
            if (info.version.empty()) continue;  // no identity
            for (std::size_t j = first_here_; j < found.plugins.size(); ++j) {
                const auto& other = found.plugins[j];
                if (i == j || other.id != info.id || other.version.empty()) continue;
                info.state = PluginState::Refused;
                info.reason =
                    "id \"" + info.id + "\" is in this place twice, also in " + other.manifest_path;
                note(info.manifest_path, "refused: " + info.reason, false);
                break;
            }
        }
    }

    // What is refused hides nothing: the next of its name serves. What is disabled does, or to disable
    // the nearest one would bring up another.
    void shadow() {
        for (std::size_t i = first_here_; i < found.plugins.size(); ++i) {
            auto& info = found.plugins[i];
            if (info.state != PluginState::Available && info.state != PluginState::Disabled)
                continue;
            const auto winner = std::find_if(
                found.plugins.begin(),
                found.plugins.begin() + static_cast<std::ptrdiff_t>(first_here_),
                [&](const PluginInfo& other) {
                    return other.id == info.id && (other.state == PluginState::Available ||
                                                   other.state == PluginState::Disabled);
                });
            if (winner != found.plugins.begin() + static_cast<std::ptrdiff_t>(first_here_)) {
                info.state = PluginState::Shadowed;
                info.reason = "the one in " + winner->place.directory + " (" + winner->place.kind +
                              ") comes first";
                note(info.manifest_path, "shadowed: " + info.reason, true);
            } else if (info.state == PluginState::Disabled) {
                note(info.manifest_path, info.reason, true);
            } else {
                note(info.manifest_path, "ok: " + info.id + " " + info.version, true);
            }
        }
    }

    const std::vector<std::string>& disabled_;
    const SearchPlace* place_ = nullptr;
    std::size_t first_here_ = 0;
    std::vector<std::string> seen_;
};

std::vector<std::string> split_path(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find(':', begin), text.size());
        // A relative part would depend on the working directory: anybody's.
        if (end > begin && text[begin] == '/') parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

}  // namespace

SearchEnvironment SearchEnvironment::of_this_process() {
    SearchEnvironment environment;
    environment.raised_privileges = plugin::raised_privileges();
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
    };
    if (!environment.raised_privileges) {
        environment.plugin_path = variable("PATCHBAY_PLUGIN_PATH");
        environment.data_home = variable("XDG_DATA_HOME");
        if (environment.data_home.empty() || environment.data_home.front() != '/') {
            const auto home = variable("HOME");
            environment.data_home = home.empty() ? "" : home + "/.local/share";
        }
    }
    const auto binary = resolved("/proc/self/exe");
    if (!binary.empty()) environment.binary_directory = folder_of(binary);
    return environment;
}

std::vector<SearchPlace> search_places(const SearchOptions& options,
                                       const SearchEnvironment& environment) {
    std::vector<SearchPlace> places;
    const bool users_count = !environment.raised_privileges && !options.users_excluded;
    if (!options.users_excluded)
        for (const auto& directory : options.flag_directories)
            places.push_back({"--plugin-dir", directory});
    if (users_count)
        for (auto& directory : split_path(environment.plugin_path))
            places.push_back({"PATCHBAY_PLUGIN_PATH", std::move(directory)});
    for (const auto& directory : options.config_directories)
        places.push_back({"config", directory});
    if (users_count && !environment.data_home.empty())
        places.push_back({"user", environment.data_home + "/patchbay/plugins"});
    places.push_back({"system", "/usr/local/lib/patchbay/plugins"});
    places.push_back({"system", "/usr/lib/patchbay/plugins"});
    if (options.built_in && !environment.binary_directory.empty())
        places.push_back(
            {"built-in", folder_of(environment.binary_directory) + "/lib/patchbay/plugins"});
    return places;
}

std::vector<SearchPlace> search_places(const SearchOptions& options) {
    return search_places(options, SearchEnvironment::of_this_process());
}

Discovered discover(const std::vector<SearchPlace>& places,
                    const std::vector<std::string>& disabled) {
    Search search(disabled);
    for (const auto& place : places) search.look_in(place);
    return std::move(search.found);
}

}  // namespace patchbay::plugin
