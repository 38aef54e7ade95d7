#include "config/compile.hpp"

#include "config/approval.hpp"
#include "config/contradictions.hpp"
#include "config/hold_back.hpp"
#include "config/keys.hpp"
#include "config/levels.hpp"
#include "config/rules.hpp"
#include "config/said_in_vain.hpp"
#include "config/templates.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace patchbay::config {

namespace {

class Compiler {
public:
    Compiler(const std::string& id, const CompileContext& context,
             std::vector<Diagnostic>& diagnostics, Origins& origins)
        : id_(id), context_(context), diagnostics_(diagnostics), origins_(origins) {}

    std::optional<Server> run(const Settled& settled) {
        if (!settled.definition.entry) {
            // Of no use without a definition, but a misspelt id or key must not pass in silence.
            for (const auto& overlay : settled.overlays) nothing_below(overlay);
            return {};
        }
        Server server;
        server.id = id_;
        for (const auto& limit : kTimeLimits) {
            server.*limit.time = context_.defaults.times.*limit.time;
            server.*limit.from = context_.defaults.times.*limit.from;
        }
        define(server, settled.definition);
        // A plugin's own servers stay off until somebody stronger turns them on.
        if (settled.definition.source->scope == Scope::Plugin) server.enabled = false;
        for (const auto& overlay : settled.overlays) {
            // What it would have forbidden is unknown then: better no server than a freer one.
            if (!apply(server, overlay, settled)) failed_ = true;
        }
        if (settled.contested) failed_ = true;
        // Last: no overlay may allow again what it forbids.
        if (settled.withheld.entry) restrict(server, settled.withheld);
        if (failed_) return {};
        server.rules = std::move(rules_);
        if (!server.enabled) {
            server.turn_on = how_to_turn_on();
        }
        for (const auto& vain : said_in_vain(settled, server, turned_off_by_))
            note(RuleId::NoEffect, Severity::Warning, *vain.source, vain.mark, vain.text);
        return server;
    }

private:
    void note(RuleId rule, Severity severity, const Source& source, Mark mark,
              const std::string& text) {
        diagnostics_.push_back(
            {rule, severity, source.place(mark), "server \"" + id_ + "\": " + text, id_, near_});
    }
    void fail(RuleId rule, const Source& source, Mark mark, const std::string& text) {
        note(rule, Severity::Error, source, mark, text);
        failed_ = true;
    }
    void remember(const Source& source, const Member& member) {
        const auto key = "servers." + id_ + "." + member.key;
        if (member.key == "env" || member.key == "headers" || member.key == "config" ||
            member.key == "oauth" || member.key == "tools") {
            for (const auto& inner : member.value.members) {
                origins_.say((member.key == "config" ? "servers." + id_ : key) + "." + inner.key,
                             source.place(inner.mark));
            }
        }
        // `config` nests settings that are shown one level up, so it has no place of its own.
        if (member.key != "config") origins_.say(key, source.place(member.mark));
        if (member.key == "tools") {
            for (const auto& tool : member.value.members)
                rules_["tools." + tool.key] = source.place(tool.mark);
        } else if (member.key == "enabled" || member.key == "enabled_tools" ||
                   member.key == "disabled_tools" || member.key == "trust" ||
                   member.key == "pins") {
            rules_[member.key] = source.place(member.mark);
        }
    }

    // For whoever may: the file of an administrator or of a plugin is not the user's to change.
    std::string how_to_turn_on() const {
        const auto& [entry, source] = turned_off_by_;
        if (!entry || source->scope == Scope::Plugin)
            return "set servers." + id_ + ".enabled = true in your user config";
        if (source->scope == Scope::Enterprise) return "ask your administrator";
        if (!entry->turn_on.empty()) return entry->turn_on + held_back_;
        return (entry->as_written("enabled") == "disabled" ? "set disabled = false"
                                                           : "set enabled = true") +
               held_back_;
    }

    void define(Server& server, const Voice& voice) {
        const auto& [entry, source] = voice;
        server.place = source->place(entry->mark);
        server.written = entry->written;
        server.words = entry->words;
        server.agent = entry->agent;
        server.program = entry->program;
        if (!entry->refused.empty())
            return fail(entry->refused_by, *source, entry->mark, entry->refused);
        if (entry->body.find("enabled")) turned_off_by_ = voice;
        for (const auto& member : entry->body.members) {
            remember(*source, member);
            const auto* key = find_server_key(member.key);
            if (!key) continue;  // a setting: take_settings() has it
            for (const auto& wrong : take_all(*key, server, member.value))
                fail(wrong.rule, *source, wrong.mark,
                     entry->as_written(member.key) + ": " + wrong.text);
        }
        if (from_project(source->scope) && loosens_pins(server, voice)) {
            server.pins.clear();
            rules_.erase("pins");
        }
        warn_of_two_units(voice);
        for (const auto& complaint : take_settings(entry->body, server)) {
            fail(complaint.rule, *source, complaint.mark, complaint.text);
        }
        if (failed_) tell_strange_keys(voice);
        settle_transport(server, voice);
        judge_mode(server, voice);
    }

