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

using Below = KnownClient::Below;

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

// Empty: nobody knows.
std::string folder_of(const KnownClient& client, const config::Environment& environment) {
    const auto moved = client.variable && environment.variable
                           ? environment.variable(client.variable)
                           : std::nullopt;
    if (moved && moved->starts_with('/')) return *moved;
    const auto& base = client.below == Below::Home ? environment.home : environment.config_home;
    return base.empty() ? std::string() : below(base, client.folder);
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

std::string file_of(const KnownClient& client, const config::Environment& environment) {
    const auto folder = folder_of(client, environment);
    return folder.empty() ? std::string() : first_there(folder, client.files);
}

std::vector<std::string> profile_files_of(const KnownClient& client,
                                          const config::Environment& environment) {
    const auto folder = folder_of(client, environment);
    std::vector<std::string> files;
    if (!client.profiles || folder.empty()) return files;
    std::error_code failed;
    std::filesystem::directory_iterator profile(below(folder, client.profiles), failed);
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
