// Every dialect differs from ours in where the servers stand and in a few key names; so each is a
// place and a list of renamings, and all end in the same Fragment.
#include "config/fragment.hpp"
#include "config/keys.hpp"
#include "config/rules.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace patchbay::config {

namespace {

enum Dialect : unsigned {
    kOurs = 1,     // [servers]; Lace, ToolLoop and Kandev files are the same with other values
    kCodex = 2,    // [mcp_servers]
    kDesktop = 4,  // mcpServers: Claude, Cursor, Windsurf, Gemini
    kVsCode = 8,   // servers and inputs
    kNested = 16,  // mcp.servers
    kAll = 31,
};

struct Alias {
    std::string_view written;
    std::string_view ours;
    unsigned dialects;
};
constexpr std::array kAliases = {
    Alias{"type", "transport", kAll},
    Alias{"program", "command", kAll},
    Alias{"http_headers", "headers", kCodex},
    Alias{"serverUrl", "url", kDesktop},
    Alias{"httpUrl", "url", kDesktop},
    Alias{"disabledTools", "disabled_tools", kDesktop},
    Alias{"excludeTools", "disabled_tools", kDesktop},
    Alias{"enabledTools", "enabled_tools", kDesktop},
    Alias{"includeTools", "enabled_tools", kDesktop},
    Alias{"timeout", "tool_timeout_ms", kDesktop},  // Gemini's
};

// Keys of other programs that mean nothing here. `instead`: of those without which the server is
// another one, what does the same.
struct Foreign {
    std::string_view written;
    unsigned dialects;
    std::string_view instead = {};
};
constexpr std::array kForeign = {
    Foreign{"default_tools_approval_mode", kCodex},
    Foreign{"supports_parallel_tool_calls", kCodex},
    Foreign{"oauth_resource", kCodex, "the server is asked for it"},
    Foreign{"scopes", kCodex, "write oauth.scope"},
    Foreign{"autoApprove", kDesktop},
    Foreign{"alwaysAllow", kDesktop},
    Foreign{"description", kDesktop | kVsCode},
    Foreign{"gallery", kVsCode},
    Foreign{"dev", kVsCode},
    Foreign{"envFile", kDesktop | kVsCode, "write its variables to env"},
    Foreign{"headersHelper", kDesktop,
            "write auth = \"ID\" and a table [auth.ID] with kind = \"bearer\" and command = [...]"},
};

void refuse(ServerEntry& entry, Mark mark, std::string why) {
    if (!entry.refused.empty()) return;
    entry.refused = std::move(why);
    entry.mark = mark;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
}

template <class Change>
void change_texts(Node& node, const Change& change) {
    if (node.is(Node::Kind::Text)) change(node);
    for (auto& item : node.items) change_texts(item, change);
    for (auto& member : node.members) change_texts(member.value, change);
}

// Later steps compare lists with each other; this bounds them all. Null: none is too long.
constexpr std::size_t kMostInOne = 4096;
const Node* too_long(const Node& node) {
    if (node.items.size() > kMostInOne || node.members.size() > kMostInOne) return &node;
    for (const auto& item : node.items) {
        if (const auto* found = too_long(item)) return found;
    }
    for (const auto& member : node.members) {
        if (const auto* found = too_long(member.value)) return found;
    }
    return nullptr;
}

// In one file: each is compared with the names of all servers. Of more nobody can tell.
constexpr std::size_t kMostStraySwitches = 64;

class Restater {
public:
    Restater(Node& root, Fragment& out) : root_(root), out_(out) {}

    void run() {
        const bool vs_code = root_.find("inputs") && root_.find("servers");
        const auto* enabled = root_.find("enabled");
        off_ = enabled && !(enabled->is(Node::Kind::Flag) && enabled->flag);
        if (const auto* mcp = root_.find("mcp")) {
            allowed_ = list_of_names(mcp->find("allowed"));
            excluded_ = list_of_names(mcp->find("excluded"));
        }
        for (auto& member : root_.members) top_level(member, vs_code);
    }

private:
    void note(Severity severity, Mark mark, std::string text) {
        out_.diagnostics.push_back({severity, out_.source.place(mark), std::move(text), {}});
    }
    void misshapen(Mark mark, std::string text) {
        note(Severity::Error, mark, std::move(text));
        out_.broken = out_.broken || out_.source.scope == Scope::Enterprise;
    }

