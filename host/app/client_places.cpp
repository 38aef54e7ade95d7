// Where the files of known clients are, and what in them is ours.
#include "app/known_clients.hpp"
#include "core/json.hpp"
#include "core/program.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostProfiles = 256;

std::string below(const std::string& folder, std::string_view name) {
    return name.empty() ? folder : folder + "/" + std::string(name);
}

// A link that leads nowhere is there too.
bool is_there(const std::string& path) {
    std::error_code failed;
    return std::filesystem::symlink_status(path, failed).type() !=
           std::filesystem::file_type::not_found;
}

std::string first_there(const std::string& folder, const std::vector<const char*>& names) {
    if (names.empty()) return {};
    for (const auto* name : names)
        if (is_there(below(folder, name))) return below(folder, name);
    return below(folder, names.front());
}

// On Windows with its drive, or as a share of another machine. What is relative moves nothing: from which folder the
// client would take it, nobody knows.
bool is_whole(std::string_view path, Platform platform) {
    if (platform != Platform::Windows) return path.starts_with('/');
    const bool drive = path.size() > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
    return drive || path.starts_with("\\\\");
}

class Bases {
public:
    Bases(const config::Environment& environment, Platform platform)
        : environment_(environment), platform_(platform) {}

    // Nothing: it is not set, or says no whole path.
    std::string said(const char* name) const {
        const auto value =
            name && environment_.variable ? environment_.variable(name) : std::nullopt;
        return value && is_whole(*value, platform_) ? *value : std::string();
    }

    // Empty: nobody knows.
    std::string folder(const ClientFolders& folders) const {
        const auto& [base, name] = folders[static_cast<std::size_t>(platform_)];
        const auto above = path(base);
        return above.empty() ? above : below(above, name);
    }

private:
    std::string home() const {
        const auto profile = platform_ == Platform::Windows ? said("USERPROFILE") : std::string();
        return profile.empty() ? environment_.home : profile;
    }

    std::string path(Base base) const {
        const auto at_home = [&](const char* name) {
            const auto above = home();
            return above.empty() ? above : below(above, name);
        };
        if (base == Base::Home) return home();
        if (base == Base::Config || platform_ == Platform::Linux) {
            if (platform_ != Platform::Windows) return environment_.config_home;
            const auto moved = said("XDG_CONFIG_HOME");
            return moved.empty() ? at_home(".config") : moved;
        }
        if (platform_ == Platform::MacOs) return at_home("Library/Application Support");
        const auto roaming = said("APPDATA");
        return roaming.empty() ? at_home("AppData/Roaming") : roaming;
    }

    const config::Environment& environment_;
    const Platform platform_;
};

// The likeliest first; empty: nobody knows.
std::vector<std::string> folders_of(const KnownClient& client,
                                    const config::Environment& environment, Platform platform) {
    const Bases bases(environment, platform);
    if (auto moved = bases.said(client.variable); !moved.empty()) return {std::move(moved)};
    std::vector<std::string> folders;
    for (const auto& each : client.folders)
        if (auto folder = bases.folder(each); !folder.empty()) folders.push_back(std::move(folder));
    return folders;
}

// Whichever key a client has for it.
const json::value* first_of(const json::object& entry, std::initializer_list<const char*> keys) {
    for (const auto* key : keys)
        if (const auto* value = entry.if_contains(key)) return value;
    return nullptr;
}

bool is_patchbay(std::string_view program, const std::string& self) {
    return program.substr(program.rfind('/') + 1) == "patchbay" ||
           (!self.empty() && core::behind_links(std::string(program)) == self);
}

}  // namespace

std::string file_of(const KnownClient& client, const config::Environment& environment,
                    Platform platform) {
    const auto folders = folders_of(client, environment, platform);
    for (const auto& folder : folders)
        if (auto file = first_there(folder, client.files); is_there(file)) return file;
    return folders.empty() ? std::string() : first_there(folders.front(), client.files);
}

std::vector<std::string> profile_files_of(const KnownClient& client,
                                          const config::Environment& environment,
                                          Platform platform) {
    const auto folders = folders_of(client, environment, platform);
    std::vector<std::string> files;
    if (!client.profiles || folders.empty()) return files;
    std::error_code failed;
    std::filesystem::directory_iterator profile(below(folders.front(), client.profiles), failed);
    for (; !failed && profile != std::filesystem::directory_iterator() &&
           files.size() < kMostProfiles;
         profile.increment(failed))
        if (auto file = first_there(profile->path(), client.files); is_there(file))
            files.push_back(std::move(file));
    std::sort(files.begin(), files.end());
    return files;
}

std::string project_file_of(const KnownClient& client, const std::string& folder) {
    return first_there(folder, client.project_files);
}

const config::edit::Path& table_of(const KnownClient& client, const json::object& root) {
    // One that is inside of another counts first; a server by its name is none.
    for (auto path = client.tables.rbegin(); path != client.tables.rend(); ++path) {
        const auto* found = config::edit::find(root, *path);
        const auto* table = found ? found->if_object() : nullptr;
        if (table && !table->contains("type") && !table->contains("command")) return *path;
    }
    return client.tables.front();
}

bool runs_patchbay(const json::value& entry, const std::string& self) {
    const auto* table = entry.if_object();
    const auto* command = table ? first_of(*table, {"command", "cmd"}) : nullptr;
    if (!command) return false;
    std::vector<std::string> words;
    const auto add = [&](const json::value* value) {
        if (!value) return;
        if (const auto text = core::text_of(*value)) words.emplace_back(*text);
        if (const auto* list = value->if_array())
            for (const auto& item : *list)
                if (const auto text = core::text_of(item)) words.emplace_back(*text);
    };
    add(command);
    add(table->if_contains("args"));
    return !words.empty() && is_patchbay(words.front(), self) &&
           std::find(words.begin() + 1, words.end(), "serve") != words.end();
}

}  // namespace patchbay::app
