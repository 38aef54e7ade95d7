#include "config/dialects.hpp"
#include "config/keys.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::config {

namespace {

// Of `disabled` and `enabled` the stricter counts.
void disabled(ServerEntry& entry, Fragment& out) {
    auto& members = entry.body.members;
    const auto it = std::find_if(members.begin(), members.end(),
                                 [](const Member& m) { return m.key == "disabled"; });
    if (it == members.end()) return;
    if (it->value.is(Node::Kind::Flag)) it->value.flag = !it->value.flag;
    const auto enabled = std::find_if(members.begin(), members.end(),
                                      [](const Member& m) { return m.key == "enabled"; });
    if (enabled == members.end()) {
        it->key = "enabled";
        entry.aliases["enabled"] = "disabled";
        return;
    }
    if (!it->value.is(Node::Kind::Flag))
        return refuse(entry, RuleId::InvalidValue, it->value.mark,
                      "disabled: " + mismatch("true or false", it->value));
    if (enabled->value.is(Node::Kind::Flag) && enabled->value.flag != it->value.flag) {
        note(out, RuleId::ConflictingKeys, Severity::Warning, it->mark,
             "server \"" + core::printable(entry.id, 80) +
                 "\": \"enabled\" and \"disabled\" contradict each other, so it is off; keep "
                 "one of them");
        if (enabled->value.flag) {  // the one that turns it off stays, with its place
            it->key = "enabled";
            entry.aliases["enabled"] = "disabled";
            members.erase(enabled);
            return;
        }
    }
    members.erase(it);
}

// Gemini's reference, which the others keep as it is: nobody else can tell what is meant.
void tell_of_dollars(const ServerEntry& entry, Fragment& out) {
    for (const auto* key : {"env", "headers"}) {
        const auto* table = entry.body.find(key);
        if (!table) continue;
        for (const auto& [name, mark, value] : table->members) {
            const auto& text = value.text;
            const bool variable =
                text.size() > 1 && text[0] == '$' &&
                text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", 1) == text.npos;
            if (variable)
                note(out, RuleId::ForeignKey, Severity::Warning, value.mark,
                     "server \"" + core::printable(entry.id, 80) + "\": " + key + "." +
                         core::printable(name, 80) + ": \"" + core::printable(text, 80) +
                         "\" is kept as it is; for the variable write \"${" +
                         core::printable(text.substr(1), 80) + "}\"");
        }
    }
}

}  // namespace

// disabled = true, and `tools` as a list of those wanted. Gemini's `trust` of true or false says
// whether it asks before each call.
void restate_desktop(ServerEntry& entry, Fragment& out) {
    std::erase_if(entry.body.members, [](const Member& member) {
        return member.key == "trust" && member.value.is(Node::Kind::Flag);
    });
    disabled(entry, out);
    folders(entry, out.source);
    tell_of_dollars(entry, out);
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

}  // namespace patchbay::config
