#include "router/tool_finder.hpp"

#include "core/text.hpp"
#include "protocol/qualified_name.hpp"
#include "router/flights.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace patchbay::router {
using connection::State;

policy::Question ToolFinder::question_about(const Entry& entry, core::Trust trust) const {
    policy::Question question{trust, entry.server, entry.tool->name, entry.public_name};
    question.listed = &index_;
    if (const auto* judged = index_.judged(entry); judged && judged->mismatch)
        question.mismatch = &*judged->mismatch;
    return question;
}

ListedTool ToolFinder::shown(const Entry& entry, core::Trust trust,
                             const policy::Verdict& verdict) const {
    ListedTool listed{entry.public_name, entry.server, entry.tool, verdict.level};
    const auto* judged = index_.judged(entry);
    if (!judged || !judged->mismatch) return listed;
    listed.blocked = verdict.is_pinned();
    const auto pinning = policy_.pinning(question_about(entry, trust));
    // Whatever else denies it too.
    if (pinning == policy::Pinning::Block) listed.tool = judged->stub;
    if (pinning != policy::Pinning::Off) listed.mismatch = judged->mismatch->kind;
    return listed;
}

void ToolFinder::locate(const connection::Caller& caller, const std::string& name,
                        Located located) {
    const auto servers = protocol::servers_for(name, pool_.ids());
    if (servers.empty()) {
        std::string message = "no tool \"" + core::printable(name, 80) + "\": ";
        message += pool_.ids().empty()
                       ? std::string(
                             "no MCP server is configured and enabled; `patchbay mcp list` "
                             "shows which there are")
                       : "no enabled server has this prefix" +
                             core::did_you_mean(name, names_or_prefixes());
        return located(Error{ErrorCode::NotFound, std::move(message)});
    }
    // Where it is known whose it is nobody else is brought up, unless that one does not list it any more.
    const auto* known = servers.size() > 1 ? index_.find(name) : nullptr;
    if (!known) return search(caller, name, servers, std::move(located));
    search(caller, name, {known->server},
           [this, watch = alive_, number = caller.number(), name, servers,
            located = std::move(located)](Result<const Entry*> found) {
               const auto* asker = *watch ? callers_.find(number) : nullptr;
               const bool missing = !found && found.error().code == ErrorCode::NotFound;
               if (!missing || !asker) return located(std::move(found));
               search(*asker, name, servers, located);
           });
}

// A call would wait until its connection has let go of the program, to be told the same. One that was there and comes
// back may be waited for.
bool ToolFinder::is_down(const Entry& entry, connection::CallerNumber caller) const {
    const auto* held = pool_.held(entry.server, caller);
    const auto state = held ? held->state() : State::Idle;
    if (state == State::Reconnecting) return !held->status().last_connected;
    return state == State::Failed || state == State::Error || state == State::AuthRequired;
}

void ToolFinder::search(const connection::Caller& caller, const std::string& name,
                        const std::vector<std::string>& servers, Located located) {
    // A name that was shortened may be any one's of these: which, is known when all have told.
    struct Search {
        std::size_t missing;
        std::optional<Error> refused = {};  // why the caller has no connection to one of them
    };
    const auto search = std::make_shared<Search>(Search{servers.size()});
    const auto told = [this, watch = alive_, search, number = caller.number(),
                       sight = caller.sight(), name, servers, located](const Result<void>&) {
        if (--search->missing != 0) return;
        if (!*watch) return located(Error{ErrorCode::Unavailable, "the host is closing"});
        const auto* entry = index_.find(name);
        if (entry && !is_down(*entry, number)) return located(entry);
        located(search->refused ? *search->refused
                                : why_missing(number, sight.get(), name, servers));
    };
    for (const auto& id : servers) {
        if (auto connection = pool_.lease(id, caller)) {
            connection->get().refresh_tools(told);
        } else {
            search->refused = connection.error();
            // Whoever asks is told from the loop, as of a server that is there.
            pool_.loop().defer([told] { told({}); });
        }
    }
}

