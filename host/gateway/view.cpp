#include "gateway/view.hpp"

#include "config/agents.hpp"
#include "config/bundles.hpp"
#include "config/config.hpp"
#include "core/digest.hpp"
#include "core/text.hpp"
#include "protocol/qualified_name.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

// A copy: what was asked under it may outlive the session that it is of.
class SightOfView final : public connection::Sight {
public:
    explicit SightOfView(View view) : view_(std::move(view)) {}

    bool holds(std::string_view server) const override { return view_.holds(server); }
    bool holds(std::string_view server, std::string_view public_name) const override {
        return view_.holds(server, public_name);
    }

private:
    const View view_;
};

// Whether a name that begins so may match: what stands before the first * decides, the rest is of tools
// that nobody knows yet.
bool reaches(std::string_view pattern, std::string_view beginning) {
    const auto text = pattern.substr(0, pattern.find('*'));
    if (text.starts_with(beginning)) return true;
    return text.size() < pattern.size() && beginning.starts_with(text);
}

}  // namespace

bool View::is_in_it(std::string_view server) const {
    if (!only.empty() && server != only) return false;
    if (picked) return picked->contains(server);
    if (!only.empty()) return true;
    const auto own = owned.find(server);
    return own == owned.end() || own->second == agent;
}

// Decides whether a server is started for a client, before anything is known of its tools: so by what its
// names begin with.
bool View::holds(std::string_view server) const {
    if (!is_in_it(server)) return false;
    if (tools.empty() && denied.empty()) return true;
    const auto prefix = "mcp__" + std::string(server) + "__";
    if (is_denied(prefix)) return false;  // all of it
    return std::all_of(tools.begin(), tools.end(), [&](const auto& patterns) {
        return std::any_of(patterns.begin(), patterns.end(),
                           [&](const auto& each) { return reaches(each, prefix); });
    });
}

bool View::holds(std::string_view server, std::string_view public_name) const {
    if (!is_in_it(server) || is_denied(public_name)) return false;
    return std::all_of(tools.begin(), tools.end(), [&](const auto& patterns) {
        return std::any_of(patterns.begin(), patterns.end(),
                           [&](const auto& each) { return protocol::matches(each, public_name); });
    });
}

// Of a bare prefix: whether all that begins so is.
bool View::is_denied(std::string_view public_name) const {
    return std::any_of(denied.begin(), denied.end(),
                       [&](const auto& each) { return protocol::matches(each, public_name); });
}

std::vector<std::string> View::servers(const connection::ConnectionPool& pool) const {
    auto ids = pool.ids();
    std::erase_if(ids, [&](const auto& id) { return !holds(id); });
    return ids;
}

View View::within(const View& other) const {
    auto both = *this;
    if (both.only.empty())
        both.only = other.only;
    else if (!other.only.empty() && other.only != both.only)
        both.picked.emplace();  // nothing is in both
    if (!other.agent.empty()) both.agent = other.agent, both.about = other.about;
    if (!both.picked)
        both.picked = other.picked;
    else if (other.picked)
        std::erase_if(*both.picked, [&](const auto& id) { return !other.picked->contains(id); });
    both.owned.insert(other.owned.begin(), other.owned.end());
    // A tool has to match one pattern of each list, so that another list only takes away.
    both.tools.insert(both.tools.end(), other.tools.begin(), other.tools.end());
    both.denied.insert(both.denied.end(), other.denied.begin(), other.denied.end());
    both.meta = both.meta || other.meta;
    return both;
}

// The description of an agent shows nothing and hides nothing: a session goes on when it was edited.
std::string View::key() const {
    if (all() && agent.empty() && !meta) return {};
    if (picked || !owned.empty() || !tools.empty() || !denied.empty() || !agent.empty() || meta) {
        json::array lists;
        for (const auto& patterns : tools)
            lists.push_back(json::array(patterns.begin(), patterns.end()));
        json::object told{{"only", only}, {"agent", agent}, {"tools", std::move(lists)}};
        if (!denied.empty()) told["denied"] = json::array(denied.begin(), denied.end());
        if (meta) told["meta"] = true;
        if (picked) told["picked"] = json::array(picked->begin(), picked->end());
        json::array hidden;
        for (const auto& [server, whose] : owned)
            if (!is_in_it(server)) hidden.emplace_back(server);
        if (!hidden.empty()) told["hidden"] = std::move(hidden);
        return core::sha256_hex(json::serialize(told));
    }
    return only;
}

std::shared_ptr<const connection::Sight> View::sight() const {
    return all() ? nullptr : std::make_shared<SightOfView>(*this);
}

void note_owned(View& view, const config::Config& config) {
    for (const auto& server : config.servers)
        if (!server.agent.empty()) view.owned.insert_or_assign(server.id, server.agent);
}

Result<View> view_of_agent(const config::Config& config, const std::string& name) {
    const auto found = config::agent_named(config, name);
    if (!found) return found.error();
    const auto& agent = **found;
    if (!agent.enabled)
        return Error{ErrorCode::NotFound, "agent \"" + core::printable(name, 80) +
                                              "\" is disabled (" + config::to_string(agent.place) +
                                              "); set enabled = true"};
    View view;
    view.agent = name;
    view.about = agent.description;
    if (agent.servers) view.picked.emplace(agent.servers->begin(), agent.servers->end());
    if (agent.tools) view.tools.push_back(*agent.tools);
    note_owned(view, config);
    if (agent.bundle.empty()) return view;
    const auto bundle = view_of_bundle(config, agent.bundle);
    if (!bundle) return bundle.error();
    return view.within(*bundle);
}

Result<View> view_of_bundle(const config::Config& config, const std::string& name) {
    const auto found = config::bundle_named(config.bundles, name);
    if (!found) return found.error();
    const auto& bundle = **found;
    View view;
    view.picked.emplace(bundle.servers.begin(), bundle.servers.end());
    if (bundle.allow) view.tools.push_back(*bundle.allow);
    view.denied = bundle.deny;
    view.meta = bundle.mode == "meta";
    note_owned(view, config);
    return view;
}

}  // namespace patchbay::gateway
