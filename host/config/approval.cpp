#include "config/approval.hpp"

#include "config/keys.hpp"
#include "config/launch.hpp"
#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace patchbay::config {

namespace {

namespace json = boost::json;

const std::string* text_of(const Node& body, std::string_view key) {
    const auto* found = body.find(key);
    if (!found)
        if (const auto* nested = body.find("config")) found = nested->find(key);
    return found && found->is(Node::Kind::Text) ? &found->text : nullptr;
}

class Withholder {
public:
    Withholder(std::vector<Fragment>& fragments, const Approvals* approvals,
               const Environment& environment)
        : fragments_(fragments), approvals_(approvals), search_(environment) {}

    void run() {
        find_auth_in_force();
        find_adjustments();
        // Servers first: their digests cover the tables as they were written.
        for (auto& fragment : fragments_) {
            if (!from_project(fragment.source.scope)) continue;
            std::set<std::string_view> judged;
            for (auto& entry : fragment.servers) {
                if (!defines_connection(entry.body)) continue;  // an overlay
                // Of one name the first of a file counts. The others are told, and no copy of what
                // adjusts them is made.
                if (judged.insert(entry.id).second)
                    judge(entry, fragment.source);
                else
                    entry.withheld = proposal_for(entry, fragment.source);
            }
        }
        for (auto& fragment : fragments_) {
            if (!from_project(fragment.source.scope)) continue;
            for (auto& table : fragment.tables)
                if (table.key == "auth") judge_tables(table, fragment);
        }
    }

private:
    // Of a checkout a thousand servers may name one table: it is looked at once, and they hold its
    // digest in place of a copy.
    struct Table {
        const Member* member = nullptr;
        const Source* source = nullptr;
        std::string digest = {};
        std::string waits_for = {};  // its own approval; empty: it needs none, or has it
    };

    using Strength = std::pair<Scope, unsigned>;
    static Strength strength(const Source& source) { return {source.scope, source.rank}; }

    // The merge tells what is none.
    static bool is_table(const Member& member) { return member.value.is(Node::Kind::Map); }

    bool approved(const Proposal& proposal) const {
        return approvals_ && approvals_->approved(proposal);
    }

    // Of each name the one that would count if all were approved: the strongest, and of equals the
    // first.
    void find_auth_in_force() {
        for (const auto& fragment : fragments_) {
            if (fragment.source.scope == Scope::Plugin) continue;
            for (const auto& table : fragment.tables) {
                if (table.key != "auth") continue;
                for (const auto& member : table.value.members) {
                    if (!is_table(member)) continue;
                    auto& now = auth_[member.key];
                    if (!now.source || strength(fragment.source) > strength(*now.source))
                        now = {&member, &fragment.source};
                }
            }
        }
    }

    const Table* table_of(const Node& body) {
        const auto* name = body.find("auth");
        const auto found =
            name && name->is(Node::Kind::Text) ? auth_.find(name->text) : auth_.end();
        if (found == auth_.end()) return nullptr;
        auto& table = found->second;
        if (!table.digest.empty()) return &table;
        table.digest = digest_of(to_json(table.member->value));
        if (!from_project(table.source->scope)) return &table;
        auto needed = proposal_for_table(*table.member, *table.source);
        if (!approved(needed)) table.waits_for = std::move(needed.id);
        return &table;
    }

    // What files of the checkout say about a server without defining it.
    void find_adjustments() {
        for (const auto& fragment : fragments_) {
            if (!from_project(fragment.source.scope)) continue;
            for (const auto& entry : fragment.servers) {
                if (!defines_connection(entry.body))
                    adjusting_[entry.id].push_back({&entry.body, fragment.source.scope});
            }
        }
    }

    Proposal proposal_for_table(const Member& member, const Source& source) const {
        Proposal proposal;
        proposal.id = "auth." + member.key;
        proposal.directory = source.project;
        proposal.place = source.place(member.mark);
        proposal.definition = {{"auth", to_json(member.value)}, {"folder", folder_of(source)}};
        if (const auto method = method_of_table(member.value); approvals_ && !method.empty())
            proposal.definition["plugins"] = {
                {"auth." + method, approvals_->plugin_of_auth(method)}};
        proposal.program =
            look_for_program(launch_of_table(member.value, folder_of(source)), proposal);
        if (proposal.program) proposal.definition["program"] = shown(*proposal.program);
        proposal.digest = digest_of(proposal.definition);
        return proposal;
    }

    // Of equals the first is asked about, and counts: of one name there is one approval, and that of
    // another table would withdraw it.
    void judge_tables(Member& table, Fragment& fragment) {
        const auto& source = fragment.source;
        std::erase_if(table.value.members, [&](const Member& member) {
            if (!is_table(member)) return false;
            const auto place = source.place(member.mark);
            const auto [first, added] = judged_.try_emplace({strength(source), member.key}, place);
            if (!added) {
                fragment.diagnostics.push_back(
                    {RuleId::DuplicateDefinition,
                     Severity::Warning,
                     place,
                     "auth." + core::printable(member.key, 80) + ": already given by " +
                         to_string(first->second) + "; the first one is used",
                     {}});
                return true;
            }
            auto proposal = proposal_for_table(member, source);
            if (approved(proposal)) {
                fragment.auth_programs[member.key] = std::move(proposal.program);
                return false;
            }
            fragment.withheld_auth.push_back(std::move(proposal));
            return true;
        });
    }

    static Proposal proposal_for(const ServerEntry& entry, const Source& source) {
        Proposal proposal;
        proposal.id = entry.id;
        proposal.directory = source.project;
        proposal.place = source.place(entry.mark);
        return proposal;
    }

