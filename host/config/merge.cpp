#include "config/merge.hpp"

#include "config/ids.hpp"
#include "config/server_merge.hpp"
#include "config/stray_switches.hpp"
#include "config/table_merge.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace patchbay::config {

namespace {

// Nothing is allowed, because of one diagnostic of an enterprise file.
void deny_all(Config& config, std::size_t cause) {
    config.deny_all = true;
    config.servers.clear();
    auto& told = config.diagnostics.at(cause);
    told.message = "the enterprise config is broken (" + told.message +
                   "), so every server and tool is denied; ask your administrator";
    config.stop = to_string(told.place) + ": " + told.message;
}

Config denied(std::vector<Fragment> enterprise) {
    Config config;
    for (auto& fragment : enterprise) {
        std::move(fragment.diagnostics.begin(), fragment.diagnostics.end(),
                  std::back_inserter(config.diagnostics));
    }
    if (config.diagnostics.empty())
        config.diagnostics.push_back({RuleId::UnreadableFile,
                                      Severity::Error,
                                      {Scope::Enterprise, enterprise.front().source.file, 0, 0},
                                      "nothing of it can be read",
                                      {}});
    const auto cause =
        std::find_if(config.diagnostics.begin(), config.diagnostics.end(),
                     [](const auto& each) { return each.severity == Severity::Error; });
    deny_all(config, cause == config.diagnostics.end()
                         ? 0
                         : static_cast<std::size_t>(cause - config.diagnostics.begin()));
    return config;
}

// Sorted, the weakest first, and without those of enterprise files, which are given back.
std::vector<Fragment> split_off_enterprise(std::vector<Fragment>& fragments) {
    std::stable_sort(fragments.begin(), fragments.end(), [](const auto& a, const auto& b) {
        return std::tie(a.source.scope, a.source.rank) < std::tie(b.source.scope, b.source.rank);
    });
    const auto first = std::find_if(fragments.begin(), fragments.end(), [](const auto& f) {
        return f.source.scope == Scope::Enterprise;
    });
    std::vector<Fragment> enterprise(std::make_move_iterator(first),
                                     std::make_move_iterator(fragments.end()));
    fragments.erase(first, fragments.end());
    return enterprise;
}

void close_for(const Fragment& broken, Merging& merging) {
    merging.close(to_string(broken.source.place({})) + " is broken");
    merging.close_gateway(broken.source, {}, " is broken");
}

Config finished(Merging&& merging) {
    auto& config = merging.config;
    std::sort(config.untrusted.begin(), config.untrusted.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    if (merging.denied_by) deny_all(config, *merging.denied_by);
    config.origins.assign(std::make_move_iterator(merging.origins.places.begin()),
                          std::make_move_iterator(merging.origins.places.end()));
    config.overruled = std::move(merging.origins.overruled);
    config.contradictions = std::move(merging.origins.contradictions);
    return std::move(config);
}

}  // namespace

std::string wrong_source(const std::vector<Diagnostic>& diagnostics) {
    for (const auto& diagnostic : diagnostics) {
        const bool named = diagnostic.place.scope == Scope::Session &&
                           (diagnostic.server.empty() || diagnostic.place.is_flag());
        if (named && diagnostic.severity == Severity::Error)
            return to_string(diagnostic.place) + ": " + diagnostic.message;
    }
    return {};
}

bool exclusive(const std::vector<Fragment>& enterprise) {
    bool opened = false;
    for (const auto& fragment : enterprise) {
        if (fragment.exclusive == true) return true;
        if (fragment.exclusive == false) opened = true;
    }
    return !enterprise.empty() && !opened;
}

Config merge(std::vector<Fragment> fragments, const MergeDefaults& defaults) {
    settle_ids(fragments);
    auto enterprise = split_off_enterprise(fragments);
    // Half of what an administrator wrote could be looser than the whole.
    if (std::any_of(enterprise.begin(), enterprise.end(), [](const auto& f) { return f.broken; }))
        return denied(std::move(enterprise));
    // Nobody else's file counts then, nor what is wrong in it.
    if (exclusive(enterprise)) fragments.clear();
    std::move(enterprise.begin(), enterprise.end(), std::back_inserter(fragments));
    settle_stray_switches(fragments);

    Merging merging(defaults);
    ServerMerge servers(merging);
    TableMerge tables(merging);
    // What is wrong in the files themselves is told before what they say together.
    for (const auto& fragment : fragments)
        std::copy(fragment.diagnostics.begin(), fragment.diagnostics.end(),
                  std::back_inserter(merging.config.diagnostics));
    for (const auto& fragment : fragments) {
        if (fragment.broken) close_for(fragment, merging);
        for (const auto& entry : fragment.servers) servers.take(entry, fragment.source);
        for (const auto& table : fragment.tables) tables.take(table, fragment);
    }
    const auto defined = servers.finish();
    tables.finish(fragments, defined);
    return finished(std::move(merging));
}

}  // namespace patchbay::config