    // Its transport is never asked about them. One that we do not ship may have any.
    void tell_strange_keys(const Voice& voice) {
        const auto* transport = voice.entry->body.find("transport");
        const auto& usual = usual_settings();
        const bool known =
            !transport || std::any_of(usual.begin(), usual.end(), [&](const auto& each) {
                return each.transport == canonical_transport(transport->text);
            });
        if (!known) return;
        for (const auto& member : voice.entry->body.members)
            if (!find_server_key(member.key)) unknown_key(*voice.source, member);
    }

    // Told where it is so, of a server that a checkout defines.
    bool loosens_pins(const Server& server, const Voice& voice) {
        const auto* pins = voice.entry->body.find("pins");
        if (!pins || server.pins == "block") return false;
        note(RuleId::NotAllowedHere, Severity::Error, *voice.source, pins->mark,
             std::string("a ") + name_of(voice.source->scope) +
                 " file may not loosen the pins of a server; write it to your user config");
        return true;
    }

    // One unit of each is enough; which of two counts nobody would guess.
    void warn_of_two_units(const Voice& voice) {
        for (const auto& limit : kTimeLimits) {
            const auto& members = voice.entry->body.members;
            const auto says_it = [&](const Member& member) {
                return member.key == limit.seconds || member.key == limit.milliseconds;
            };
            const auto last = std::find_if(members.rbegin(), members.rend(), says_it);
            const auto first = std::find_if(members.begin(), members.end(), says_it);
            if (first == members.end() || &*first == &*last) continue;
            note(RuleId::ConflictingKeys, Severity::Warning, *voice.source, last->mark,
                 voice.entry->as_written(first->key) + " and " +
                     voice.entry->as_written(last->key) +
                     " say the same in two units; the last one counts, keep one");
        }
    }

    // It forbids nothing, whatever it is; what was meant to is not passed over.
    bool refuses_by_mode(const Voice& voice) {
        const auto* mode = voice.entry->body.find("mode");
        if (!mode || !refuses(to_json(*mode))) return false;
        fail(RuleId::UnreadRule, *voice.source, mode->mark,
             "mode: \"" + core::printable(mode->text, 80) +
                 "\" may be meant to forbid, and a mode forbids nothing; what does is enabled, "
                 "enabled_tools, disabled_tools, tools and trust");
        return true;
    }

    void judge_mode(const Server& server, const Voice& voice) {
        static const std::vector<std::string> modes = {"auto", "shared", "per_session"};
        const auto* mode = voice.entry->body.find("mode");
        if (refuses_by_mode(voice)) return;
        if (!mode || std::find(modes.begin(), modes.end(), server.mode) != modes.end()) return;
        note(RuleId::InvalidValue, Severity::Warning, *voice.source, mode->mark,
             "mode: \"" + core::printable(server.mode, 80) + "\" is none of " +
                 core::join(modes, ", ") + core::did_you_mean(server.mode, modes, context_.hints));
    }

    void settle_transport(Server& server, const Voice& voice) {
        const auto& settings = server.settings;
        const bool command = settings.contains("command");
        const auto* url = settings.if_contains("url");
        const auto& [entry, source] = voice;
        // A value that could not be taken would be called missing as well.
        if (failed_) return;
        if (server.transport.empty()) {
            if (command && url) {
                return fail(RuleId::MissingConnection, *source, entry->mark,
                            "both command and url are given; name the transport, e.g. transport = "
                            "\"stdio\"");
            }
            if (!command && !url) {
                return fail(RuleId::MissingConnection, *source, entry->mark,
                            "no transport, command or url; one of them must say how to connect");
            }
            server.transport =
                transport_for(command, url ? std::string_view(url->get_string()) : "");
        }
        const auto* missing = server.transport == "stdio" && !command                   ? "command"
                              : server.transport == "tcp" && !settings.contains("port") ? "port"
                              : (server.transport == "http" || server.transport == "sse" ||
                                 server.transport == "ws") &&
                                      !url
                                  ? "url"
                                  : nullptr;
        if (missing) {
            std::vector<std::string> unknown;
            for (const auto& member : entry->body.members) {
                if (!core::nearest(member.key, {missing}, context_.hints).empty())
                    unknown.push_back(member.key);
            }
            fail(RuleId::MissingConnection, *source, entry->mark,
                 "transport \"" + server.transport + "\" needs \"" + missing + "\"" +
                     (unknown.empty() ? ""
                                      : "; is \"" + core::printable(unknown.front(), 80) +
                                            "\" meant to be it?"));
        }
    }