    void top_level(Member& member, bool vs_code) {
        const auto& key = member.key;
        if (key == "servers") return servers(member, vs_code ? kVsCode : kOurs);
        if (key == "mcp_servers") return servers(member, kCodex);
        if (key == "mcpServers") return servers(member, kDesktop);
        if (key == "mcp" && member.value.is(Node::Kind::Map)) {
            for (auto& inner : member.value.members) {
                if (inner.key == "servers")
                    servers(inner, member.value.find("inputs") ? kVsCode : kNested);
                else if (inner.key == "mcpServers")
                    servers(inner, kDesktop);
                else if (nearly_servers(inner.key))
                    misnamed_servers(inner, "unknown table \"mcp." +
                                                core::printable(inner.key, 80) +
                                                "\"; did you mean \"mcp.servers\"?");
                else
                    beside_servers(inner);
            }
            return;
        }
        if (key == "exclusive") return exclusive(member);
        if (key == "enabled") return enabled(member);
        if (key == "inputs" || key == "version" || key == "$schema") return;
        const auto& known = top_level_keys();
        if (std::find(known.begin(), known.end(), key) == known.end()) return unknown(member);
        table(member);
    }

    // Of the table `mcp`. What may be a rule counts whoever's table it is.
    void beside_servers(Member& inner) {
        if (inner.key == "inputs" || inner.key == "serverCommand") return;
        if ((inner.key == "allowed" && allowed_) || (inner.key == "excluded" && excluded_)) return;
        const auto text = "unknown key \"mcp." + core::printable(inner.key, 80) + "\"";
        if (out_.source.scope == Scope::Enterprise) return misshapen(inner.mark, text);
        if (may_forbid(inner))
            close_for(inner, text + "; it may hold a rule that forbids something");
    }

    // Gemini's `mcp.allowed` and `mcp.excluded` name servers. Null: no list of names.
    static const Node* list_of_names(const Node* node) {
        const bool names = node && node->is(Node::Kind::List) &&
                           std::all_of(node->items.begin(), node->items.end(),
                                       [](const Node& item) { return item.is(Node::Kind::Text); });
        return names ? node : nullptr;
    }

    bool left_out(const std::string& server) const {
        const auto holds = [&](const Node& list) {
            return std::any_of(list.items.begin(), list.items.end(),
                               [&](const Node& item) { return item.text == server; });
        };
        return (excluded_ && holds(*excluded_)) || (allowed_ && !holds(*allowed_));
    }

    // A file with another program's servers is that program's; its other keys are not ours to
    // judge.
    void unknown(Member& member) {
        const auto text = "unknown table or key \"" + core::printable(member.key, 80) + "\"" +
                          core::did_you_mean(member.key, top_level_keys());
        if (out_.source.scope == Scope::Enterprise) return misshapen(member.mark, text);
        if (!core::nearest(member.key, {"permissions", "policy"}).empty())
            return close_for(member, text);  // most likely rules that would forbid something
        if (nearly_servers(member.key) && misnamed_servers(member, text)) return;
        if (of_another_program()) return;
        const auto& value = member.value;
        const bool server = value.is(Node::Kind::Map) && defines_connection(value);
        if (may_forbid(member)) {
            // Whole as it is, it could only have been itself.
            if (server)
                return misnamed_server(member, text + "; a server stands below \"servers\"");
            if (auto names = names_beside_switches(member);
                names && out_.stray_switches.size() < kMostStraySwitches)
                return out_.stray_switches.push_back({member.mark, text, std::move(*names)});
            return close_for(member, text + "; it may hold a rule that forbids something");
        }
        note(out_.source.is_flag() ? Severity::Error : Severity::Warning, member.mark,
             text + (server ? "; a server stands below \"servers\" or \"mcpServers\"" : ""));
    }

    // Which tools it would have forbidden nobody can tell.
    void close_for(Member& member, const std::string& text) {
        note(Severity::Error, member.mark, text);
        member.key = "permissions";
        close_permissions(member);
    }

