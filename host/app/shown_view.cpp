#include "app/shown_view.hpp"

#include "config/keys.hpp"
#include "core/text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {

Result<gateway::View> view_of(const service::Servers& servers, const Shown& shown) {
    gateway::View view;
    if (!shown.only.empty() && !servers.has(shown.only)) return servers.no_such_server(shown.only);
    for (const auto& id : shown.servers) {
        if (id.empty() || !servers.has(id)) return within("--servers", servers.no_such_server(id));
        if (!view.picked) view.picked.emplace();
        view.picked->insert(id);
    }
    std::vector<std::string> patterns;
    for (const auto& written : shown.tools) {
        if (const auto wrong = config::wrong_pattern(written); !wrong.empty())
            return Error{ErrorCode::Invalid, "--tools: " + wrong};
        patterns.emplace_back(core::trimmed(written));
    }
    if (!patterns.empty()) view.tools.push_back(std::move(patterns));
    if (!shown.agent.empty()) {
        const auto agent = gateway::view_of_agent(servers.config(), shown.agent);
        if (!agent) return within("--agent", agent.error());
        view = view.within(*agent);
    }
    if (!shown.bundle.empty()) {
        const auto bundle = gateway::view_of_bundle(servers.config(), shown.bundle);
        if (!bundle) return within("--bundle", bundle.error());
        view = view.within(*bundle);
    }
    view.only = shown.only;
    gateway::note_owned(view, servers.config());
    return view;
}

gateway::View view_by_now(const service::Servers& servers, const Shown& shown) {
    if (auto view = view_of(servers, shown)) return std::move(*view);
    gateway::View nothing;
    nothing.only = shown.only;
    nothing.agent = shown.agent;
    nothing.picked.emplace();
    return nothing;
}

}  // namespace patchbay::app