    void nothing_below(const Voice& voice) {
        const auto& [entry, source] = voice;
        // With all of them, whatever the names of a checkout have left of the hints.
        core::Effort own(core::Effort::kOneHint);
        near_ = core::nearest(id_, context_.defined,
                              from_project(source->scope) ? context_.hints : own);
        if (!entry->refused.empty())
            return fail(entry->refused_by, *source, entry->mark, entry->refused);
        bool meant_to_connect = false;
        for (const auto& member : entry->body.members) {
            const auto* key = find_server_key(member.key);
            if (!key && is_nearly_a_connection(member.key)) {
                meant_to_connect = true;
                note(RuleId::UnknownKey, Severity::Error, *source, member.mark,
                     unknown(member.key));
            } else if (!key) {
                unknown_key(*source, member);
            }
            Server unused;
            if (!key) continue;
            for (const auto& wrong : take_all(*key, unused, member.value))
                fail(wrong.rule, *source, wrong.mark,
                     entry->as_written(member.key) + ": " + wrong.text);
        }
        const auto* enabled = entry->body.find("enabled");
        const bool only_switch =
            entry->body.members.size() == 1 && enabled && enabled->is(Node::Kind::Flag);
        const bool only_off = only_switch && !enabled->flag;
        const auto hint = core::did_you_mean(id_, near_);
        // A file may turn off what only other checkouts have, or other people who share this one; a
        // flag is meant for what is here.
        if (only_off && !source->is_flag()) {
            if (source->scope != Scope::Project && !near_.empty())
                note(RuleId::UnknownServer, Severity::Warning, *source, entry->mark,
                     "no source defines this server, so nothing is turned off" + hint);
            return;
        }
        if (meant_to_connect) return;  // that it says no way to connect would be told twice
        const std::string nothing = "no weaker source defines this server";
        // Left by whoever has taken the server away: it does nothing, and nothing else is wrong for it. A rule for a
        // server of nearly that name is another thing: it was to forbid something there.
        const bool left = only_switch || (near_.empty() && only_adjusts(*entry));
        if (!failed_ && left && !source->is_flag())
            return note(RuleId::UnknownServer, Severity::Warning, *source, entry->mark,
                        "no transport, command or url here, and " + nothing +
                            ", so this adjusts nothing" + hint);
        note(RuleId::UnknownServer, Severity::Error, *source, entry->mark,
             (only_off ? std::string("no source defines this server")
                       : "no transport, command or url here, and " + nothing) +
                 hint);
    }

    static bool only_adjusts(const ServerEntry& entry) {
        const auto& members = entry.body.members;
        return !members.empty() &&
               std::all_of(members.begin(), members.end(), [](const Member& member) {
                   const auto* key = find_server_key(member.key);
                   return key && key->overlay == Overlay::Yes;
               });
    }

    void unknown_key(const Source& source, const Member& member) {
        if (is_name_in_a_server(member.key)) return;
        note(RuleId::UnknownKey, source.is_flag() ? Severity::Error : Severity::Warning, source,
             member.mark, unknown(member.key));
    }

    std::string unknown(const std::string& key) const {
        return "unknown key \"" + core::printable(key, 80) + "\"" +
               hint_of_key(key, names_in_a_server(), context_.hints);
    }

    static bool is_name_in_a_server(const std::string& key) {
        const auto& names = names_in_a_server();
        return std::find(names.begin(), names.end(), key) != names.end();
    }

    static bool is_nearly_a_connection(const std::string& key) {
        return !is_name_in_a_server(key) &&
               !core::nearest(key, {"command", "url", "transport"}).empty();
    }

    // What all but `voice` make of it in the end: the strongest overlay is applied last, and a
    // checkout may not raise it.
    static std::string trust_without(const Voice& voice, const Settled& settled) {
        std::string trust;
        const auto take = [&](const Voice& said) {
            const auto* word = said.entry->body.find("trust");
            if (!word || said.entry == voice.entry) return;
            const bool raises = from_project(said.source->scope) && word->text == "trusted";
            if (!raises) trust = word->text;
        };
        take(settled.definition);
        for (const auto& overlay : settled.overlays) take(overlay);
        return trust;
    }