    // `[server.x]`: x goes down with the rules that were meant for it. False: there are none.
    bool misnamed_servers(Member& member, const std::string& text) {
        bool any = false;
        for (auto& inner : member.value.members) {
            if (!may_forbid(inner)) continue;
            any = true;
            if (!inner.value.is(Node::Kind::Map)) {
                close_for(member, text);
                return true;
            }
            misnamed_server(inner, text);
        }
        return any;
    }

    void misnamed_server(Member& server, const std::string& why) {
        ServerEntry entry{server.key, server.mark, Node::of_map(server.mark), {}};
        refuse(entry, server.mark, why);
        out_.servers.push_back(std::move(entry));
    }

    bool of_another_program() const {
        if (root_.find("servers")) return false;
        const auto* mcp = root_.find("mcp");
        return root_.find("mcp_servers") || root_.find("mcpServers") ||
               (mcp && (mcp->find("servers") || mcp->find("mcpServers")));
    }

    // Kandev turns off all servers of a file with one word.
    void enabled(const Member& member) {
        const bool enterprise = out_.source.scope == Scope::Enterprise;
        const bool servers = root_.find("servers");
        if (!servers && of_another_program() && !enterprise) return;
        if (!member.value.is(Node::Kind::Flag)) {
            return misshapen(member.value.mark,
                             "enabled: " + mismatch("true or false", member.value));
        }
        if (servers) return;
        const std::string text =
            "enabled: it is for the servers of the same source, and there are none; of one server "
            "it "
            "is servers.ID.enabled";
        if (enterprise && !member.value.flag) return misshapen(member.mark, text);
        note(out_.source.is_flag() ? Severity::Error : Severity::Warning, member.mark, text);
    }

    void tell_no_effect(const Member& member) {
        const auto* servers = root_.find("servers");
        const bool tool_loop = servers && servers->is(Node::Kind::List);
        if (tool_loop || of_another_program()) return;
        note(out_.source.is_flag() ? Severity::Error : Severity::Warning, member.mark,
             member.key + ": kept for later versions, and without effect in this one");
    }

    void exclusive(const Member& member) {
        if (out_.source.scope != Scope::Enterprise) {
            return note(Severity::Warning, member.mark, "exclusive: read in enterprise files only");
        }
        if (!member.value.is(Node::Kind::Flag)) {
            return misshapen(member.value.mark,
                             "exclusive: " + mismatch("true or false", member.value));
        }
        out_.exclusive = member.value.flag;
    }

    void table(Member& member) {
        if (member.key == "policy") member.key = "permissions";
        const auto& later = keys_for_later();
        if (std::find(later.begin(), later.end(), member.key) != later.end()) {
            if (out_.source.scope == Scope::Enterprise && may_forbid(member))
                return misshapen(member.mark,
                                 member.key +
                                     ": without effect in this version, so what it forbids "
                                     "would be allowed");
            tell_no_effect(member);
        }
        if (!member.value.is(Node::Kind::Map)) {
            if (member.key == "bundles" || member.key == "agents") return;
            misshapen(member.value.mark,
                      member.key + ": expected a table, found " + name_of(member.value.kind));
            return close_permissions(member);
        }
        if (const auto* found = too_long(member.value)) {
            misshapen(found->mark,
                      member.key + ": more than 4096 values in one list or table, the limit");
            return close_permissions(member);
        }
        for (auto& other : out_.tables) {
            if (other.key != member.key) continue;
            misshapen(member.mark, "policy and permissions are one table; keep one of them");
            return close_permissions(other);
        }
        out_.tables.push_back(std::move(member));
    }

    // Rules that cannot be read must not end up as no rules: merge refuses what is no table, and with
    // it every tool.
    void close_permissions(Member& member) {
        if (member.key != "permissions") return;
        member.value = Node();  // no table
        member.value.mark = member.mark;
        const auto known = std::find_if(out_.tables.begin(), out_.tables.end(),
                                        [](const auto& t) { return t.key == "permissions"; });
        if (known == out_.tables.end())
            out_.tables.push_back(std::move(member));
        else if (&*known != &member)
            known->value = std::move(member.value);
    }

