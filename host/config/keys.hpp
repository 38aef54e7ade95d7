// The keys this host reads, in one table each: how a value is taken and told, who may set it, and what a
// change of it does to a server that runs. The readers, the nearest-key hints, `config show`, the plan
// and the test against config/schema all use these tables, so that a new key is one row.
//
// Threads: [any], constant.
#pragma once

#include "config/config.hpp"
#include "config/node.hpp"
#include "config/rule_ids.hpp"

#include <boost/json.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::config {

// Takes `value` into `target`. Empty when that went well; otherwise what is wrong, to follow the
// name of the key: "expected true or false, found text".
template <class Target>
using Take = std::string (*)(Target& target, const Node& value);

// Its value as a file would say it; null: nothing is to be said of it, or another key's row does.
template <class Source>
using Tell = boost::json::value (*)(const Source& source);

// NotProject: refused in project and local files; UserAlone: also for one run, so that the user's own files and an
// administrator's are left.
enum class May { Anyone, NotProject, UserAlone };
enum class Overlay { No, Yes };  // Yes: an entry that names no way to connect may set it

// What another value does to a server that runs.
enum class Effect {
    Switch,   // it comes or goes
    Restart,  // it is made anew: what reaches the transport or its credentials
    Adjust,   // its connections are told
    Judge,    // its tools are judged or shown otherwise from now on
};

struct ServerKey {
    std::string_view name;
    Overlay overlay;
    Effect effect;
    Take<Server> take;
    Tell<Server> tell;
};
std::span<const ServerKey> server_keys();
const ServerKey* find_server_key(std::string_view name);  // null: it is none

// How long a server may take for something. The row is all that this room needs: its key in seconds and the
// one in milliseconds, of which an entry has one, and that a checkout lengthens it at most.
enum class Unit { Seconds, Milliseconds };
struct TimeLimit {
    std::string_view name;  // "tool_timeout"; what a plan calls it
    const char* seconds;    // the two keys
    const char* milliseconds;
    std::chrono::milliseconds Server::*time;
    const char* Server::*from;       // which key, or variable, has set it
    Unit told_in;                    // by `config show`
    const char* variable = nullptr;  // with the default of all servers, in milliseconds
    constexpr const char* key(Unit unit) const {
        return unit == Unit::Seconds ? seconds : milliseconds;
    }
};
inline constexpr std::array kTimeLimits = {
    TimeLimit{"startup_timeout", "startup_timeout_sec", "startup_timeout_ms",
              &Server::startup_timeout, &Server::startup_timeout_from, Unit::Seconds,
              kStartupTimeoutVariable},
    TimeLimit{"request_timeout", "request_timeout_sec", "request_timeout_ms",
              &Server::request_timeout, &Server::request_timeout_from, Unit::Milliseconds},
    TimeLimit{"tool_timeout", "tool_timeout_sec", "tool_timeout_ms", &Server::tool_timeout,
              &Server::tool_timeout_from, Unit::Seconds, kToolTimeoutVariable},
};

// Keys of the transports we ship, for hints and for checks without loaded plugins.
struct TransportKeys {
    std::string_view transport;
    std::vector<std::string> names;
};
const std::vector<TransportKeys>& usual_settings();

struct TableKey {
    std::string_view table;
    std::string_view name;
    May may;
    Take<Config> take;
    Tell<Config> tell;
};
std::span<const TableKey> table_keys();

struct AgentKey {
    std::string_view name;
    Take<Agent> take;
};
std::span<const AgentKey> agent_keys();

struct BundleKey {
    std::string_view name;
    Take<Bundle> take;
};
std::span<const BundleKey> bundle_keys();

struct ExecutorKey {
    std::string_view name;
    Take<Executor> take;
};
std::span<const ExecutorKey> executor_keys();

// What is wrong with a pattern of public names; empty: nothing.
std::string wrong_pattern(std::string_view pattern);
std::string take_patterns(std::vector<std::string>& target, const Node& value);

// All top-level names of our own files, those kept for later versions included; and these alone.
const std::vector<std::string>& top_level_keys();
const std::vector<std::string>& keys_for_later();

// How Take says that a table has a key that nothing reads.
inline constexpr std::string_view kUnknownKey = "unknown key \"";
// By what is wrong with that value.
RuleId rule_of_fault(const Node& value, std::string_view wrong);

// Checks and normalises the settings every transport shares (command, args, env, url, ...): takes
// them out of `body` into server.settings; empty, or what is wrong.
struct Complaint {
    Mark mark;
    std::string text;  // "args: expected a list of text, found a table"
    RuleId rule = RuleId::InvalidValue;
};
std::vector<Complaint> take_settings(const Node& body, Server& server);

// What is told of one table; the rest of it has the same faults, and its server is out of use already.
inline constexpr std::size_t kMostFaultsOfATable = 20;

// Takes `value` into `target`, or says what is wrong: of a table each member by itself, at its own place, so that
// whoever mends one sees the others. Texts follow the name of the key, as those of Take.
template <class Key, class Target>
std::vector<Complaint> take_all(const Key& key, Target& target, const Node& value) {
    std::vector<Complaint> faults;
    const auto wrong = key.take(target, value);
    if (wrong.empty()) return faults;
    Target unused{};
    for (const auto& member : value.members) {
        auto alone = Node::of_map(value.mark);
        alone.members = {member};
        auto text = key.take(unused, alone);
        // What names no member is said once.
        if (text.empty() || (!faults.empty() && faults.back().text == text)) continue;
        faults.push_back({member.value.mark, text, rule_of_fault(member.value, text)});
        if (faults.size() == kMostFaultsOfATable) break;
    }
    if (faults.empty()) faults.push_back({value.mark, wrong, rule_of_fault(value, wrong)});
    return faults;
}

// "stdio" for what the file calls the transport; aliases resolved.
std::string canonical_transport(std::string_view written);

// The transport of an entry that names none: stdio for a command, else by the scheme of the url.
std::string transport_for(bool has_command, std::string_view url);

// Whether the entry says how to connect: without it, it is an overlay, also a faulty one.
bool defines_connection(const Node& body);

// What is wrong with the parts of one value: all of it is told at once.
// Limits: kMost; of the others their number.
class Wrongs {
public:
    static constexpr std::size_t kMost = 5;
    explicit Wrongs(const char* between = "; ") : between_(between) {}

    void add(std::string_view wrong);
    std::string told() const;  // empty: nothing is

private:
    const char* between_;
    std::string text_;
    std::size_t count_ = 0;
};

// Shared by the tables' functions.
inline constexpr std::string_view kTexts = "a list of text";
std::string mismatch(std::string_view expected, const Node& value);  // "expected ..., found ..."
// The same where a number is expected: one that does not do is shown as it is.
std::string wrong_number(std::string_view expected, const Node& value);
std::string take_text(std::string& target, const Node& value);
std::string take_flag(bool& target, const Node& value);
std::string take_texts(std::vector<std::string>& target, const Node& value);
std::string take_object(boost::json::object& target, const Node& value);
std::string take_duration(std::chrono::milliseconds& target, const Node& value, double unit_ms,
                          double least_ms = 1);
boost::json::value told_in_seconds(std::chrono::milliseconds time);  // 30, not 30.0
std::string take_one_of(std::string& target, const Node& value,
                        const std::vector<std::string>& words);

}  // namespace patchbay::config
