#include "app/foreign_servers.hpp"

#include "app/client_file.hpp"
#include "app/scope_file.hpp"
#include "config/ids.hpp"
#include "config/show.hpp"
#include "config/sources.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

namespace patchbay::app {
namespace edit = config::edit;
namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

constexpr std::string_view kWorkspace[] = {"${workspaceFolder}", "${workspaceRoot}"};

// The table in which a file of ours has entries in the words of this client.
std::string dialect_table(const KnownClient& client) {
    const auto& last = client.tables.front().back();
    return last == "mcp_servers" || last == "servers" ? last : "mcpServers";
}

// With the folder in place of its name; false: there is no folder, and `value` names one.
bool place_folder(json::value& value, const std::string& folder) {
    bool fine = true;
    if (auto* table = value.if_object())
        for (auto& member : *table) fine &= place_folder(member.value(), folder);
    if (auto* list = value.if_array())
        for (auto& each : *list) fine &= place_folder(each, folder);
    auto* text = value.if_string();
    if (!text) return fine;
    for (const auto name : kWorkspace)
        for (auto at = text->find(name); at != text->npos; at = text->find(name, at)) {
            if (folder.empty()) return false;
            text->replace(at, name.size(), folder);
            at += folder.size();
        }
    return fine;
}

// A program or folder that is not whole begins where the client was started.
bool place_paths(json::object& entry, const std::string& folder) {
    for (const auto* key : {"command", "cwd"}) {
        const auto word = core::text_in(&entry, key);
        if (!word || word->empty() || std::string_view("/~$").find(word->front()) != word->npos)
            continue;
        if (key == std::string_view("command") && word->find('/') == word->npos) continue;
        if (folder.empty()) return false;
        entry[key] = (fs::path(folder) / std::string(*word)).lexically_normal().string();
    }
    return true;
}

// What says nothing. TOML has no word for a null.
void leave_empty_out(json::object& entry) {
    const auto is_empty = [](const json::value& value) {
        return value.is_null() || (value.is_object() && value.get_object().empty());
    };
    for (auto each = entry.begin(); each != entry.end();)
        each = is_empty(each->value()) ? entry.stable_erase(each) : each + 1;
}

// Of a file that has thousands, those alone.
json::array inputs_named_in(const std::string& text, const json::value* inputs) {
    json::array wanted;
    if (!inputs || !inputs->is_array() || text.find("${input:") == text.npos) return wanted;
    for (const auto& each : inputs->get_array())
        if (const auto id = core::text_in(each.if_object(), "id");
            id && text.find("${input:" + std::string(*id) + "}") != text.npos)
            wanted.push_back(each);
    return wanted;
}

ForeignServer restated(const KnownClient& client, const std::string& path, const std::string& name,
                       json::object entry, const json::value* inputs, const std::string& folder) {
    ForeignServer server{name, {}, {}, {}};
    if (client.restate) {
        auto own = client.restate(std::move(entry));
        if (!own) return server.left = own.error().message, server;
        entry = std::move(*own);
    }
    leave_empty_out(entry);
    json::value placed(std::move(entry));
    if (!place_folder(placed, folder) || !place_paths(placed.get_object(), folder))
        return server.left =
                   "it begins in the folder of a project; --scope project or local takes "
                   "it for the one that we are in",
               server;
    const auto text = json::serialize(placed);
    // In no client's file do they mean what they mean in ours: nobody who wrote it has asked for that.
    for (const std::string_view kind : {"${command:", "${file:", "${secret:", "${keyring:"})
        if (text.find(kind) != text.npos)
            return server.left = "it says " + std::string(kind) +
                                 "...}, which would have a meaning of its own here; write that "
                                 "server by hand: patchbay mcp add",
                   server;
    json::object root{{dialect_table(client), json::object{{name, std::move(placed)}}}};
    if (auto wanted = inputs_named_in(text, inputs); !wanted.empty())
        root["inputs"] = std::move(wanted);
    std::vector<config::Fragment> one;
    one.push_back(config::read_fragment(json::serialize(root), config::Format::Json,
                                        {config::Scope::User, 0, path}));
    config::settle_ids(one);
    auto& fragment = one.front();
    for (const auto& each : fragment.diagnostics)
        (each.severity == config::Severity::Error ? server.left : server.warnings.emplace_back()) =
            each.message;
    if (fragment.servers.size() != 1) {
        if (server.left.empty()) server.left = "its entry is no table of settings";
        return server;
    }
    const auto& read = fragment.servers.front();
    server.id = read.id;
    if (!read.refused.empty()) server.left = read.refused;
    if (const auto body = config::to_json(read.body); body.is_object())
        server.entry = body.get_object();
    return server;
}

}  // namespace

std::vector<std::string> foreign_files(const KnownClient& client, const Lookout& out) {
    std::vector<std::string> files{file_of(client, out.environment)};
    for (auto& each : profile_files_of(client, out.environment)) files.push_back(std::move(each));
    if (!out.project.empty()) files.push_back(project_file_of(client, out.project));
    const auto loaded = config::load(out.environment);
    std::erase_if(files, [&](const std::string& file) {
        return file.empty() || std::any_of(loaded.candidates.begin(), loaded.candidates.end(),
                                           [&](const auto& own) { return own.path == file; });
    });
    return files;
}

Result<ForeignFile> read_foreign(const KnownClient& client, const std::string& path,
                                 const Lookout& out) {
    ForeignFile file{&client, path, path == project_file_of(client, out.project), {}};
    if (file.of_checkout)
        if (auto inside = check_inside(path, out.project); !inside) return inside.error();
    const auto seen = ClientFile::read(path);
    if (!seen) return seen.error();
    if (!seen->there()) return file;
    const auto root = edit::read(seen->text(), client.format);
    if (!root) return in_file(path, root.error());
    std::vector<edit::Path> tables{table_of(client, *root)};
    // Claude Code has what its user says of one project in the file of all of them.
    if (std::string_view(client.id) == "claude" && !out.project.empty())
        tables.push_back({"projects", out.project, "mcpServers"});
    for (const auto& table : tables) {
        const bool of_project = file.of_checkout || &table != &tables.front();
        const auto* found = edit::find(*root, table);
        const auto* servers = found ? found->if_object() : nullptr;
        if (!servers) continue;
        for (const auto& member : *servers) {
            if (runs_patchbay(member.value(), out.self)) continue;
            const auto* entry = member.value().if_object();
            file.servers.push_back(entry ? restated(client, path, member.key(), *entry,
                                                    root->if_contains("inputs"),
                                                    of_project ? out.project : out.folder)
                                         : ForeignServer{member.key(), {}, "it is no table", {}});
        }
    }
    return file;
}

}  // namespace patchbay::app