void ToolFinder::find(const connection::Caller& caller, const std::string& name,
                      std::chrono::milliseconds timeout,
                      std::function<void(Result<ListedTool>)> found) {
    if (auto hidden = not_shown(caller, name))
        return pool_.loop().defer(
            [found = std::move(found), hidden = std::move(*hidden)] { found(hidden); });
    struct Search {  // ends once, whichever comes first
        std::function<void(Result<ListedTool>)> found;
        core::Loop::TimerId timer = 0;
    };
    auto search = std::make_shared<Search>(Search{std::move(found)});
    auto& loop = pool_.loop();
    const auto end = [search, &loop](Result<ListedTool> outcome) {
        if (!search->found) return;
        if (search->timer) loop.cancel(search->timer);
        std::exchange(search->found, nullptr)(std::move(outcome));
    };
    // What it began goes on behind it: a server that comes up late serves whoever asks next.
    if (timeout.count() > 0) {
        search->timer = loop.after(
            timeout, [this, watch = alive_, end, number = caller.number(), name, timeout] {
                if (!*watch) return;
                const auto servers = protocol::servers_for(name, pool_.ids());
                end(too_late(pool_, number, servers, timeout));
            });
    }
    locate(caller, name, [this, end, trust = caller.principal().trust](auto entry) {
        if (!entry) return end(entry.error());
        const auto& tool = **entry;
        const auto verdict = judge(tool, trust);
        if (!verdict.listed()) {
            const auto question = question_about(tool, trust);
            return end(Error{ErrorCode::Denied, policy_.reason(question, verdict)});
        }
        end(shown(tool, trust, verdict));
    });
}

std::vector<ListedTool> ToolFinder::listed(core::Trust trust, const connection::Sight* sight) {
    std::vector<ListedTool> tools;
    const auto& entries = index_.entries();
    tools.reserve(entries.size());
    for (const auto& entry : entries) {
        if (sight && !sight->holds(entry.server, entry.public_name)) continue;
        const auto verdict = judge(entry, trust);
        if (verdict.listed()) tools.push_back(shown(entry, trust, verdict));
    }
    return tools;
}

const protocol::Tool* ToolFinder::known(const std::string& name, const connection::Caller& caller) {
    const auto* entry = index_.find(name);
    const auto* sight = caller.sight().get();
    if (!entry || (sight && !sight->holds(entry->server, name))) return nullptr;
    const auto trust = caller.principal().trust;
    const auto verdict = judge(*entry, trust);
    return verdict.listed() ? shown(*entry, trust, verdict).tool : nullptr;
}

std::optional<Error> ToolFinder::not_shown(const connection::Caller& caller,
                                           const std::string& name) {
    const auto* sight = caller.sight().get();
    if (!sight) return {};
    const auto held = [&](const std::string& id) { return sight->holds(id, name); };
    const auto held_by_any = [&](const std::vector<std::string>& owners) {
        return std::any_of(owners.begin(), owners.end(), held);
    };
    const auto* entry = index_.find(name);
    if (entry ? held(entry->server) : held_by_any(protocol::servers_for(name, pool_.ids())))
        return {};
    return Error{ErrorCode::NotFound, "no tool \"" + core::printable(name, 80) +
                                          "\" is shown here" +
                                          core::did_you_mean(name, listed_names(sight))};
}

Ruling ToolFinder::ruling(core::Trust trust, const connection::Sight* sight,
                          const std::string& name) {
    Ruling made;
    const auto owners = protocol::servers_for(name, pool_.ids());
    if (owners.empty()) return made;
    const auto raw = [&](const std::string& id) {
        return name.substr(std::min(std::string_view("mcp____").size() + id.size(), name.size()));
    };
    const auto* entry = index_.find(name);
    for (auto id = owners.begin(); !entry && id != owners.end(); ++id)
        entry = index_.find_raw(*id, raw(*id));
    made.server = entry ? entry->server : owners.front();
    made.public_name = entry ? entry->public_name : name;
    made.listed = entry != nullptr;
    made.shown = !sight || sight->holds(made.server, made.public_name);
    const auto tool = entry ? entry->tool->name : raw(made.server);
    policy::Question question{trust, made.server, tool, made.public_name};
    question.listed = &index_;
    if (entry) question.mismatch = question_about(*entry, trust).mismatch;
    const auto verdict = policy_.judge(question);
    made.decision = verdict.decision;
    made.level = verdict.level;
    if (verdict.rule) made.rule = *verdict.rule;
    made.reason = policy_.reason(question, verdict);
    return made;
}

