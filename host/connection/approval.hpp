// What a rule wants approved, what may be answered to that, and what was answered before.
//
// Threads: [loop].
#pragma once

#include "config/config.hpp"
#include "connection/question.hpp"
#include "core/principal.hpp"
#include "core/result.hpp"
#include "core/time_source.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace patchbay::connection {

// What a rule wants approved.
struct Approvable {
    std::string server;       // id
    std::string tool;         // the server's own name of it; empty: the server itself
    std::string public_name;  // mcp__server__tool
    std::string arguments;    // raw JSON, as they will be sent; empty: none
    std::string method = "tools/call";
    Reference about = 0;  // the caller's own request
    // Another one where the tool, or its server, is another than it was.
    std::string definition = {};
    // The rule that wants it, as it is told: `tools "push" (user config a.toml:3:1)`; empty: nobody wrote one.
    std::string rule = {};
    // What an answer may set: the weakest first, AllowOnce always among them.
    std::vector<config::Level> levels = {config::Level::AllowOnce, config::Level::AllowSession};

    bool may_set(config::Level level) const;
    // Equal for what one answer may count for, whatever the arguments.
    std::string key() const;
};
// Given: this once; the next three for as long as their levels say. Unanswered: whoever was asked has let the time for
// it pass.
enum class Approval { Given, ForSession, ForProject, Always, Refused, Unanswered, NobodyThere };
bool is_given(Approval approval);
// One that is given, as the level that it sets, and back.
config::Level level_of(Approval approval);
Approval approval_for(config::Level level);

// One answer that counts as long as a session: of what, as it was described then.
struct SessionApproval {
    std::string server, tool, method, definition;  // as those of Approvable
    core::Calendar::time_point when;
};

// What was approved for as long as a session lasts.
//
// Threads: [value]. Limits: kMost; the oldest go first.
class SessionApprovals {
public:
    static constexpr std::size_t kMost = 1'000;

    // Of that tool as it was described then. Who may read a server's resources may be told that one has changed: a
    // stream cannot ask on its way.
    bool hold(const Approvable& wanted) const;
    void add(const Approvable& wanted);
    const std::deque<SessionApproval>& all() const { return given_; }  // from the oldest
    // How many there were of these, which are asked about again from now on.
    std::size_t forget(const std::function<bool(const SessionApproval&)>& these);

private:
    bool hold(const Approvable& wanted, const std::string& method) const;

    std::deque<SessionApproval> given_;
};

// What was approved for longer than a session, by whoever is asked for it.
class Decisions {
public:
    virtual ~Decisions() = default;
    // Whether an answer of before lets it through, of that tool as it is described now.
    virtual bool allow(const Approvable& wanted, const core::Principal& asker) = 0;
    // AllowProject, AllowAlways, or what can be kept of these.
    virtual std::vector<config::Level> levels(const core::Principal& asker) const = 0;
    // On disk when it returns; an error is why it counts for this once alone.
    virtual Result<void> keep(const Approvable& wanted, config::Level level,
                              const core::Principal& asker) = 0;
};

}  // namespace patchbay::connection