    // All or nothing: half an overlay could be looser than what its author meant.
    bool apply(Server& server, const Voice& voice, const Settled& settled) {
        const auto& [entry, source] = voice;
        const auto errors = diagnostics_.size();
        if (!entry->refused.empty()) {
            note(entry->refused_by, Severity::Error, *source, entry->mark, entry->refused);
            return false;
        }
        server.rules = rules_;  // whose level of a tool counts depends on who said it
        Server changed = server;
        for (const auto& member : entry->body.members) overlay_key(changed, voice, member);
        refuses_by_mode(voice);
        if (diagnostics_.size() != errors) return false;
        warn_of_two_units(voice);
        std::set<std::string> held;
        const bool of_a_checkout = from_project(source->scope) && !from_project(server.place.scope);
        if (of_a_checkout || entry->only_forbids) {
            const bool untrusted = trust_without(voice, settled) == "untrusted";
            const auto why = hold_back(server, changed, untrusted, held);
            if (!why.empty() && of_a_checkout) {
                note(RuleId::NotAllowedHere, Severity::Error, *source, entry->mark,
                     std::string("a ") + name_of(source->scope) + " file may not " +
                         core::join(why, ", nor ") + "; write it to your user config");
            } else if (!why.empty()) {
                note(RuleId::AmbiguousName, Severity::Warning, *source, entry->mark,
                     "this entry is about another server first, so here it does not " +
                         core::join(why, ", nor "));
            }
        }
        // A checkout's own servers are pinned, and none of its files has a say in that.
        if (from_project(source->scope) && !of_a_checkout && loosens_pins(changed, voice)) {
            changed.pins = server.pins;
            held.insert("pins");
        }
        note_contradictions(server, changed, voice);
        // What was held back is the source of nothing.
        for (auto member : entry->body.members) {
            const bool had_any = !member.value.members.empty();
            std::erase_if(member.value.members, [&](const Member& inner) {
                return held.count(member.key + "." + inner.key) != 0;
            });
            const bool none_left = had_any && member.value.members.empty();
            if (none_left || held.count(member.key) != 0) continue;
            remember(*source, member);
            if (member.key == "enabled") turned_off_by_ = voice;
        }
        if (of_a_checkout && held.contains("enabled"))
            held_back_ = std::string("; a ") + name_of(source->scope) +
                         " file may not turn on a server, so " +
                         to_string(source->place(entry->mark)) + " does not count";
        server = std::move(changed);
        return true;
    }

    // Levels that have counted so far, and are forbidden by a stronger source's word on the same.
    void note_contradictions(const Server& server, const Server& changed, const Voice& voice) {
        const auto* tools = voice.entry->body.find("tools");
        if (!tools) return;
        for (const auto& member : tools->members) {
            const auto was = server.tools.find(member.key);
            const auto now = changed.tools.find(member.key);
            if (was == server.tools.end() || now == changed.tools.end() ||
                was->second <= Level::Deny || now->second > Level::Deny)
                continue;
            const auto place = rules_.find("tools." + member.key);
            origins_.contradictions.push_back(
                never_counts(id_, place == rules_.end() ? server.place : place->second,
                             words_of_level(was->first, was->second),
                             words_of_level(now->first, now->second) + " (" +
                                 to_string(voice.source->place(member.mark)) + ")"));
        }
    }

    void overlay_key(Server& server, const Voice& voice, const Member& member) {
        const auto& source = *voice.source;
        const auto& written = voice.entry->as_written(member.key);
        const auto* key = find_server_key(member.key);
        if (!key || key->overlay == Overlay::No) {
            std::vector<std::string> legal;
            for (const auto& known : server_keys()) {
                if (known.overlay == Overlay::Yes) legal.emplace_back(known.name);
            }
            // What may be set here, or else what was meant to define the server anew.
            auto hint = core::did_you_mean(member.key, legal, context_.hints);
            if (hint.empty() && !is_name_in_a_server(member.key))
                hint = core::did_you_mean(member.key, names_in_a_server(), context_.hints);
            return note(RuleId::OverlayKey, Severity::Error, source, member.mark,
                        "\"" + core::printable(written, 80) +
                            "\" cannot change a server that another source defines: without "
                            "transport, command or url an entry may set only " +
                            core::join(legal, ", ") + hint);
        }
        const auto levels = server.tools;
        const auto faults = take_all(*key, server, member.value);
        for (const auto& wrong : faults)
            note(wrong.rule, Severity::Error, source, wrong.mark, written + ": " + wrong.text);
        if (!faults.empty()) return;
        // Levels add up tool by tool, where every other key replaces what was there.
        if (member.key == "tools") server.tools.insert(levels.begin(), levels.end());
    }

