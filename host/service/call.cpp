#include "service/call.hpp"

#include "core/shell_word.hpp"
#include "core/text.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <vector>

namespace patchbay::service {

namespace {

// "everything.echo", "everything/echo", "everything:echo": what other programs write.
std::optional<std::string> qualified(const Servers& known, const std::string& name) {
    for (const auto& id : known.connections().ids()) {
        if (!name.starts_with(id)) continue;
        auto rest = std::string_view(name).substr(id.size());
        if (rest.starts_with("__")) rest.remove_prefix(1);
        if (rest.size() > 1 &&
            std::string_view("._/:").find(rest.front()) != std::string_view::npos)
            return "mcp__" + id + "__" + std::string(rest.substr(1));
    }
    return {};
}

// "mcp__D__pid" where the server is "d": `; did you mean "mcp__d__"?`. Which tools it has is not known.
std::string near_prefix(const Servers& known, const std::string& name) {
    constexpr std::string_view kPrefix = "mcp__";
    const auto end = name.find("__", kPrefix.size());
    if (!name.starts_with(kPrefix) || end == std::string::npos) return {};
    std::vector<std::string> ids, near;
    for (const auto& status : known.statuses()) ids.push_back(status.id);
    for (const auto& id : core::nearest(name.substr(kPrefix.size(), end - kPrefix.size()), ids))
        near.push_back("\"mcp__" + id + "__\"");
    return near.empty() ? std::string() : "; did you mean " + core::join(near, " or ") + "?";
}

// "mcp__My Server__pid": by the name that a file has, which no id can be.
std::optional<Error> called_by_its_file(const Servers& known, const std::string& name) {
    const std::pair<const std::string, config::Config::Named>* longest = nullptr;
    for (const auto& each : known.config().names)
        if (name.starts_with("mcp__" + each.first + "__") &&
            (!longest || each.first.size() > longest->first.size()))
            longest = &each;
    if (!longest) return std::nullopt;
    auto error = *called_otherwise(known.config(), longest->first);
    const auto tool = name.substr(std::string_view("mcp____").size() + longest->first.size());
    error.message += ": mcp__" + longest->second.id + "__" + core::printable(tool, 80);
    return error;
}

// Disabled, broken, not approved: and no definition of that name is in force.
std::vector<std::string> out_of_order(const Servers& known) {
    const auto& config = known.config();
    std::vector<std::string> ids;
    for (const auto& server : config.servers)
        if (!server.enabled) ids.push_back(server.id);
    for (const auto& diagnostic : config.diagnostics)
        if (config.takes_out(diagnostic)) ids.push_back(diagnostic.server);
    for (const auto& proposal : config.untrusted)
        if (!proposal.is_table()) ids.push_back(proposal.id);
    std::erase_if(ids, [&](const auto& id) { return known.has(id); });
    return ids;
}

}  // namespace

router::CallId call(const Servers& known, connection::Caller& caller, router::Call call,
                    connection::ReplyHandler handler) {
    const auto name = call.name;
    // Whoever is not shown all hears of nothing else.
    if (caller.sight()) return known.router().call(caller, std::move(call), std::move(handler));
    return known.router().call(
        caller, std::move(call),
        [&known, name, handler = std::move(handler)](Result<connection::Reply> reply) {
            if (reply) return handler(std::move(reply));
            handler(unknown_tool(known, name, reply.error()));
        });
}

void find_tool(const Servers& known, const connection::Caller& caller, const std::string& name,
               std::chrono::milliseconds timeout,
               std::function<void(Result<router::ListedTool>)> found) {
    if (caller.sight()) return known.router().find_tool(caller, name, timeout, std::move(found));
    known.router().find_tool(
        caller, name, timeout,
        [&known, name, found = std::move(found)](Result<router::ListedTool> tool) {
            if (tool) return found(std::move(tool));
            found(unknown_tool(known, name, tool.error()));
        });
}

Error unknown_tool(const Servers& known, const std::string& name, Error error) {
    if (error.code != ErrorCode::NotFound) return error;
    const auto none = "no tool \"" + core::printable(name, 80) + "\"";
    const auto servers = protocol::servers_for(name, out_of_order(known));
    if (!servers.empty()) return within(none, known.no_such_server(servers.front()));
    if (name.starts_with("mcp__")) {
        if (protocol::servers_for(name, known.connections().ids()).empty()) {
            if (auto otherwise = called_by_its_file(known, name)) return within(none, *otherwise);
            if (const auto near = near_prefix(known, name); !near.empty())
                error.message = none + ": no enabled server has this prefix" + near;
            error.message += passed_over(known.config());
        }
        return known.missing(std::move(error), {});
    }
    if (const auto better = qualified(known, name))
        error.message = none + "; did you mean \"" + core::printable(*better, 160) + "\"?";
    else
        error.message = none +
                        ": tools are called mcp__SERVER__TOOL; find it with: patchbay tools " +
                        core::shell_word(name, 80);
    return error;
}

}  // namespace patchbay::service