    void judge(ServerEntry& entry, const Source& source) {
        auto proposal = proposal_for(entry, source);
        entry.program = proposal.program =
            look_for_program(launch_of_server(entry.body, folder_of(source)), proposal);
        proposal.definition = definition_of(entry, source);
        if (const auto* table = table_of(entry.body)) {
            // With another table of that name it would not be what was approved.
            proposal.definition["auth_table"] = table->digest;
            proposal.waits_for = table->waits_for;
        }
        proposal.digest = digest_of(proposal.definition);
        proposal.approved = approved(proposal);
        if (!proposal.waits_for.empty() || !proposal.approved) entry.withheld = std::move(proposal);
    }

    json::object definition_of(const ServerEntry& entry, const Source& source) const {
        json::object definition;
        if (!entry.written.empty()) definition["name"] = entry.written;
        definition["server"] = to_json(entry.body);
        if (!entry.refused.empty()) definition["refused"] = entry.refused;
        definition["folder"] = folder_of(source);
        if (auto adjusted = adjustments(entry.id, source); !adjusted.empty())
            definition["adjusted_by"] = std::move(adjusted);
        if (entry.program) definition["program"] = shown(*entry.program);
        if (approvals_) definition["plugins"] = plugins_of(entry.body);
        return definition;
    }

    // What the files that are as strong as `source`, or stronger, say about the server.
    json::array adjustments(const std::string& id, const Source& source) const {
        json::array list;
        const auto found = adjusting_.find(id);
        if (found == adjusting_.end()) return list;
        for (const auto& [body, scope] : found->second)
            if (scope >= source.scope) list.push_back(to_json(*body));
        return list;
    }

    static std::string folder_of(const Source& source) {
        return source.file.substr(0, std::min(source.file.rfind('/'), source.file.size()));
    }

    // That there is no such program is approved as well: one that comes is another definition.
    static json::value shown(const std::string& program) {
        return program.empty() ? json::value() : json::value(program);
    }

    // Says to whoever is asked about `proposal` what cannot be started, and what is not known yet.
    std::optional<std::string> look_for_program(const std::optional<Launch>& launch,
                                                Proposal& proposal) const {
        if (!launch || !approvals_ || !approvals_->looks_for_program(proposal)) return std::nullopt;
        const auto& [program, fault] = search_.look(*launch);
        proposal.unbound = !program;
        if (!fault.empty())
            proposal.faults.push_back(
                {RuleId::MissingProgram, Severity::Error, proposal.place,
                 (proposal.is_table() ? proposal.id : "server \"" + proposal.id + "\"") + ": " +
                     fault,
                 proposal.id});
        return program;
    }

    json::object plugins_of(const Node& body) const {
        std::vector<std::string> transports;
        if (const auto* named = body.find("transport"); named && named->is(Node::Kind::Text))
            transports.push_back(canonical_transport(named->text));
        else
            transports.push_back(transport_for(body.find("command") || text_of(body, "command"),
                                               text_of(body, "url") ? *text_of(body, "url") : ""));
        if (const auto* more = body.find("fallback")) {
            for (const auto& item : more->items)
                transports.push_back(canonical_transport(item.text));
        }
        // Nobody has written it: an older server is turned to all the same, decision 7.
        if (transports.size() == 1 && transports.front() == "http") transports.push_back("sse");
        json::object plugins;
        for (const auto& transport : transports)
            plugins[transport] = approvals_->plugin_of(transport);
        if (const auto method = method_of(body); !method.empty())
            plugins["auth." + method] = approvals_->plugin_of_auth(method);
        return plugins;
    }

    // The auth method that a server would use; empty: none. Behind a URL that is oauth, when
    // nothing is said and the server asks for it.
    std::string method_of(const Node& body) const {
        const auto* named = body.find("auth");
        if (!named || !named->is(Node::Kind::Text) || named->text.empty())
            return text_of(body, "url") || body.find("oauth") ? "oauth" : "";
        if (named->text == "none") return {};
        const auto table = auth_.find(named->text);
        return table == auth_.end() ? named->text : method_of_table(table->second.member->value);
    }

    static std::string method_of_table(const Node& table) {
        for (const char* key : {"kind", "type"}) {
            const auto* named = table.find(key);
            if (named && named->is(Node::Kind::Text) && !named->text.empty()) return named->text;
        }
        return {};
    }

    std::vector<Fragment>& fragments_;
    const Approvals* approvals_;
    mutable ProgramSearch search_;
    std::map<std::string, Table> auth_;
    std::map<std::pair<Strength, std::string>, Place> judged_;  // tables of the checkout, by name
    std::map<std::string, std::vector<std::pair<const Node*, Scope>>> adjusting_;  // by server
};

}  // namespace

std::string digest_of(const json::value& definition) {
    return core::sha256_hex(json::serialize(core::sorted_by_key(definition)));
}

std::string trust_command(const std::string& id) {
    return "patchbay trust " + core::shell_word(id, 200);
}

std::string how_to_approve(const Proposal& proposal) {
    const std::string text = "; to see and approve it: ";
    if (proposal.waits_for.empty()) return text + trust_command(proposal.id);
    return text + trust_command(proposal.waits_for) +
           (proposal.approved ? "" : " " + proposal.id);  // a server's id is plain
}

std::string why_inert(const Proposal& proposal) {
    const auto name = "server \"" + proposal.id + "\"";
    return (proposal.approved ? name + " waits for the approval of " + proposal.waits_for
                              : name + " (" + to_string(proposal.place) + ") is not approved") +
           how_to_approve(proposal);
}

bool from_project(Scope scope) {
    return scope == Scope::ClientProject || scope == Scope::Project || scope == Scope::Local;
}

void withhold(std::vector<Fragment>& fragments, const Approvals* approvals,
              const Environment& environment) {
    Withholder(fragments, approvals, environment).run();
}

}  // namespace patchbay::config