    // A definition that nobody approved may forbid, and nothing else. What it forbids has to be
    // readable, as in an overlay.
    void restrict(Server& server, const Voice& withheld) {
        const auto& refused = withheld.entry->refused;
        if (!refused.empty()) {
            note(withheld.entry->refused_by, Severity::Error, *withheld.source,
                 withheld.entry->mark, refused);
            // What it forbids itself can be read; that it would not connect is no reason to take down what does.
            failed_ = failed_ || !lacks_template(*withheld.entry);
            if (failed_) return;
        }
        const auto& body = withheld.entry->body;
        if (const auto* rule = misplaced_rule(body, withheld.entry->words))
            fail(RuleId::UnreadRule, *withheld.source, rule->mark,
                 unread_rule(rule->key) +
                     core::did_you_mean(rule->key, names_in_a_server(), context_.hints));
        refuses_by_mode(withheld);
        Server wanted;
        for (const auto& member : body.members) {
            if (member.key != "enabled" && member.key != "disabled_tools" && member.key != "tools")
                continue;
            for (const auto& wrong : take_all(*find_server_key(member.key), wanted, member.value))
                fail(wrong.rule, *withheld.source, wrong.mark,
                     withheld.entry->as_written(member.key) + ": " + wrong.text);
        }
        const auto place_of = [&](std::string_view key) {
            const auto* value = body.find(key);
            return withheld.source->place(value ? value->mark : withheld.entry->mark);
        };
        if (server.enabled && !wanted.enabled) {
            rules_["enabled"] = place_of("enabled");
            turned_off_by_ = withheld;
        }
        server.enabled = server.enabled && wanted.enabled;
        for (auto& tool : wanted.disabled_tools) {
            // The user's own rule has a place already; this tool was not in it.
            if (std::find(server.disabled_tools.begin(), server.disabled_tools.end(), tool) !=
                server.disabled_tools.end())
                continue;
            rules_["disabled_tools." + tool] = place_of("disabled_tools");
            server.disabled_tools.push_back(std::move(tool));
        }
        server.rules = rules_;
        for (const auto& [tool, level] : wanted.tools) {
            if (level > Level::Deny || level_for(server, tool, Level::AllowAlways) <= level)
                continue;
            server.tools[tool] = level;
            rules_["tools." + tool] = place_of("tools");
        }
    }

    const std::string& id_;
    const CompileContext& context_;
    std::vector<Diagnostic>& diagnostics_;
    Origins& origins_;
    std::map<std::string, Place> rules_;  // Server::rules
    std::vector<std::string> near_;       // Diagnostic::near
    Voice turned_off_by_;                 // or on: who spoke of `enabled` last
    std::string held_back_;               // what a checkout says of `enabled` in vain
    bool failed_ = false;
};

}  // namespace

std::optional<Server> compile(const std::string& id, const Settled& settled,
                              const CompileContext& context, std::vector<Diagnostic>& diagnostics,
                              Origins& origins) {
    // Of a server that comes to nothing no origin is shown either.
    Origins own;
    auto server = Compiler(id, context, diagnostics, own).run(settled);
    if (!server) return server;
    for (const auto& [entry, source] : settled.replaced)
        for (const auto& member : entry->body.members) {
            const auto key = "servers." + id + "." + member.key;
            // What only the weaker one said is no value of this server.
            if (own.places.contains(key)) {
                auto& over = own.overruled[key];
                over.insert(over.begin(), source->place(member.mark));
            }
        }
    origins.merge(own);
    return server;
}

void Origins::say(const std::string& key, Place place) {
    const auto [said, fresh] = places.try_emplace(key, place);
    if (fresh) return;
    overruled[key].push_back(std::exchange(said->second, std::move(place)));
}

void Origins::merge(Origins& others) {
    places.merge(others.places);
    overruled.merge(others.overruled);
    contradictions.insert(contradictions.end(),
                          std::make_move_iterator(others.contradictions.begin()),
                          std::make_move_iterator(others.contradictions.end()));
}

const std::vector<std::string>& names_of_settings() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& transport : usual_settings()) {
            for (const auto& name : transport.names) {
                if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
            }
        }
        return all;
    }();
    return names;
}

const std::vector<std::string>& names_in_a_server() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& key : server_keys()) all.emplace_back(key.name);
        const auto& settings = names_of_settings();
        all.insert(all.end(), settings.begin(), settings.end());
        all.insert(all.end(), {"template", "with"});  // gone by now: resolve_templates()
        return all;
    }();
    return names;
}

}  // namespace patchbay::config
