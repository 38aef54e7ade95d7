// Which keys may have been meant to forbid something, though nothing reads them: a rule by a nearly
// right name, or by the name another program has for it, would forbid nothing and nobody would see
// it (decision 0016). One judge for every place where such a key can stand.
//
// Threads: [any], pure.
#pragma once

#include "config/config.hpp"
#include "config/node.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::core {
class Effort;
}

namespace patchbay::config {

// Whether `key` is, or nearly is, the name of a rule: ours, or that of a program whose files are
// read. Case, `_` and `-` do not matter.
bool names_a_rule(std::string_view key);

// `disabled`, `never`, `read-only`, `ask`: a text that refuses, under whatever key it stands.
bool refuses(const boost::json::value& value);

// Which servers there are, by the keys of other programs: `disabledMcpjsonServers`, `excludeMCPServers`
// name those to be off, `allowMCPServers` the only ones.
enum class ServerList { None, Off, Only };
ServerList kind_of_server_list(std::string_view key);

// Whether what a deny says can be the name of something, in this checkout or another: of a server, a
// tool, or the beginning of some.
bool can_be_denied(std::string_view pattern);

// Whether people mark such a key as one of their own: by `x-`, `x_`, `_`, `$` or `//`.
bool is_own_key(std::string_view key);

// Whether a key, or one below it, may be meant to forbid something. `enabled = true`, `disabled = false`
// and `trust = "trusted"` forbid nothing.
bool may_forbid(std::string_view key, const boost::json::value& value);
bool may_forbid(const Member& member);

// Of a table that nobody knows and that holds no rule but switches, like `[u] enabled = false`: what
// these may be about, by the names of the tables around them and the texts beside them. Nothing: it
// holds another rule, or too much to tell.
std::optional<std::vector<std::string>> names_beside_switches(const Member& table);

// Whether a key of a server's entry that nothing reads may be a rule. In our own words the value
// decides (decision 0019): a word that refuses, a switch, a list of texts, or a table that holds one
// of them; but for keys that are harmless by their name, and, where no word refuses, for what is nearly
// a key of ours that is no rule. In another program's words the name decides, and names below it; of `off`,
// `readOnly`, `state` and `status` the value.
bool is_rule_of_a_server(std::string_view key, const boost::json::value& value, Words words);

// The first key of a server, beside or in `config`, that no usual transport reads and that may be a
// rule; null: none.
const Member* misplaced_rule(const Node& body, Words words);

// `unknown key "x", which may be a rule`: the beginning of a message.
std::string unread_rule(std::string_view key);

// Whether a table by that name is nearly one of servers.
bool nearly_servers(std::string_view key);
// `; did you mean "args"?`, or which keys have it as one of their words: of `timeout` all time-outs.
std::string hint_of_key(const std::string& key, const std::vector<std::string>& known,
                        core::Effort& hints);

}  // namespace patchbay::config
