// Finds the servers of a file, whichever program it was written for, has their dialect restated, and
// judges the shape of what stands beside them.
#include "config/dialects.hpp"

#include "config/approval.hpp"
#include "config/keys.hpp"
#include "config/parsed_texts.hpp"
#include "config/rules.hpp"
#include "config/server_lists.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace patchbay::config {

namespace {

// Later steps compare lists with each other; this bounds them all. Null: none is too long.
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

// In one file: each name beside them is compared with those of all servers. Of more nobody can tell.
constexpr std::size_t kMostStraySwitches = 64;
constexpr std::size_t kMostStrayNames = 256;

constexpr const char* kServersStand = "; servers stand below \"servers\" or \"mcpServers\"";

// By another name: `context_servers`.
bool holds_servers(const Node& table) {
    return std::any_of(table.members.begin(), table.members.end(), [](const Member& member) {
        return member.value.is(Node::Kind::Map) && defines_connection(member.value);
    });
}

class Restater {
public:
    Restater(Node& root, Fragment& out) : root_(root), out_(out) {}

    void run() {
        const auto* enabled = root_.find("enabled");
        off_ = enabled && !(enabled->is(Node::Kind::Flag) && enabled->flag);
        const auto* mcp = root_.find("mcp");
        for (const auto* table : {static_cast<const Node*>(&root_), mcp}) {
            if (!table) continue;
            if (table->members.size() > kMostInOne) {
                out_.broken = true;
                return misshapen(RuleId::TooLarge, table->members[kMostInOne].mark,
                                 "more than 4096 keys beside each other, the limit");
            }
            for (const auto& member : table->members) lists_.take(member, table == mcp);
        }
        for (auto& member : root_.members) top_level(member);
        turn_off_elsewhere();
    }

private:
    void note(RuleId rule, Severity severity, Mark mark, std::string text) {
        config::note(out_, rule, severity, mark, std::move(text));
    }
    void misshapen(RuleId rule, Mark mark, std::string text) {
        note(rule, Severity::Error, mark, std::move(text));
        out_.broken = out_.broken || out_.source.scope == Scope::Enterprise;
    }

