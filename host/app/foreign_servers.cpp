#include "app/foreign_servers.hpp"

#include "app/client_file.hpp"
#include "app/scope_file.hpp"
#include "config/dialects.hpp"
#include "config/ids.hpp"
#include "config/rules.hpp"
#include "config/server_lists.hpp"
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

// Lists by which the file turns servers off outside of their entries; of those that name what alone is on, Gemini's:
// others' are about files of checkouts. Of one that is no list of names nobody knows what it was to turn off.
Result<config::ServerLists> lists_of(const config::Node& root, const config::Node* of_project) {
    config::ServerLists lists;
    const auto take = [&lists](const config::Member& member, bool in_mcp) -> Result<void> {
        lists.take(member, in_mcp);
        if (lists.taken(member)) return {};
        return Error{ErrorCode::Invalid,
                     core::printable(member.key, 80) + ": expected a list of names of servers"};
    };
    using config::ServerList;
    for (const auto* table : {&root, of_project})
        for (std::size_t i = 0; table && i < table->members.size(); ++i)
            if (config::kind_of_server_list(table->members[i].key) == ServerList::Off)
                if (auto taken = take(table->members[i], false); !taken) return taken.error();
    if (const auto* mcp = root.find("mcp"))
        for (const auto& member : mcp->members)
            if (member.key == "excluded" || member.key == "allowed")
                if (auto taken = take(member, true); !taken) return taken.error();
    return lists;
}

void turn_off(json::object& entry) {
    if (entry.contains("disabled"))
        entry["disabled"] = true;
    else
        entry["enabled"] = false;
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

// The places of what stands in the client's file; of what has come by another name there, that of what is around it.
void take_marks(config::Node& node, const config::Node* original, config::Mark otherwise) {
    node.mark = original ? original->mark : otherwise;
    for (auto& member : node.members) {
        const config::Member* same = nullptr;
        if (original)
            for (const auto& each : original->members)
                if (each.key == member.key) same = &each;
        member.mark = same ? same->mark : node.mark;
        take_marks(member.value, same ? &same->value : nullptr, member.mark);
    }
    for (std::size_t i = 0; i < node.items.size(); ++i)
        take_marks(node.items[i],
                   original && i < original->items.size() ? &original->items[i] : nullptr,
                   node.mark);
}

// Of `inputs` those alone that it names.
json::object as_our_file(const KnownClient& client, const std::string& name, json::value entry,
                         const json::value* inputs) {
    auto wanted = inputs_named_in(json::serialize(entry), inputs);
    json::object root{{dialect_table(client), json::object{{name, std::move(entry)}}}};
    if (!wanted.empty()) root["inputs"] = std::move(wanted);
    return root;
}

// By the reader of our files.
void read_as_ours(ForeignServer& server, const json::object& root, const std::string& path,
                  const config::Node& original) {
    std::vector<config::Fragment> one;
    one.push_back(config::read_fragment(json::serialize(root), config::Format::Json,
                                        {config::Scope::User, 0, path}));
    for (const auto& each : one.front().diagnostics)
        (each.severity == config::Severity::Error ? server.left : server.warnings.emplace_back()) =
            each.message;
    if (one.front().servers.size() != 1) {
        if (server.left.empty()) server.left = "its entry is no table of settings";
        return;
    }
    server.read = one.front().servers.front();
    server.read.mark = server.mark;
    take_marks(server.read.body, &original, server.mark);
    config::settle_ids(one);
    const auto& settled = one.front().servers.front();
    server.id = settled.id;
    if (!settled.refused.empty()) server.left = settled.refused;
    if (const auto body = config::to_json(settled.body); body.is_object())
        server.entry = body.get_object();
}

// Its entry does not say so: whoever looks for what turns it off is led to the list.
void say_which_list(config::ServerEntry& entry, const std::string& turn_on, config::Mark mark) {
    entry.turn_on = turn_on;
    for (auto& member : entry.body.members)
        if (member.key == "enabled") member.mark = member.value.mark = mark;
}

ForeignServer restated(const KnownClient& client, const std::string& path,
                       const config::Member& member, const json::value* inputs,
                       const std::string& folder, const config::ServerLists& lists) {
    ForeignServer server{member.key, {}, {}};
    server.mark = member.mark;
    if (!member.value.is(config::Node::Kind::Map)) return server.left = "it is no table", server;
    auto entry = config::to_object(member.value);
    if (client.restate) {
        auto own = client.restate(std::move(entry));
        if (!own) {
            server.is_part = own.error().code == ErrorCode::Unsupported;
            return server.left = own.error().message, server;
        }
        entry = std::move(*own);
    }
    leave_empty_out(entry);
    const auto turn_on = lists.left_out(member.key);
    if (!turn_on.empty()) turn_off(entry);
    json::value placed(std::move(entry));
    if (!place_folder(placed, folder) || !place_paths(placed.get_object(), folder))
        return server.needs_folder = true, server.left = "it begins in the folder of a project",
               server;
    const auto text = json::serialize(placed);
    // In no client's file do they mean what they mean in ours: nobody who wrote it has asked for that.
    for (const std::string_view kind : {"${command:", "${file:", "${secret:", "${keyring:"})
        if (text.find(kind) != text.npos)
            return server.left = "it says " + std::string(kind) +
                                 "...}, which would have a meaning of its own here; write that "
                                 "server by hand: patchbay mcp add",
                   server;
    read_as_ours(server, as_our_file(client, member.key, std::move(placed), inputs), path,
                 member.value);
    if (!turn_on.empty()) say_which_list(server.read, turn_on, lists.place_of(member.key));
    return server;
}

const config::Node* find(const config::Node& root, const edit::Path& path) {
    const auto* node = &root;
    for (const auto& key : path) {
        node = node->find(key);
        if (!node) return nullptr;
    }
    return node;
}

ForeignFile& fail(ForeignFile& file, Error why, config::Mark mark = {}) {
    file.fault = std::move(why);
    file.fault_mark = mark;
    return file;
}

}  // namespace

