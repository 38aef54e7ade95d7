// What is asked of servers against what was approved of it: how a request stands to its pins, and what a person's use
// adds to them. Internal to this room.
//
// Borrows all it is given; `pins` null: nothing is pinned. Threads: [loop].
// Errors:  Denied: a first use that cannot be noted, where what differs is blocked.
#pragma once

#include "pins/pins.hpp"
#include "policy/policy.hpp"
#include "router/router.hpp"
#include "router/tool_finder.hpp"

#include <boost/json.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::router {

// Who has let a request through.
enum class Consent {
    ByRule,    // nobody was asked
    InPerson,  // somebody was, and said yes
};

class PinGuard {
public:
    using Entry = ToolIndex::Entry;
    // Nothing: it may go on.
    using Noted = std::function<void(std::optional<Error>)>;

    PinGuard(pins::Pins* pins, const policy::Policy& policy, ToolFinder& finder,
             const core::Loop& loop)
        : pins_(pins), policy_(policy), finder_(finder), loop_(loop) {}

    // A call of that tool by the rules of now, after all that other processes have approved. `question` is the one that
    // the verdict is of.
    policy::Verdict judge(const Entry& entry, core::Trust trust, policy::Question& question) const;
    // Why a request that is for no tool asks for what is not as it was approved; none: nothing does.
    std::optional<policy::PinMismatch> mismatch(const ServerRequest& request,
                                                std::size_t depth) const;

    // What of its server is to be noted before that goes on, as a person uses it for the first time; mostly nothing.
    std::vector<pins::Name> due(const connection::Caller& caller, const Entry& entry,
                                Consent consent) const;
    std::vector<pins::Name> due(const connection::Caller& caller, const ServerRequest& request,
                                std::size_t depth, Consent consent) const;
    void note(const std::string& server, std::vector<pins::Name> names, Consent consent,
              Noted noted) const;

    // As those of Router.
    std::vector<Departed> departed(const std::string& server) const;
    std::optional<Departed> departed(const std::string& server, const pins::Name& name) const;
    std::optional<Departed> departed(const std::string& server, const pins::Name& name,
                                     std::string_view text) const;
    // A tool that stands in no list which the host has read.
    std::optional<Departed> departed(const std::string& server, const protocol::Tool& tool) const;
    // What is shown in the place of those tools of a page that are not as they were approved, by their raw names: the
    // host may not have read that list.
    std::map<std::string, boost::json::object> stubs_of(const std::string& server,
                                                        std::string_view result,
                                                        const core::Limits& limits) const;
    void watch(pins::Watcher& watcher) const {
        if (pins_) pins_->watch(watcher);
    }
    void unwatch(pins::Watcher& watcher) const {
        if (pins_) pins_->unwatch(watcher);
    }
    bool any(const std::string& server) const { return pins_ && pins_->any(server); }
    // As Pins::refresh.
    bool refresh(const std::string& server) const { return pins_ && pins_->refresh(server); }

private:
    std::optional<Departed> judged(const std::string& server, const pins::Name& name,
                                   std::optional<policy::PinMismatch> mismatch) const;
    policy::Question question_about(const std::string& server, const pins::Name& name,
                                    const std::string& public_name) const;
    std::vector<pins::Name> names_in(const ServerRequest& request, std::size_t depth) const;

    pins::Pins* const pins_;
    const policy::Policy& policy_;
    ToolFinder& finder_;
    const core::Loop& loop_;
};

}  // namespace patchbay::router
