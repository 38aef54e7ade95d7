#include "config/said_in_vain.hpp"

#include "core/text.hpp"

#include <map>
#include <utility>

namespace patchbay::config {

namespace {

bool is_of_an_administrator(const Voice& voice) {
    return voice.source->scope == Scope::Enterprise;
}

// What is said of a server by key; the levels of its tools add up, so each is a key of its own.
std::map<std::string, const Member*> said_by(const Voice& voice) {
    std::map<std::string, const Member*> said;
    for (const auto& member : voice.entry->body.members) {
        if (member.key != "tools") said[member.key] = &member;
        if (member.key == "tools")
            for (const auto& tool : member.value.members) said["tools." + tool.key] = &tool;
    }
    return said;
}

// Of whoever turns on what an administrator has turned off.
void add_switches(std::vector<SaidInVain>& vain, const Settled& settled, const Server& server) {
    const auto look = [&](const Voice& voice) {
        if (!voice.entry || voice.source->scope >= Scope::Enterprise) return;
        for (const auto& member : voice.entry->body.members)
            if (member.key == "enabled" && member.value.is(Node::Kind::Flag) && member.value.flag)
                vain.push_back({voice.source, member.mark,
                                voice.entry->as_written("enabled") +
                                    ": it has no effect here, since the server is " +
                                    why_disabled(server)});
    };
    look(settled.definition);
    for (const auto& voice : settled.overruled) look(voice);
    for (const auto& voice : settled.overlays) look(voice);
}

SaidInVain overridden(const Voice& voice, Mark mark, const std::string& what, const Place& stronger,
                      const char* does) {
    return {voice.source, mark,
            what + " has no effect here, since " + to_string(stronger) + does +
                "; ask your administrator"};
}

// Whoever names something for this one run would take it to be in force. `turned_off`: the switches have
// been told of.
void add_overridden(std::vector<SaidInVain>& vain, const Settled& settled, bool turned_off) {
    const auto& [entry, source] = settled.definition;
    for (const auto& voice : settled.overruled)
        if (voice.source->scope == Scope::Session && is_of_an_administrator(settled.definition) &&
            !(turned_off && voice.entry->body.find("enabled")))
            vain.push_back(overridden(voice, voice.entry->mark, "this entry",
                                      source->place(entry->mark), " defines the server"));
    std::map<std::string, std::pair<const Member*, Place>> fixed;
    for (const auto& voice : settled.overlays)
        if (is_of_an_administrator(voice))
            for (const auto& [key, member] : said_by(voice))
                fixed[key] = {member, voice.source->place(member->mark)};
    const auto look = [&](const Voice& voice) {
        if (voice.source->scope != Scope::Session) return;
        for (const auto& [key, member] : said_by(voice)) {
            const auto by = fixed.find(key);
            if (by == fixed.end() || (turned_off && key == "enabled") ||
                to_json(by->second.first->value) == to_json(member->value))
                continue;
            vain.push_back(overridden(voice, member->mark,
                                      core::printable(voice.entry->as_written(key), 200) + ": it",
                                      by->second.second, " says otherwise"));
        }
    };
    look(settled.definition);
    for (const auto& voice : settled.overlays) look(voice);
}

}  // namespace

std::vector<SaidInVain> said_in_vain(const Settled& settled, const Server& server,
                                     const Voice& turned_off_by) {
    std::vector<SaidInVain> vain;
    const bool turned_off =
        !server.enabled && turned_off_by.entry && is_of_an_administrator(turned_off_by);
    if (turned_off) add_switches(vain, settled, server);
    add_overridden(vain, settled, turned_off);
    return vain;
}

}  // namespace patchbay::config