    void servers(Member& member, Dialect dialect) {
        auto& value = member.value;
        if (value.is(Node::Kind::Null)) return;
        if (value.members.size() > kMostInOne || value.items.size() > kMostInOne) {
            misshapen_servers(value.mark,
                              member.key + ": more than 4096 servers in one file, the limit");
        } else if (value.is(Node::Kind::Map)) {
            for (auto& server : value.members)
                entry(std::move(server.key), server.mark, std::move(server.value), dialect);
        } else if (value.is(Node::Kind::List)) {
            for (auto& server : value.items) listed(std::move(server), dialect);
        } else {
            misshapen_servers(value.mark, member.key + ": expected a table of servers, found " +
                                              name_of(value.kind));
        }
    }

    // Whatever it would have adjusted is unknown.
    void misshapen_servers(Mark mark, std::string text) {
        misshapen(mark, std::move(text));
        out_.broken = true;
    }

    // `servers: [{name: github, ...}]`
    void listed(Node body, Dialect dialect) {
        const auto mark = body.mark;
        for (const auto* key : {"id", "name"}) {
            const auto* id = body.find(key);
            if (!id || !id->is(Node::Kind::Text)) continue;
            auto name = id->text;
            std::erase_if(body.members, [&](const Member& m) { return m.key == key; });
            return entry(std::move(name), mark, std::move(body), dialect);
        }
        const std::string text = "a server in a list needs an \"id\" or \"name\"";
        if (defines_connection(body)) return note(Severity::Error, mark, text);
        misshapen_servers(mark, text);
    }

    void entry(std::string id, Mark mark, Node body, Dialect dialect) {
        ServerEntry entry{std::move(id), mark, std::move(body), {}};
        entry.words = dialect == kOurs ? Words::Ours : Words::AnotherPrograms;
        if (!entry.body.is(Node::Kind::Map)) {
            refuse(entry, entry.body.mark,
                   std::string("expected a table of settings, found ") + name_of(entry.body.kind));
        } else if (const auto* found = too_long(entry.body)) {
            refuse(entry, found->mark, "more than 4096 values in one list or table, the limit");
        } else {
            if (dialect == kCodex) codex(entry);
            if (dialect == kDesktop) desktop(entry);
            if (dialect == kVsCode) vs_code(entry);
            pass_over_foreign(entry, dialect);
            hoist_transport(entry);
            rename(entry, dialect);
            if ((off_ && (dialect == kOurs || dialect == kVsCode)) || left_out(entry.id))
                turn_off(entry);
        }
        out_.servers.push_back(std::move(entry));
    }

    // Told to who looks at the file, not at every call of the server.
    void pass_over_foreign(ServerEntry& entry, Dialect dialect) {
        std::erase_if(entry.body.members, [&](const Member& member) {
            const auto found =
                std::find_if(kForeign.begin(), kForeign.end(), [&](const auto& each) {
                    return (each.dialects & dialect) && each.written == member.key;
                });
            if (found == kForeign.end()) return false;
            if (!found->instead.empty())
                note(Severity::Warning, member.mark,
                     "server \"" + core::printable(entry.id, 80) + "\": \"" + member.key +
                         "\" is not read; " + std::string(found->instead));
            return true;
        });
    }

    static void turn_off(ServerEntry& entry) {
        entry.off_with_its_file = true;
        if (auto* said = entry.body.find("enabled")) {
            if (said->is(Node::Kind::Flag)) said->flag = false;
            return;
        }
        entry.body.members.push_back({"enabled", entry.mark, Node::of_flag(false, entry.mark)});
    }

    // transport = { type = "stdio", command = ... }
    static void hoist_transport(ServerEntry& entry) {
        auto& members = entry.body.members;
        const auto it = std::find_if(members.begin(), members.end(), [](const Member& m) {
            return m.key == "transport" && m.value.is(Node::Kind::Map);
        });
        if (it == members.end()) return;
        auto inner = std::move(it->value.members);
        members.erase(it);
        for (auto& member : inner) {
            if (entry.body.find(member.key)) {
                return refuse(
                    entry, member.mark,
                    "\"" + core::printable(member.key, 80) +
                        "\" stands both in the server and in its transport table; keep one");
            }
            members.push_back(std::move(member));
        }
    }

