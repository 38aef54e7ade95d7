#include "app/plugin_settings.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace patchbay::app {

namespace {

constexpr const char* kPluginPath = "PATCHBAY_PLUGIN_PATH";

// "stdio" for dev.patchbay.stdio: the last word of its id, or what it provides.
bool is_short_for(const std::string& name, const plugin::PluginInfo& info) {
    return info.id.ends_with("." + name) ||
           std::any_of(info.provides.begin(), info.provides.end(),
                       [&](const auto& provided) { return provided.name == name; });
}

void warn(config::Config& config, config::RuleId rule, config::Place place, std::string message) {
    config.diagnostics.push_back(
        {rule, config::Severity::Warning, std::move(place), std::move(message), {}});
}

config::Place place_of(const config::Config& config, std::string_view setting) {
    const auto* origin = config.find_origin(setting);
    return origin ? *origin : config::Place();
}

// Empty: it is one.
std::string why_no_directory(const std::string& path) {
    std::error_code failed;
    const auto status = std::filesystem::status(path, failed);
    if (std::filesystem::is_directory(status)) return {};
    return std::filesystem::exists(status) ? "not a directory" : "no such directory";
}

void check_flag(config::Config& config, const std::string& directory) {
    auto message = why_no_directory(directory);
    if (message.empty()) return;
    message += " (named by --plugin-dir)";
    config::Place place{config::Scope::Session, directory, 0, 0};
    if (config.stop.empty()) config.stop = config::to_string(place) + ": " + message;
    config.diagnostics.push_back({config::RuleId::MissingFile,
                                  config::Severity::Error,
                                  std::move(place),
                                  std::move(message),
                                  {}});
}

// Of a list with colons.
std::vector<std::string> relative_parts(const std::string& list) {
    std::vector<std::string> parts;
    std::istringstream text(list);
    for (std::string part; std::getline(text, part, ':');)
        if (!part.empty() && part.front() != '/') parts.push_back(part);
    return parts;
}

}  // namespace

void check_disabled(config::Config& config, const plugin::Catalogue& plugins) {
    for (const auto& id : config.plugins.disabled) {
        std::vector<std::string> known;
        std::string meant;
        for (const auto& info : plugins.list()) {
            known.push_back(info.id);
            if (meant.empty() && is_short_for(id, info)) meant = info.id;
        }
        if (std::find(known.begin(), known.end(), id) != known.end()) continue;
        std::string message =
            "plugins.disabled: no plugin has the id \"" + core::printable(id, 128) + "\"" +
            (meant.empty() ? core::did_you_mean(id, known) : "; did you mean \"" + meant + "\"?");
        warn(config, config::RuleId::UnknownPlugin, place_of(config, "plugins.disabled"),
             std::move(message));
    }
}

void check_directories(config::Config& config, const std::vector<std::string>& of_flags,
                       const config::Environment& environment) {
    const auto named = [&](const std::string& name, const std::string& file) {
        warn(config, config::RuleId::IgnoredSource, {config::Scope::Session, file, 0, 0},
             name + " is not looked at: " + config.closed_by);
    };
    const auto path = environment.variable ? environment.variable(kPluginPath) : std::nullopt;
    if (!config.closed_by.empty()) {
        for (const auto& directory : of_flags) named("--plugin-dir", directory);
        if (path && !path->empty()) named(kPluginPath, *path);
    } else {
        for (const auto& directory : of_flags) check_flag(config, directory);
        for (const auto& directory : relative_parts(path.value_or("")))
            warn(config, config::RuleId::IgnoredSource, {config::Scope::Session, kPluginPath, 0, 0},
                 "\"" + core::printable(directory, 200) +
                     "\" is not looked at; expected an absolute path");
    }
    for (const auto& directory : config.plugins.directories)
        if (const auto why = why_no_directory(directory); !why.empty())
            warn(config, config::RuleId::MissingFile, place_of(config, "plugins.directories"),
                 "plugins.directories: " + core::printable(directory, 1000) + ": " + why);
}

void check_refused(config::Config& config, const plugin::Catalogue& plugins) {
    for (const auto& info : plugins.list()) {
        const auto& kind = info.place.kind;
        const bool by_name = kind == "--plugin-dir" || kind == kPluginPath || kind == "config";
        if (!by_name || info.manifest_path.empty() || info.state != plugin::PluginState::Refused)
            continue;
        warn(config, config::RuleId::RefusedPlugin,
             {config::Scope::Session, info.manifest_path, 0, 0},
             "this plugin is refused: " + info.reason);
    }
}

}  // namespace patchbay::app