    void top_level(Member& member) {
        const auto& key = member.key;
        if (lists_.taken(member)) {
            const bool beside_servers = root_.find("servers") || of_another_program();
            if (beside_servers || kind_of_server_list(key) == ServerList::Off) return;
            return close_for(RuleId::UnreadRule, member,
                             core::printable(key, 80) +
                                 ": names the only servers of its own file, and there are none");
        }
        if (kind_of_server_list(key) != ServerList::None) return unread_list(member, key);
        if (key == "servers") return servers(member, of_vs_code(root_) ? kVsCode : kOurs);
        for (const auto& table : kForeignTables)
            if (key == table.name) return servers(member, table.dialect);
        if (key == "mcp" && member.value.is(Node::Kind::Map)) {
            for (auto& inner : member.value.members) {
                if (inner.key == "servers")
                    servers(inner, of_vs_code(member.value) ? kVsCode : kNested);
                else if (inner.key == "mcpServers")
                    servers(inner, kDesktop);
                else if (lists_.taken(inner))
                    continue;
                else if (nearly_servers(inner.key) &&
                         kind_of_server_list(inner.key) == ServerList::None)
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
        if (kind_of_server_list(inner.key) != ServerList::None)
            return unread_list(inner, "mcp." + inner.key);
        const auto& value = inner.value;
        const bool server = value.is(Node::Kind::Map) && defines_connection(value);
        const auto text = "unknown key \"mcp." + core::printable(inner.key, 80) + "\"" +
                          (server ? kServersStand : "");
        if (out_.source.scope == Scope::Enterprise)
            return misshapen(RuleId::UnknownKey, inner.mark, text);
        if (may_forbid(inner))
            close_for(RuleId::UnreadRule, inner,
                      text + "; it may hold a rule that forbids something");
        else if (server)
            note(RuleId::UnknownKey, Severity::Warning, inner.mark, text);
    }

    void unread_list(Member& member, const std::string& key) {
        const auto text = core::printable(key, 80) + ": expected names of servers";
        if (out_.source.scope == Scope::Enterprise)
            return misshapen(RuleId::InvalidValue, member.mark, text);
        close_for(RuleId::InvalidValue, member, text);
    }

    // A list may name servers of other files.
    void turn_off_elsewhere() {
        auto left = lists_.off();
        for (const auto& entry : out_.servers) left.erase(entry.id);
        for (const auto& [name, mark] : left) {
            ServerEntry entry{name, mark, Node::of_map(mark), {}};
            turn_off(entry, lists_.left_out(name));
            out_.servers.push_back(std::move(entry));
        }
    }

    // A file with another program's servers is that program's; its other keys are not ours to
    // judge.
    void unknown(Member& member) {
        const auto text = "unknown table or key \"" + core::printable(member.key, 80) + "\"" +
                          core::did_you_mean(member.key, top_level_keys(), hints_) +
                          (holds_servers(member.value) ? kServersStand : "");
        if (out_.source.scope == Scope::Enterprise)
            return misshapen(RuleId::UnknownTable, member.mark, text);
        if (!core::nearest(member.key, {"permissions", "policy"}).empty())
            return close_for(RuleId::UnreadRule, member,
                             text);  // most likely rules that would forbid something
        if (nearly_servers(member.key) && misnamed_servers(member, text)) return;
        // That name is ours, also in another program's file.
        if (member.key == "patchbay" && member.value.find("gateway")) {
            note(RuleId::UnknownTable, Severity::Error, member.mark,
                 text + "; [gateway] stands by itself");
            return close_gateway(member.mark);
        }
        if (of_another_program()) return;
        // Who may come in may stand there.
        if (!core::nearest(member.key, {"gateway"}).empty()) close_gateway(member.mark);
        const auto& value = member.value;
        const bool server = value.is(Node::Kind::Map) && defines_connection(value);
        if (may_forbid(member)) {
            // Whole as it is, it could only have been itself.
            if (server)
                return misnamed_server(member, text + "; a server stands below \"servers\"");
            if (auto names = names_beside_switches(member);
                names && out_.stray_switches.size() < kMostStraySwitches &&
                (stray_names_ += names->size()) <= kMostStrayNames)
                return out_.stray_switches.push_back({member.mark, text, std::move(*names)});
            return close_for(RuleId::UnreadRule, member,
                             text + "; it may hold a rule that forbids something");
        }
        note(RuleId::UnknownTable, out_.source.is_flag() ? Severity::Error : Severity::Warning,
             member.mark,
             text + (server ? "; a server stands below \"servers\" or \"mcpServers\"" : ""));
    }

    // Which tools it would have forbidden nobody can tell.
    void close_for(RuleId rule, Member& member, const std::string& text) {
        note(rule, Severity::Error, member.mark, text);
        member.key = "permissions";
        close_if_it_bars(member);
    }

    // `[server.x]`: x goes down with the rules that were meant for it. False: there are none.
    bool misnamed_servers(Member& member, const std::string& text) {
        bool any = false;
        for (auto& inner : member.value.members) {
            if (!may_forbid(inner)) continue;
            any = true;
            if (!inner.value.is(Node::Kind::Map)) {
                close_for(RuleId::UnreadRule, member, text);
                return true;
            }
            misnamed_server(inner, text);
        }
        return any;
    }

    void misnamed_server(Member& server, const std::string& why) {
        ServerEntry entry{server.key, server.mark, Node::of_map(server.mark), {}};
        refuse(entry, RuleId::UnknownTable, server.mark, why);
        out_.servers.push_back(std::move(entry));
    }

    // `inputs` is VS Code's alone, and so is the folder where it looks for its file.
    bool of_vs_code(const Node& beside) const {
        const auto& file = out_.source.file;
        const auto folder = file.substr(0, file.rfind('/') + 1);
        return beside.find("inputs") || folder.ends_with("/.vscode/");
    }

    bool of_another_program() const {
        if (root_.find("servers")) return false;
        const auto* mcp = root_.find("mcp");
        const bool at_the_top =
            std::any_of(std::begin(kForeignTables), std::end(kForeignTables),
                        [&](const auto& table) { return root_.find(table.name); });
        return at_the_top || (mcp && (mcp->find("servers") || mcp->find("mcpServers")));
    }

    // Kandev turns off all servers of a file with one word.
    void enabled(const Member& member) {
        const bool enterprise = out_.source.scope == Scope::Enterprise;
        const bool servers = root_.find("servers");
        if (!servers && of_another_program() && !enterprise) return;
        if (!member.value.is(Node::Kind::Flag)) {
            return misshapen(RuleId::InvalidValue, member.value.mark,
                             "enabled: " + mismatch("true or false", member.value));
        }
        if (servers) return;
        const std::string text =
            "enabled: it is for the servers of the same source, and there are none; of one server "
            "it "
            "is servers.ID.enabled";
        if (enterprise && !member.value.flag) return misshapen(RuleId::NoEffect, member.mark, text);
        note(RuleId::NoEffect, out_.source.is_flag() ? Severity::Error : Severity::Warning,
             member.mark, text);
    }

    bool is_of_others() const {
        const auto* servers = root_.find("servers");
        const bool tool_loop = servers && servers->is(Node::Kind::List);
        return tool_loop || of_another_program();
    }

    void tell_no_effect(const Member& member) {
        if (is_of_others()) return;
        note(RuleId::NoEffect, out_.source.is_flag() ? Severity::Error : Severity::Warning,
             member.mark, member.key + ": kept for later versions, and without effect in this one");
    }

    void exclusive(const Member& member) {
        if (out_.source.scope != Scope::Enterprise) {
            return note(RuleId::NotAllowedHere, Severity::Warning, member.mark,
                        "exclusive: read in enterprise files only");
        }
        if (!member.value.is(Node::Kind::Flag)) {
            return misshapen(RuleId::InvalidValue, member.value.mark,
                             "exclusive: " + mismatch("true or false", member.value));
        }
        out_.exclusive = member.value.flag;
    }

    void table(Member& member) {
        if (member.key == "policy") member.key = "permissions";
        const auto& later = keys_for_later();
        if (std::find(later.begin(), later.end(), member.key) != later.end()) {
            if (out_.source.scope == Scope::Enterprise && may_forbid(member))
                return misshapen(RuleId::NoEffect, member.mark,
                                 member.key +
                                     ": without effect in this version, so what it forbids "
                                     "would be allowed");
            tell_no_effect(member);
        }
        if ((member.key == "agents" || member.key == "templates") && is_of_others())
            return;  // theirs are something else
        // Of a checkout they are for the program that it is written for.
        if (member.key == "bundles" && is_of_others() &&
            (of_another_program() || from_project(out_.source.scope) ||
             !member.value.is(Node::Kind::Map)))
            return;
        if (!member.value.is(Node::Kind::Map)) {
            misshapen(RuleId::InvalidValue, member.value.mark,
                      member.key + ": expected a table, found " + name_of(member.value.kind));
            return close_if_it_bars(member);
        }
        if (const auto* found = too_long(member.value)) {
            misshapen(RuleId::TooLarge, found->mark,
                      member.key + ": more than 4096 values in one list or table, the limit");
            return close_if_it_bars(member);
        }
        if (member.key == "agents")
            for (auto& agent : member.value.members) own_servers(agent);
        for (auto& other : out_.tables) {
            if (other.key != member.key) continue;
            misshapen(RuleId::ConflictingKeys, member.mark,
                      "policy and permissions are one table; keep one of them");
            return close_if_it_bars(other);
        }
        out_.tables.push_back(std::move(member));
    }

    // `servers` of an agent as a table: a server of its own, or `ID = true`. The first are taken out, and what is
    // left is a list of ids; where something is neither of both it stays as it is, and read_agent() says so.
    void own_servers(Member& agent) {
        auto* servers = agent.value.find("servers");
        const auto scope = out_.source.scope;
        if (!servers || !servers->is(Node::Kind::Map) || scope == Scope::Plugin ||
            from_project(scope))
            return;
        const auto is_pick = [](const Node& value) {
            return value.is(Node::Kind::Flag) && value.flag;
        };
        for (const auto& each : servers->members)
            if (!is_pick(each.value) && !defines_connection(each.value)) return;
        auto picks = Node::of_list(servers->mark);
        for (auto& each : servers->members) {
            picks.items.push_back(Node::of_text(each.key, each.mark));
            if (is_pick(each.value)) continue;
            entry(std::move(each.key), each.mark, std::move(each.value), kOurs);
            out_.servers.back().agent = agent.key;
        }
        *servers = std::move(picks);
    }

    // Rules that cannot be read must not end up as no rules: merge refuses what is no table, and with
    // it every tool, or everybody who comes to the gateway.
    void close_if_it_bars(Member& member) {
        if (member.key == "permissions" || member.key == "gateway") close_table(member);
    }

    void close_gateway(const Mark& mark) {
        Member meant{"gateway", mark, Node()};
        close_table(meant);
    }

    void close_table(Member& member) {
        member.value = Node();  // no table
        member.value.mark = member.mark;
        const auto known = std::find_if(out_.tables.begin(), out_.tables.end(),
                                        [&](const auto& t) { return t.key == member.key; });
        if (known == out_.tables.end())
            out_.tables.push_back(std::move(member));
        else if (&*known != &member)
            known->value = std::move(member.value);
    }

    void servers(Member& member, Dialect dialect) {
        auto& value = member.value;
        if (value.is(Node::Kind::Null))
            return note(RuleId::NoEffect, Severity::Warning, member.mark,
                        member.key + ": there is nothing in it (null), so it names no server");
        if (value.members.size() > kMostInOne || value.items.size() > kMostInOne) {
            misshapen_servers(RuleId::TooLarge, value.mark,
                              member.key + ": more than 4096 servers in one file, the limit");
        } else if (value.is(Node::Kind::Map)) {
            for (auto& server : value.members)
                entry(std::move(server.key), server.mark, std::move(server.value), dialect);
        } else if (value.is(Node::Kind::List)) {
            for (auto& server : value.items) listed(std::move(server), dialect);
        } else {
            misshapen_servers(
                RuleId::InvalidValue, value.mark,
                member.key + ": expected a table of servers, found " + name_of(value.kind));
        }
    }

    // Whatever it would have adjusted is unknown.
    void misshapen_servers(RuleId rule, Mark mark, std::string text) {
        misshapen(rule, mark, std::move(text));
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
        if (defines_connection(body)) return note(RuleId::InvalidName, Severity::Error, mark, text);
        misshapen_servers(RuleId::InvalidName, mark, text);
    }

    void entry(std::string id, Mark mark, Node body, Dialect dialect) {
        ServerEntry entry{std::move(id), mark, std::move(body), {}};
        entry.words = dialect == kOurs ? Words::Ours : Words::AnotherPrograms;
        if (!entry.body.is(Node::Kind::Map)) {
            refuse(entry, RuleId::InvalidValue, entry.body.mark,
                   std::string("expected a table of settings, found ") + name_of(entry.body.kind));
        } else if (const auto* found = too_long(entry.body)) {
            refuse(entry, RuleId::TooLarge, found->mark,
                   "more than 4096 values in one list or table, the limit");
        } else {
            if (dialect == kCodex) restate_codex(entry);
            if (dialect == kDesktop) restate_desktop(entry, out_);
            if (dialect == kVsCode) restate_vs_code(entry, root_, out_.source);
            pass_over_foreign(entry, dialect, out_);
            hoist_transport(entry);
            rename(entry, dialect);
            if (starts_ourselves(entry.body))
                turn_off(entry,
                         "it is `patchbay serve` itself, which would start itself without end; "
                         "with --only or --config it is another one");
            else if (off_ && (dialect == kOurs || dialect == kVsCode))
                turn_off(entry, "set enabled = true at the top of that file");
            else if (auto turn_on = lists_.left_out(entry.id); !turn_on.empty())
                turn_off(entry, std::move(turn_on));
        }
        out_.servers.push_back(std::move(entry));
    }

    static void turn_off(ServerEntry& entry, std::string turn_on) {
        entry.turn_on = std::move(turn_on);
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
                    entry, RuleId::ConflictingKeys, member.mark,
                    "\"" + core::printable(member.key, 80) +
                        "\" stands both in the server and in its transport table; keep one");
            }
            members.push_back(std::move(member));
        }
    }