    static void rename(ServerEntry& entry, Dialect dialect) {
        for (auto& member : entry.body.members) {
            for (const auto& alias : kAliases) {
                if (!(alias.dialects & dialect) || alias.written != member.key) continue;
                if (entry.body.find(alias.ours)) {
                    return refuse(entry, member.mark,
                                  "\"" + std::string(alias.written) + "\" and \"" +
                                      std::string(alias.ours) + "\" say the same; keep one");
                }
                entry.aliases[std::string(alias.ours)] = member.key;
                member.key = alias.ours;
                break;
            }
        }
    }

    static Node& map_in(Node& body, std::string_view key, Mark mark) {
        if (auto* found = body.find(key)) return *found;
        return body.members.emplace_back(Member{std::string(key), mark, Node::of_map(mark)}).value;
    }

    // env_vars = ["A"] passes variables on, env_http_headers = {H = "A"} sends one as a header, and
    // tools.x = {approval_mode = "approve"} is our level.
    static void codex(ServerEntry& entry) {
        auto members = std::exchange(entry.body.members, {});
        for (auto& member : members) {
            const bool texts = std::all_of(member.value.items.begin(), member.value.items.end(),
                                           [](const Node& n) { return n.is(Node::Kind::Text); });
            if (member.key == "env_vars" && member.value.is(Node::Kind::List) && texts) continue;
            if (member.key == "env_http_headers" && member.value.is(Node::Kind::Map)) continue;
            if (member.key == "tools") approval_modes(member.value);
            entry.body.members.push_back(member);
        }
        for (auto& member : members) {
            if (entry.body.find(member.key)) continue;
            if (member.key == "env_vars") {
                auto& env = map_in(entry.body, "env", member.mark);
                for (const auto& name : member.value.items) {
                    if (env.find(name.text)) continue;
                    env.members.push_back(
                        {name.text, name.mark, Node::of_text("${" + name.text + ":-}", name.mark)});
                }
            } else {
                const auto* target = entry.body.find("headers") ? "headers" : "http_headers";
                auto& headers = map_in(entry.body, target, member.mark);
                for (const auto& [header, mark, variable] : member.value.members) {
                    if (headers.find(header)) continue;
                    headers.members.push_back(
                        {header, mark, Node::of_text("${" + variable.text + "}", variable.mark)});
                }
            }
        }
    }

    static void approval_modes(Node& tools) {
        for (auto& [tool, mark, value] : tools.members) {
            const auto* approval = value.find("approval_mode");
            // What stands beside it may be a rule as well: the whole is judged like any other value.
            if (!approval || !approval->is(Node::Kind::Text) || value.members.size() > 1) continue;
            const bool approved = approval->text == "approve";
            if (!approved && approval->text != "prompt" && approval->text != "auto") continue;
            value = Node::of_text(approved ? "allow-always" : "require-approval", approval->mark);
        }
    }

    // disabled = true, and `tools` as a list of those wanted. Gemini's `trust` of true or false says
    // whether it asks before each call.
    void desktop(ServerEntry& entry) {
        std::erase_if(entry.body.members, [](const Member& member) {
            return member.key == "trust" && member.value.is(Node::Kind::Flag);
        });
        disabled(entry);
        folders(entry);
        tell_of_dollars(entry);
        for (auto& member : entry.body.members) {
            if (member.key == "tools" && member.value.is(Node::Kind::List) &&
                !entry.body.find("enabled_tools")) {
                member.key = "enabled_tools";
            }
        }
        std::erase_if(entry.body.members, [](const Member& m) {  // ["*"]: all
            return m.key == "enabled_tools" && m.value.items.size() == 1 &&
                   m.value.items[0].text == "*";
        });
    }

    // Of `disabled` and `enabled` the stricter counts.
    void disabled(ServerEntry& entry) {
        auto& members = entry.body.members;
        const auto it = std::find_if(members.begin(), members.end(),
                                     [](const Member& m) { return m.key == "disabled"; });
        if (it == members.end()) return;
        if (it->value.is(Node::Kind::Flag)) it->value.flag = !it->value.flag;
        auto* enabled = entry.body.find("enabled");
        if (!enabled) {
            it->key = "enabled";
            entry.aliases["enabled"] = "disabled";
            return;
        }
        if (!it->value.is(Node::Kind::Flag))
            return refuse(entry, it->value.mark,
                          "disabled: " + mismatch("true or false", it->value));
        if (enabled->is(Node::Kind::Flag) && enabled->flag != it->value.flag) {
            note(Severity::Warning, it->mark,
                 "server \"" + core::printable(entry.id, 80) +
                     "\": \"enabled\" and \"disabled\" contradict each other, so it is off; keep "
                     "one of them");
            if (enabled->flag) entry.aliases["enabled"] = "disabled";
            enabled->flag = false;
        }
        members.erase(it);
    }

