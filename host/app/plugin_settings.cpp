#include "app/plugin_settings.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <filesystem>

namespace patchbay::app {

namespace {

// "stdio" for dev.patchbay.stdio: the last word of its id, or what it provides.
bool is_short_for(const std::string& name, const plugin::PluginInfo& info) {
    return info.id.ends_with("." + name) ||
           std::any_of(info.provides.begin(), info.provides.end(),
                       [&](const auto& provided) { return provided.name == name; });
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
        config::Place place;
        for (const auto& [key, written] : config.origins)
            if (key == "plugins.disabled") place = written;
        config.diagnostics.push_back(
            {config::Severity::Warning, std::move(place), std::move(message), {}});
    }
}

void check_directories(config::Config& config, const std::vector<std::string>& of_flags) {
    for (const auto& directory : of_flags) {
        if (!config.closed_by.empty()) {
            config.diagnostics.push_back({config::Severity::Warning,
                                          {config::Scope::Session, directory, 0, 0},
                                          "--plugin-dir is not looked at: " + config.closed_by,
                                          {}});
            continue;
        }
        std::error_code failed;
        const auto status = std::filesystem::status(directory, failed);
        if (std::filesystem::is_directory(status)) continue;
        std::string message =
            std::string(std::filesystem::exists(status) ? "not a directory" : "no such directory") +
            " (named by --plugin-dir)";
        config::Place place{config::Scope::Session, directory, 0, 0};
        if (config.stop.empty()) config.stop = config::to_string(place) + ": " + message;
        config.diagnostics.push_back(
            {config::Severity::Error, std::move(place), std::move(message), {}});
    }
}

}  // namespace patchbay::app
