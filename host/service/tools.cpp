#include "service/tools.hpp"

#include "core/text.hpp"
#include "core/timer.hpp"
#include "protocol/compose.hpp"
#include "protocol/qualified_name.hpp"
#include "protocol/raw_json.hpp"
#include "service/statuses.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

namespace patchbay::service {
namespace json = boost::json;
using connection::State;

namespace {

bool holds(const std::vector<std::string>& servers, const std::string& id) {
    return servers.empty() || std::find(servers.begin(), servers.end(), id) != servers.end();
}

// One that is not there may come at any time with other tools than it is known by.
protocol::Caching caching_of(const connection::Connection& server) {
    switch (server.state()) {
        case State::Disabled:
        case State::Untrusted:
            return protocol::kKeptByAll;
        case State::Ready:
            return server.session()->can("tools") ? server.tools_caching() : protocol::kKeptByAll;
        default:
            return {};
    }
}

bool has_whole_list(const Servers& known, const std::string& id) {
    const auto& listings = known.router().catalogue().listings();
    const auto found = listings.find(id);
    return found != listings.end() && found->second->whole;
}

// Nobody has asked it for that caller yet, and nobody need; or it is not there now, and who asks does well with what
// it listed last.
bool is_known_by_its_list(const Servers& known, const connection::Connection* connection,
                          const std::string& id, Ask ask) {
    const auto state = connection ? connection->state() : State::Idle;
    const bool covered = ask == Ask::Anew ? state == State::Idle : state != State::Ready;
    return covered && has_whole_list(known, id);
}

// Held for whoever waits for it.
struct ListAgain {
    ListAgain(core::Loop& loop, std::size_t servers, std::function<void()> then)
        : patience(loop), missing(servers), done(std::move(then)) {}
    void end() {
        patience.stop();
        if (const auto then = std::exchange(done, {})) then();
    }
    core::Timer patience;
    std::size_t missing;
    std::function<void()> done;
};

constexpr std::array kOurKeys{"name", "server",  "tool", "level",    "schema_fault",
                              "pin",  "blocked", "kept", "listed_at"};

bool is_ours(std::string_view key) {
    return std::find(kOurKeys.begin(), kOurKeys.end(), key) != kOurKeys.end();
}

json::object our_members(const router::ListedTool& tool) {
    json::object own{{"name", tool.public_name},
                     {"server", tool.server},
                     {"tool", tool.tool->name},
                     {"level", config::name_of(tool.level)}};
    if (const auto& fault = tool.tool->schema_fault; !fault.empty()) own["schema_fault"] = fault;
    if (tool.mismatch) {
        own["pin"] = policy::name_of(*tool.mismatch);
        own["blocked"] = tool.blocked;
    }
    return own;
}

// The same as text, for a list of thousands; then what the server says, which is passed on as the text
// that it is.
void append_json(std::string& out, const router::ListedTool& tool,
                 const catalogue::Standing* standing) {
    out.append("{\"name\":").append(protocol::quoted(tool.public_name));
    const auto say = [&out](std::string_view key, std::string_view text) {
        protocol::append_member(out, key, protocol::quoted(text));
    };
    say("server", tool.server);
    say("tool", tool.tool->name);
    say("level", config::name_of(tool.level));
    if (const auto& fault = tool.tool->schema_fault; !fault.empty()) say("schema_fault", fault);
    if (tool.mismatch) {
        say("pin", policy::name_of(*tool.mismatch));
        protocol::append_member(out, "blocked", tool.blocked ? "true" : "false");
    }
    if (standing) {
        say("listed_at", time_of(standing->listed));
        protocol::append_member(out, "kept", standing->recalled ? "true" : "false");
    }
    if (!tool.tool->known.empty()) out.append(",").append(tool.tool->known);  // none is ours
    protocol::each_of(tool.tool->others, [&](std::string_view key, auto value) {
        if (!is_ours(key)) protocol::append_member(out, key, value);
        return true;
    });
    out += '}';
}

}  // namespace

ToolList tools_listed(const Servers& known, const connection::Caller& caller,
                      const std::vector<std::string>& servers, Wait wait, Ask ask) {
    ToolList list;
    for (auto& tool : known.router().tools(caller))
        if (holds(servers, tool.server)) list.tools.push_back(std::move(tool));
    for (const auto& id : known.connections().ids()) {
        if (!holds(servers, id) || (caller.sight() && !caller.sight()->holds(id))) continue;
        const auto* standing = known.router().catalogue().standing(id);
        if (standing) list.heard.push_back({id, *standing});
        const auto answered_before = [&](const connection::Connection* connection) {
            if (!is_known_by_its_list(known, connection, id, ask)) return false;
            list.heard.back().standing.recalled = true;
            list.answered = true;
            list.caching = {};
            return true;
        };
        // Nobody is connected to it, so that there is a connection to be had.
        const bool enough = standing && (standing->recalled || ask == Ask::IfStale);
        if (enough && answered_before(known.connections().held(id, caller.number()))) continue;
        // The caller's own connection: others may have better ones, or worse.
        const auto leased = known.connections().lease(id, caller);
        if (leased && answered_before(&leased->get())) continue;
        if (!leased) {
            list.errors.push_back({id, leased.error()});
            list.caching = {};
            continue;
        }
        const auto status = leased->get().status();
        list.caching = protocol::joined(list.caching, caching_of(leased->get()));
        if (wait == Wait::CutShort && undecided(status)) {
            list.errors.push_back(interrupted(id));
        } else if (status.state != State::Ready) {
            list.errors.push_back({id, why_not_ready(status)});
        } else {
            list.answered = true;
            // One that is there without a whole list is named as well: what it lacks is not nothing.
            if (const auto* lacks = leased->get().tools_error())
                list.errors.push_back({id, {lacks->code, status.tools_error}});
        }
    }
    return list;
}

std::vector<std::string> with_unknown_tools(const Servers& known, const connection::Caller& caller,
                                            const std::vector<std::string>& servers) {
    std::vector<std::string> unknown;
    for (const auto& id : servers) {
        const auto* held = known.connections().held(id, caller.number());
        if (!has_whole_list(known, id) || (held && held->tools_due())) unknown.push_back(id);
    }
    return unknown;
}

void ask_for_tools(const Servers& known, const connection::Caller& caller,
                   const std::vector<std::string>& servers, Ask ask, std::function<void()> done) {
    const auto one_less = [missing = std::make_shared<std::size_t>(servers.size() + 1),
                           done = std::move(done)] {
        if (--*missing == 0) done();
    };
    for (const auto& id : servers) {
        const auto leased = known.connections().lease(id, caller);
        const auto listed = [one_less](const Result<void>&) { one_less(); };
        if (!leased)
            known.connections().loop().defer(one_less);  // why, its list says
        else if (ask == Ask::Anew)
            leased->get().read_tools_again(listed);
        else
            leased->get().refresh_tools(listed);
    }
    known.connections().loop().defer(one_less);
}

std::vector<std::string> with_stale_tools(const Servers& known, const connection::Caller& caller,
                                          const std::vector<std::string>& servers) {
    std::vector<std::string> stale;
    for (const auto& id : servers) {
        const auto* held = known.connections().held(id, caller.number());
        if (held && held->tools_due()) stale.push_back(id);
    }
    return stale;
}

Operation list_again(const Servers& known, const connection::Caller& caller,
                     const std::vector<std::string>& servers, std::chrono::milliseconds patience,
                     std::function<void()> done) {
    const auto again =
        std::make_shared<ListAgain>(known.connections().loop(), servers.size(), std::move(done));
    again->patience.start(patience, [weak = std::weak_ptr(again)] {
        if (const auto self = weak.lock()) self->end();
    });
    for (const auto& id : servers)
        if (const auto leased = known.connections().lease(id, caller))
            leased->get().refresh_tools([weak = std::weak_ptr(again)](const auto&) {
                const auto self = weak.lock();
                if (self && --self->missing == 0) self->end();
            });
    return again;
}

Operation list_tools(const Servers& known, const connection::Caller& caller,
                     const std::string& server, Ask ask,
                     std::function<void(Result<ToolList>)> done) {
    const auto operation = std::make_shared<std::function<void(Result<ToolList>)>>(std::move(done));
    auto meant = server.empty() ? known.connections().ids() : std::vector{server};
    if (const auto& sight = caller.sight(); sight && server.empty())
        std::erase_if(meant, [&](const auto& id) { return !sight->holds(id); });
    // Who is there and has just said that it has others is waited for; all else of it is fresh at once.
    const auto is_known = [&](const std::string& id) {
        const auto* held = known.connections().held(id, caller.number());
        return has_whole_list(known, id) && !(held && held->state() == State::Ready);
    };
    auto asked = meant;
    if (ask == Ask::IfStale) std::erase_if(asked, is_known);
    // Whoever asked may have gone when it comes.
    const auto listed = [&known, &caller, server, ask,
                         waiting = std::weak_ptr(operation)](const Result<void>& fresh) {
        const auto told = waiting.lock();
        if (!told) return;
        if (!fresh) return (*told)(fresh.error());
        if (server.empty()) return (*told)(tools_listed(known, caller, {}, Wait::ToTheEnd, ask));
        auto list = tools_listed(known, caller, {server}, Wait::ToTheEnd, ask);
        list.errors.clear();  // what it mended or left out stands in its status
        (*told)(std::move(list));
    };
    if (server.empty() || asked.empty()) {
        ask_for_tools(known, caller, asked, ask, [listed] { listed({}); });
        return operation;
    }
    const auto connection = known.connections().lease(server, caller);
    if (!connection)  // never from inside the call that asks, as everywhere
        known.connections().loop().defer([listed, error = connection.error()] { listed(error); });
    else if (ask == Ask::Anew)
        connection->get().read_tools_again(listed);
    else
        connection->get().refresh_tools(listed);
    return operation;
}

std::string description_of(const router::ListedTool& tool, const core::Limits& limits) {
    return core::printable(tool.tool->text("description"), limits.description_bytes, true);
}

std::string labelled(const router::ListedTool& tool, const core::Limits& limits) {
    const auto about = description_of(tool, limits);
    return "[" + tool.server + "]" + (about.empty() ? "" : " ") + about;
}

bool fits_pattern(std::string_view given_pattern, std::string_view given_name,
                  std::string_view description) {
    const auto pattern = core::lower(given_pattern), name = core::lower(given_name);
    if (pattern.find_first_of("*?") == std::string::npos)
        return name.find(pattern) != std::string::npos ||
               core::lower(description).find(pattern) != std::string::npos;
    // A loop that goes back to the last `*`: recursion would cost the power of their number.
    std::size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
    while (n < name.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*')
            ++p, ++n;
        else if (p < pattern.size() && pattern[p] == '*')
            star = p++, mark = n;
        else if (star != std::string_view::npos)
            p = star + 1, n = ++mark;
        else
            return false;
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> servers_meant(const std::string& pattern, std::vector<std::string> ids) {
    const auto wildcard = pattern.find_first_of("*?");
    if (wildcard == std::string::npos && !core::lower(pattern).starts_with("mcp__"))
        return ids;  // any may have it in a description
    return protocol::servers_beginning(std::string_view(pattern).substr(0, wildcard), ids);
}

Error no_server_for(const Servers& known, const std::string& pattern) {
    constexpr std::string_view kPrefix = "mcp__";
    const auto end = std::min(pattern.find("__", kPrefix.size()), pattern.size());
    if (core::lower(pattern).starts_with(kPrefix) && pattern.find_first_of("*?") > end)
        return known.no_such_server(pattern.substr(kPrefix.size(), end - kPrefix.size()));
    return known.missing(
        {ErrorCode::NotFound, "no server's tools can match \"" + core::printable(pattern, 80) +
                                  "\"; they are called mcp__SERVER__TOOL"},
        {});
}

json::object to_json(const router::ListedTool& tool, const core::Limits& limits, Schemas schemas) {
    auto entry = our_members(tool);
    entry["description"] = labelled(tool, limits);
    if (schemas == Schemas::Shown) entry["inputSchema"] = tool.tool->input_schema();
    return entry;
}

std::string to_json(const ToolList& list) {
    std::string tools = "[";
    std::map<std::string_view, const catalogue::Standing*> standings;
    for (const auto& each : list.heard) standings.emplace(each.server, &each.standing);
    for (const auto& tool : list.tools) {
        if (tools.size() > 1) tools += ',';
        const auto heard = standings.find(tool.server);
        append_json(tools, tool, heard == standings.end() ? nullptr : heard->second);
    }
    return listed_json("tools", tools += ']', list.errors);
}

}  // namespace patchbay::service