    // ${workspaceFolder} is the folder above .vscode or of the file, ${userHome} is ${HOME}. An
    // input is a question to a person: its default is taken, and without one the server is refused.
    void vs_code(ServerEntry& entry) const {
        folders(entry);
        change_texts(entry.body, [&](Node& node) {
            for (auto at = node.text.find("${input:"); at != std::string::npos;
                 at = node.text.find("${input:", at)) {
                const auto end = std::min(node.text.find('}', at), node.text.size());
                const auto id = node.text.substr(at + 8, end - at - 8);
                const auto* fallback = default_of(id);
                if (!fallback) {
                    return refuse(entry, node.mark,
                                  "it asks a person for the input \"" + core::printable(id, 80) +
                                      "\"; give that input a default, or write ${VARIABLE} or "
                                      "${file:PATH} instead");
                }
                auto literal = *fallback;
                replace_all(literal, "${", "$${");
                node.text.replace(at, end + 1 - at, literal);
                at += literal.size();
            }
        });
    }

    // As VS Code and Cursor write them.
    void folders(ServerEntry& entry) const {
        auto folder = out_.source.file.substr(0, out_.source.file.rfind('/'));
        for (const std::string_view own : {"/.vscode", "/.cursor"})
            if (folder.ends_with(own)) folder.resize(folder.size() - own.size());
        replace_all(folder, "${", "$${");
        change_texts(entry.body, [&](Node& node) {
            replace_all(node.text, "${workspaceFolder}", folder);
            replace_all(node.text, "${userHome}", "${HOME}");
        });
    }

    // Gemini's reference, which the others keep as it is: nobody else can tell what is meant.
    void tell_of_dollars(const ServerEntry& entry) {
        for (const auto* key : {"env", "headers"}) {
            const auto* table = entry.body.find(key);
            if (!table) continue;
            for (const auto& [name, mark, value] : table->members) {
                const auto& text = value.text;
                const bool variable =
                    text.size() > 1 && text[0] == '$' &&
                    text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", 1) == text.npos;
                if (variable)
                    note(Severity::Warning, value.mark,
                         "server \"" + core::printable(entry.id, 80) + "\": " + key + "." +
                             core::printable(name, 80) + ": \"" + core::printable(text, 80) +
                             "\" is kept as it is; for the variable write \"${" +
                             core::printable(text.substr(1), 80) + "}\"");
            }
        }
    }

    const std::string* default_of(const std::string& id) const {
        const auto* inputs = root_.find("inputs");
        if (!inputs && root_.find("mcp")) inputs = root_.find("mcp")->find("inputs");
        if (!inputs) return nullptr;
        for (const auto& input : inputs->items) {
            const auto* name = input.find("id");
            const auto* value = input.find("default");
            if (name && name->text == id && value && value->is(Node::Kind::Text))
                return &value->text;
        }
        return nullptr;
    }

    Node& root_;
    Fragment& out_;
    bool off_ = false;                                     // `enabled` of the whole file
    const Node *allowed_ = nullptr, *excluded_ = nullptr;  // servers by name; null: none is named
};

}  // namespace

Fragment restate(Node root, Source source) {
    Fragment fragment;
    fragment.source = std::move(source);
    Restater(root, fragment).run();
    return fragment;
}

Fragment read_fragment(std::string_view text, Format format, Source source) {
    auto parsed = parse(text, format);
    if (!parsed.problem) return restate(std::move(parsed.root), std::move(source));
    Fragment fragment;
    fragment.broken = true;
    fragment.diagnostics.push_back({Severity::Error,
                                    source.place(parsed.problem->mark),
                                    std::move(parsed.problem->message) + "; nothing of it is used",
                                    {}});
    fragment.source = std::move(source);
    return fragment;
}

}  // namespace patchbay::config