std::vector<std::string> foreign_files(const KnownClient& client, const Lookout& out) {
    std::vector<std::string> files{file_of(client, out.environment)};
    for (auto& each : profile_files_of(client, out.environment)) files.push_back(std::move(each));
    if (!out.project.empty()) files.push_back(project_file_of(client, out.project));
    std::erase_if(files, [&](const auto& file) { return file.empty() || out.own.contains(file); });
    return files;
}

Error ForeignFile::error() const {
    if (!fault_mark.line) return *fault;
    return in_file(path,
                   {fault->code, std::to_string(fault_mark.line) + ":" +
                                     std::to_string(fault_mark.column) + ": " + fault->message});
}

ForeignFile read_foreign(const KnownClient& client, const std::string& path, const Lookout& out) {
    // At home both are one, which the user has written.
    const bool of_checkout =
        path == project_file_of(client, out.project) && path != file_of(client, out.environment);
    ForeignFile file{&client, path, of_checkout};
    if (file.of_checkout)
        if (auto inside = check_inside(path, out.project); !inside)
            return fail(file, inside.error());
    if (file.of_checkout)
        if (auto text = config::read_file(path, config::kFileBytes, config::Writable::ByUserAlone);
            !text && text.error().code == ErrorCode::Denied)
            return fail(file, {ErrorCode::Denied, "others may write it: " + text.error().message});
    const auto seen = ClientFile::read(path);
    if (!seen) return fail(file, seen.error());
    file.there = seen->there();
    if (!file.there) return file;
    const auto parsed = config::parse(seen->text(), client.format, edit::kBounds);
    if (parsed.problem)
        return fail(file, {ErrorCode::Invalid, parsed.problem->message}, parsed.problem->mark);
    const auto root = config::to_object(parsed.root);
    std::vector<edit::Path> tables{table_of(client, root)};
    // Claude Code has what its user says of one project in the file of all of them.
    if (std::string_view(client.id) == "claude" && !out.project.empty())
        tables.push_back({"projects", out.project, "mcpServers"});
    const auto lists = lists_of(parsed.root, find(parsed.root, {"projects", out.project}));
    if (!lists) return fail(file, lists.error(), parsed.root.mark);
    for (const auto& table : tables) {
        const bool of_project = file.of_checkout || &table != &tables.front();
        const auto* servers = find(parsed.root, table);
        if (!servers || !servers->is(config::Node::Kind::Map)) continue;
        if (servers->members.size() > config::kMostInOne)
            return fail(file,
                        {ErrorCode::Invalid, table.back() + ": more than " +
                                                 std::to_string(config::kMostInOne) +
                                                 " servers in one file, the limit"},
                        servers->mark);
        for (const auto& member : servers->members) {
            if (runs_patchbay(config::to_json(member.value), out.self)) continue;
            file.servers.push_back(restated(client, path, member, root.if_contains("inputs"),
                                            of_project ? out.project : out.folder, *lists));
            file.servers.back().of_project = of_project;
        }
    }
    return file;
}

}  // namespace patchbay::app
