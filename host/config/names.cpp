// The words people read and write for the enums of config.hpp, and how a diagnostic is printed.
#include "config/config.hpp"

#include <algorithm>
#include <array>

namespace patchbay::config {

namespace {

constexpr std::array kLevels = {"disable",       "deny",          "require-approval", "allow-once",
                                "allow-session", "allow-project", "allow-always"};

}  // namespace

std::optional<Scope> scope_named(std::string_view name) {
    for (const auto scope : {Scope::BuiltIn, Scope::Plugin, Scope::Client, Scope::User,
                             Scope::Project, Scope::Local, Scope::Session, Scope::Enterprise})
        if (name == name_of(scope)) return scope;
    return {};
}

bool is_followed(Scope scope) {
    return scope == Scope::Client || scope == Scope::ClientProject;
}

const char* name_of(Scope scope) {
    switch (scope) {
        case Scope::BuiltIn:
            return "built-in";
        case Scope::Plugin:
            return "plugin";
        case Scope::Client:
        case Scope::ClientProject:
            return "client";
        case Scope::User:
            return "user";
        case Scope::Project:
            return "project";
        case Scope::Local:
            return "local";
        case Scope::Session:
            return "session";
        case Scope::Enterprise:
            return "enterprise";
    }
    return "?";
}

const char* name_of(Level level) {
    return kLevels[static_cast<std::size_t>(level)];
}

std::optional<Level> level_from(std::string_view name) {
    for (std::size_t i = 0; i < kLevels.size(); ++i) {
        if (name == kLevels[i]) return static_cast<Level>(i);
    }
    return {};
}

const char* name_of(Restart restart) {
    constexpr std::array kNames{"never", "on-failure", "always"};
    return kNames[static_cast<std::size_t>(restart)];
}

std::string to_string(const Place& place) {
    auto text = std::string(name_of(place.scope)) + " config";
    if (!place.file.empty()) text += " " + place.file;
    if (place.line) text += ":" + std::to_string(place.line);
    if (place.line && place.column) text += ":" + std::to_string(place.column);
    return text;
}

std::string to_string(const Diagnostic& diagnostic) {
    return (diagnostic.severity == Severity::Error ? "error: " : "warning: ") +
           sentence_of(diagnostic);
}

std::string sentence_of(const Diagnostic& diagnostic) {
    return to_string(diagnostic.place) + ": " + diagnostic.message;
}

bool Config::takes_out(const Diagnostic& diagnostic) const {
    if (diagnostic.server.empty()) return false;
    if (diagnostic.severity == Severity::Error) return true;
    return is_followed(diagnostic.place.scope) &&
           std::any_of(faulty.begin(), faulty.end(), [&](const Faulty& each) {
               return each.rules.id == diagnostic.server &&
                      each.files.contains(diagnostic.place.file);
           });
}

const Place* Config::find_origin(std::string_view key) const {
    const auto it = std::lower_bound(
        origins.begin(), origins.end(), key,
        [](const auto& origin, const auto& wanted) { return origin.first < wanted; });
    return it != origins.end() && it->first == key ? &it->second : nullptr;
}

std::string why_disabled(const Server& server) {
    return "disabled (" + to_string(server.place_of_rule("enabled")) + "); " + server.turn_on;
}

}  // namespace patchbay::config
