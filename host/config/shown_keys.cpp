// The keys of [agents.NAME] and [bundles.NAME]: what is shown, and to whom.
#include "config/keys.hpp"
#include "config/rules.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace patchbay::config {

namespace {

using N = const Node&;

std::string take_some(std::vector<std::string>& target, const Node& value, const char* what) {
    if (auto wrong = take_texts(target, value); !wrong.empty()) return wrong;
    if (!target.empty()) return {};
    return std::string("an empty list shows nothing; name ") + what + ", or leave the key out";
}

std::string take_servers(Agent& agent, const Node& value) {
    auto& servers = agent.servers.emplace();
    if (!value.is(Node::Kind::Map)) return take_some(servers, value, "servers");
    return "each is `ID = true`, which picks a server that is defined elsewhere, or a table with a "
           "command or a "
           "url, which is one of its own; how one is shared stands in modes";
}

std::string take_modes(Agent& agent, const Node& value) {
    if (!value.is(Node::Kind::Map)) return mismatch("a table of servers and their modes", value);
    for (const auto& member : value.members)
        if (auto wrong = take_one_of(agent.modes[member.key], member.value,
                                     {"auto", "shared", "per_session"});
            !wrong.empty())
            return core::printable(member.key, 80) + ": " + wrong;
    return {};
}

std::string take_meta(Agent& agent, const Node& value) {
    if (!value.is(Node::Kind::Map)) return mismatch("a table", value);
    const std::map<std::string, std::string*> known{{"name", &agent.meta.name},
                                                    {"description", &agent.meta.description},
                                                    {"url", &agent.meta.url},
                                                    {"icon", &agent.meta.icon}};
    for (const auto& member : value.members) {
        const auto target = known.find(member.key);
        if (target == known.end())
            return "unknown key \"" + core::printable(member.key, 80) + "\"" +
                   core::did_you_mean(member.key, {"name", "description", "url", "icon"}) +
                   "; it has name, description, url and icon";
        if (auto wrong = take_text(*target->second, member.value); !wrong.empty())
            return member.key + ": " + wrong;
    }
    return {};
}

// What a client is shown can be named as rules name it, but an agent that is shown nothing is a
// mistake.
const std::array kAgentKeys = {
    AgentKey{"enabled", [](Agent& a, N v) { return take_flag(a.enabled, v); }},
    AgentKey{"servers", take_servers},
    AgentKey{"tools",
             [](Agent& a, N v) {
                 if (auto wrong = take_some(a.tools.emplace(), v, "tools"); !wrong.empty())
                     return wrong;
                 for (const auto& written : *a.tools)
                     if (auto wrong = wrong_pattern(written); !wrong.empty()) return wrong;
                 for (auto& written : *a.tools) written = core::trimmed(written);
                 return std::string();
             }},
    AgentKey{"modes", take_modes},
    AgentKey{"bundle", [](Agent& a, N v) { return take_text(a.bundle, v); }},
    AgentKey{"description", [](Agent& a, N v) { return take_text(a.description, v); }},
    AgentKey{"meta", take_meta},
};

// `server` is one, or as good as `servers`; both add up.
std::string take_bundled(Bundle& bundle, N value) {
    std::vector<std::string> ids;
    std::string one;
    const bool single = value.is(Node::Kind::Text);
    if (auto wrong = single ? take_text(one, value) : take_some(ids, value, "servers");
        !wrong.empty())
        return wrong;
    if (single) ids.push_back(one);
    for (const auto& written : ids) {
        std::string id(core::trimmed(written));
        auto& all = bundle.servers;
        if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(std::move(id));
    }
    return {};
}

// What is shown can be named as rules name it.
std::string take_shown(std::vector<std::string>& target, N value) {
    auto wrong = take_patterns(target, value);
    for (auto& written : target) written = core::trimmed(written);
    return wrong;
}

const std::array kBundleKeys = {
    BundleKey{"servers", take_bundled},
    BundleKey{"server", take_bundled},
    BundleKey{"mode",
              [](Bundle& b, N v) {
                  return take_one_of(b.mode, v, {"direct", "meta"});
              }},
    BundleKey{"allow",
              [](Bundle& b, N v) {
                  if (auto wrong = take_shown(b.allow.emplace(), v); !wrong.empty()) return wrong;
                  return std::string(b.allow->empty() ? "an empty list allows nothing; name tools, "
                                                        "or leave the key out"
                                                      : "");
              }},
    // One that is the name of nothing was meant for something all the same.
    BundleKey{"deny",
              [](Bundle& b, N v) {
                  if (auto wrong = take_shown(b.deny, v); !wrong.empty()) return wrong;
                  for (const auto& written : b.deny) {
                      const bool of_a_tool =
                          written.ends_with('*') || written.find("__", 5) != written.npos;
                      if (!of_a_tool || !can_be_denied(written))
                          return "\"" + core::printable(written, 80) +
                                 "\" can match no tool: public names are mcp__SERVER__TOOL, and "
                                 "mcp__SERVER__* is all of a server";
                  }
                  return std::string();
              }},
    BundleKey{"trust",
              [](Bundle& b, N v) {
                  return take_one_of(b.trust, v, {"trusted", "untrusted"});
              }},
};

}  // namespace

std::span<const BundleKey> bundle_keys() {
    return kBundleKeys;
}

std::span<const AgentKey> agent_keys() {
    return kAgentKeys;
}

}  // namespace patchbay::config
