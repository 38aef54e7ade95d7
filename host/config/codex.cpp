#include "config/dialects.hpp"

#include <utility>

namespace patchbay::config {

namespace {

Node& map_in(Node& body, std::string_view key, Mark mark) {
    if (auto* found = body.find(key)) return *found;
    return body.members.emplace_back(Member{std::string(key), mark, Node::of_map(mark)}).value;
}

void approval_modes(Node& tools) {
    for (auto& [tool, mark, value] : tools.members) {
        const auto* approval = value.find("approval_mode");
        // What stands beside it may be a rule as well: the whole is judged like any other value.
        if (!approval || !approval->is(Node::Kind::Text) || value.members.size() > 1) continue;
        const bool approved = approval->text == "approve";
        if (!approved && approval->text != "prompt" && approval->text != "auto") continue;
        value = Node::of_text(approved ? "allow-always" : "require-approval", approval->mark);
    }
}

}  // namespace

// env_http_headers = {H = "A"} sends a variable as a header, and tools.x = {approval_mode = "approve"} is
// our level.
void restate_codex(ServerEntry& entry) {
    auto members = std::exchange(entry.body.members, {});
    for (auto& member : members) {
        if (member.key == "env_http_headers" && member.value.is(Node::Kind::Map)) continue;
        if (member.key == "tools") approval_modes(member.value);
        entry.body.members.push_back(member);
    }
    for (const auto& member : members) {
        if (entry.body.find(member.key)) continue;
        const auto* target = entry.body.find("headers") ? "headers" : "http_headers";
        auto& headers = map_in(entry.body, target, member.mark);
        for (const auto& [header, mark, variable] : member.value.members) {
            if (headers.find(header)) continue;
            headers.members.push_back(
                {header, mark, Node::of_text("${" + variable.text + "}", variable.mark)});
        }
    }
}

}  // namespace patchbay::config