policy::Verdict ToolFinder::judge(const Entry& entry, core::Trust trust) const {
    return policy_.judge(question_about(entry, trust));
}

// To no one in particular: trust decides what may be called, and never what is listed.
std::vector<std::string> ToolFinder::listed_names(const connection::Sight* sight) {
    std::vector<std::string> names;
    for (const auto& tool : listed(core::Trust::NeedsApproval, sight))
        names.push_back(tool.public_name);
    return names;
}

std::vector<std::string> ToolFinder::names_or_prefixes() {
    auto names = listed_names(nullptr);
    if (names.empty())
        for (const auto& id : pool_.ids()) names.push_back("mcp__" + id + "__");
    return names;
}

std::optional<Error> ToolFinder::why_unknown(connection::CallerNumber caller,
                                             const std::string& wanted,
                                             const std::vector<std::string>& servers) {
    for (const auto& id : servers) {
        if (const auto found = pool_.find(id); !found) return found.error();
        const auto* held = pool_.held(id, caller);
        connection::Status status;
        status.id = id;
        if (held) status = held->status();
        if (status.state != State::Ready) return why_not_ready(status);
    }
    // From here on the caller holds a connection to each that is ready.
    for (const auto& id : servers) {
        if (const auto* error = pool_.held(id, caller)->tools_error())
            return Error{error->code,
                         error->message + "; so nothing is known of the tool " + wanted};
    }
    return {};
}

Error ToolFinder::why_missing_at(connection::CallerNumber caller, const connection::Sight* sight,
                                 const std::string& server, const std::string& tool) {
    const std::string wanted = "\"" + core::printable(tool, 80) + "\"";
    if (auto why = why_unknown(caller, wanted, {server})) return std::move(*why);
    std::vector<std::string> names;
    for (const auto& each : listed(core::Trust::NeedsApproval, sight))
        if (each.server == server) names.push_back(each.tool->name);
    // Its public name is none here.
    const auto prefix = "mcp__" + server + "__";
    const auto own = tool.starts_with(prefix) ? tool.substr(prefix.size()) : tool;
    const bool there = own != tool && std::find(names.begin(), names.end(), own) != names.end();
    return {ErrorCode::NotFound, "server \"" + server + "\" has no tool " + wanted +
                                     (there ? "; did you mean \"" + core::printable(own, 80) + "\"?"
                                            : core::did_you_mean(own, names))};
}

Error ToolFinder::why_missing(connection::CallerNumber caller, const connection::Sight* sight,
                              const std::string& name, const std::vector<std::string>& servers) {
    const std::string wanted = "\"" + core::printable(name, 80) + "\"";
    if (auto why = why_unknown(caller, wanted, servers)) return std::move(*why);
    for (const auto& id : servers) {
        const auto prefix = "mcp__" + id + "__";
        if (!name.starts_with(prefix)) continue;
        // As its server calls it.
        const auto* entry = index_.find_raw(id, name.substr(prefix.size()));
        if (entry && sight && !sight->holds(id, entry->public_name)) continue;
        if (entry && judge(*entry, core::Trust::NeedsApproval).listed())
            return {ErrorCode::NotFound, "server \"" + id + "\" has no tool " + wanted +
                                             "; did you mean \"" + entry->public_name + "\"?"};
    }
    const auto listed = listed_names(sight);
    // Without the end that it got because no public name could be made of its own letters.
    const auto beginning = name + "_";
    const auto longer = std::find_if(listed.begin(), listed.end(),
                                     [&](const auto& each) { return each.starts_with(beginning); });
    return {ErrorCode::NotFound, "server \"" + servers.front() + "\" has no tool " + wanted +
                                     (longer != listed.end() ? "; did you mean \"" + *longer + "\"?"
                                                             : core::did_you_mean(name, listed))};
}

}  // namespace patchbay::router