    Node& root_;
    Fragment& out_;
    core::Effort hints_{core::Effort::kOneLoad};
    std::size_t stray_names_ = 0;
    bool off_ = false;  // `enabled` of the whole file
    ServerLists lists_;
};

}  // namespace

bool starts_ourselves(const Node& body) {
    const auto* command = body.find("command");
    const auto* args = body.find("args");
    const auto* env = body.find("env");
    if (!command || !args || args->items.empty() || (env && !env->members.empty()) ||
        body.find("cwd"))
        return false;
    const auto& program = command->text;
    return program.substr(program.rfind('/') + 1) == "patchbay" &&
           args->items.front().text == "serve" &&
           std::none_of(args->items.begin(), args->items.end(), [](const Node& word) {
               return word.text.starts_with("--only") || word.text.starts_with("--config");
           });
}

void refuse(ServerEntry& entry, RuleId rule, Mark mark, std::string why) {
    if (!entry.refused.empty()) return;
    entry.refused_by = rule;
    entry.refused = std::move(why);
    entry.mark = mark;
}

void note(Fragment& out, RuleId rule, Severity severity, Mark mark, std::string text) {
    out.diagnostics.push_back({rule, severity, out.source.place(mark), std::move(text), {}});
}

Fragment restate(Node root, Source source) {
    Fragment fragment;
    fragment.source = std::move(source);
    Restater(root, fragment).run();
    return fragment;
}

Fragment read_fragment(std::string_view text, Format format, Source source, ParsedTexts* texts) {
    auto parsed = texts ? texts->parse(text, format) : parse(text, format);
    if (!parsed.problem) return restate(std::move(parsed.root), std::move(source));
    Fragment fragment;
    fragment.broken = true;
    fragment.diagnostics.push_back({parsed.problem->rule,
                                    Severity::Error,
                                    source.place(parsed.problem->mark),
                                    std::move(parsed.problem->message) + "; nothing of it is used",
                                    {}});
    fragment.source = std::move(source);
    return fragment;
}

}  // namespace patchbay::config
