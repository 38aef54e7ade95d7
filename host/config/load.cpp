#include "config/load.hpp"

#include "config/approval.hpp"
#include "config/ids.hpp"
#include "config/keys.hpp"
#include "config/merge.hpp"
#include "config/sources.hpp"
#include "config/templates.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

namespace patchbay::config {

namespace {

// The variable of a time limit holds its default in milliseconds.
void take_default(const TimeLimit& limit, const Environment& environment,
                  const std::string& closed_by, MergeDefaults& defaults,
                  std::vector<Diagnostic>& diagnostics) {
    if (!limit.variable) return;
    const auto text = environment.variable ? environment.variable(limit.variable) : std::nullopt;
    if (!text || text->empty()) return;
    const auto warn = [&](RuleId rule, std::string message) {
        diagnostics.push_back({rule,
                               Severity::Warning,
                               {Scope::Session, limit.variable, 0, 0},
                               std::move(message),
                               {}});
    };
    if (!closed_by.empty()) return warn(RuleId::IgnoredSource, "ignored: " + closed_by);
    std::int64_t ms = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), ms);
    if (error != std::errc() || end != text->data() + text->size() || ms < 1 || ms > 31'622'400'000)
        return warn(RuleId::InvalidValue, "ignored \"" + core::printable(*text, 40) +
                                              "\"; expected milliseconds from 1 to 31622400000");
    defaults.times.*limit.time = std::chrono::milliseconds(ms);
    defaults.times.*limit.from = limit.variable;
}

// A folder that is named by a relative path is beside the file that names it.
void anchor_roots(Config& config, const Environment& environment) {
    for (const auto& [key, place] : config.origins) {
        if (key != "client.roots") continue;
        const auto folder = place.file.starts_with('/')
                                ? place.file.substr(0, place.file.rfind('/'))
                                : environment.working_directory;
        for (auto& root : config.client.roots)
            if (!root.starts_with('/') && root.find("://") == std::string::npos)
                root = (std::filesystem::path(folder) / root).lexically_normal().string();
    }
}

// A file that [gateway] names by a relative path is beside the file that names it too. What has a
// scheme is no file, but for the socket of `unix:`.
void anchor_gateway(Config& config, const Environment& environment) {
    constexpr std::string_view kUnix = "unix:";
    auto& listener = config.gateway.listener;
    const auto anchor = [&](std::string_view key, std::string& path) {
        const auto* place = config.find_origin(std::string("gateway.") + std::string(key));
        if (!place || path.empty() || path.starts_with('/')) return;
        if (path.starts_with("~/")) {
            path = environment.home + path.substr(1);
            return;
        }
        if (!place->file.starts_with('/')) return;
        const auto folder = place->file.substr(0, place->file.rfind('/'));
        path = (std::filesystem::path(folder) / path).lexically_normal().string();
    };
    const auto anchor_socket = [&](std::string_view key, std::string& address) {
        if (!address.starts_with(kUnix)) return;
        auto path = address.substr(kUnix.size());
        anchor(key, path);
        address = std::string(kUnix) + path;
    };
    anchor("tls_cert", listener.tls_cert);
    anchor("tls_key", listener.tls_key);
    if (listener.oauth_keys.find("://") == std::string::npos)
        anchor("oauth_keys", listener.oauth_keys);
    anchor_socket("http", listener.http);
    anchor_socket("metrics", listener.metrics);
}

// Beside the places of a server's keys: where the template stands that has the rest of them.
void tell_templates(Config& config, const TemplatePlaces& places) {
    if (places.empty()) return;
    for (const auto& server : config.servers)
        if (const auto place = places.find(std::pair(server.id, server.place.file));
            place != places.end())
            config.origins.emplace_back("servers." + server.id + ".template", place->second);
    std::sort(config.origins.begin(), config.origins.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
}

// What was named for this run is to be there.
bool is_unread(const Candidate& candidate) {
    using Found = Candidate::Found;
    return candidate.found == Found::Broken || candidate.found == Found::Unreadable ||
           (candidate.found == Found::Absent && candidate.scope == Scope::Session);
}

}  // namespace

Loaded load(const Environment& environment, const std::vector<PluginFragment>& plugins,
            const Approvals* approvals) {
    auto sources = discover(environment, plugins);
    MergeDefaults defaults;
    for (const auto& limit : kTimeLimits)
        take_default(limit, environment, sources.closed_by, defaults, sources.diagnostics);
    settle_ids(sources.fragments);
    const auto templates = resolve_templates(sources.fragments);
    withhold(sources.fragments, approvals, environment);
    if (environment.servers_of)
        for (auto& fragment : sources.fragments)
            if (const auto scope = fragment.source.scope;
                name_of(scope) != std::string_view(name_of(*environment.servers_of)) &&
                scope != Scope::Enterprise)
                fragment.servers.clear();
    Loaded loaded;
    for (const auto& fragment : sources.fragments)
        if (loaded.project.empty()) loaded.project = fragment.source.project;
    loaded.config = merge(std::move(sources.fragments), defaults);
    tell_templates(loaded.config, templates);
    anchor_roots(loaded.config, environment);
    anchor_gateway(loaded.config, environment);
    if (sources.closed_by.empty())
        for (const auto& each : sources.candidates)
            if (each.found == Candidate::Found::Ignored)
                loaded.config.passed_over.push_back(each.path + ": " + each.note);
    for (const auto& each : sources.candidates)
        if (is_unread(each)) loaded.config.unread.insert(each.path);
    loaded.config.closed_by = std::move(sources.closed_by);
    if (!sources.stop.empty()) loaded.config.stop = std::move(sources.stop);
    if (loaded.config.stop.empty()) loaded.config.stop = wrong_source(loaded.config.diagnostics);
    loaded.candidates = std::move(sources.candidates);
    std::move(sources.diagnostics.begin(), sources.diagnostics.end(),
              std::back_inserter(loaded.config.diagnostics));
    return loaded;
}

namespace {

// With what is weaker or as strong. Ahead of those of its scope, so that what is wrong with a server that
// they define too is told.
Config check(Fragment fragment, const Environment& environment,
             const std::vector<PluginFragment>& plugins) {
    auto sources = discover(environment, plugins);
    auto& fragments = sources.fragments;
    const auto scope = fragment.source.scope;
    std::error_code none;
    const auto whole = std::filesystem::weakly_canonical(fragment.source.file, none);
    std::erase_if(fragments, [&](const auto& each) {
        return each.source.scope > scope ||
               std::filesystem::weakly_canonical(each.source.file, none) == whole;
    });
    if (!sources.closed_by.empty() && scope != Scope::Enterprise)
        fragment.diagnostics.push_back({RuleId::IgnoredSource,
                                        Severity::Warning,
                                        {scope, fragment.source.file, 0, 0},
                                        "it does not count: " + sources.closed_by,
                                        {}});
    fragments.push_back(std::move(fragment));
    settle_ids(fragments);
    resolve_templates(fragments);
    return merge(std::move(fragments));
}

}  // namespace

Config check_file(const std::string& path, Scope scope, const Environment& environment,
                  const std::vector<PluginFragment>& plugins) {
    Candidate candidate{scope, path, {}, {}};
    auto fragment = read_source(path, {scope, 1, path}, candidate, environment.parsed.get());
    if (candidate.found == Candidate::Found::Absent) {
        fragment.broken = true;
        fragment.diagnostics.push_back(
            {RuleId::MissingFile, Severity::Error, {scope, path, 0, 0}, "no such file", {}});
    }
    return check(std::move(fragment), environment, plugins);
}

Config check_text(std::string_view text, const std::string& path, Scope scope,
                  const Environment& environment, const std::vector<PluginFragment>& plugins) {
    const auto format = format_of(path).value_or(Format::Json);
    return check(read_fragment(text, format, {scope, 1, path}, environment.parsed.get()),
                 environment, plugins);
}

}  // namespace patchbay::config
