// A folder of files and an Environment inside of it, for tests of where configuration comes from.
#pragma once

#include "config/load.hpp"
#include "config/merge.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unistd.h>

namespace patchbay::config {

class Folder {
public:
    Folder() {
        auto pattern = (std::filesystem::temp_directory_path() / "patchbay-config-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    void write(const std::string& name, const std::string& text) const {
        const std::filesystem::path path = *this / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    void make(const std::string& name) const { std::filesystem::create_directories(*this / name); }

private:
    std::string path_;
};

// home/user is the home, home/user/src/project the working directory, etc the enterprise's.
struct World {
    Folder folder;
    std::map<std::string, std::string> variables;
    Environment environment;

    World() {
        folder.make("home/user/src/project");
        environment.home = folder / "home/user";
        environment.working_directory = folder / "home/user/src/project";
        environment.config_home = folder / "home/user/.config";
        environment.enterprise_directory = folder / "etc";
        environment.variable = [this](const std::string& name) -> std::optional<std::string> {
            const auto it = variables.find(name);
            return it == variables.end() ? std::nullopt : std::optional(it->second);
        };
    }
};

// Approves what it is told to, all when it is told nothing, and remembers what it was asked.
struct FakeApprovals final : Approvals {
    std::optional<std::map<std::string, std::string>> digests;  // by id
    mutable std::map<std::string, Proposal> asked;
    std::string plugin = "fake";
    std::set<std::string> changed;  // transports and "auth.METHOD" that another plugin provides now

    bool approved(const Proposal& proposal) const override {
        asked[proposal.id] = proposal;
        if (!digests) return true;
        const auto it = digests->find(proposal.id);
        return it != digests->end() && it->second == proposal.digest;
    }
    std::string plugin_of(const std::string& transport) const override {
        return provider(transport);
    }
    std::string plugin_of_auth(const std::string& method) const override {
        return provider("auth." + method);
    }

private:
    std::string provider(const std::string& what) const {
        return (changed.contains(what) ? "another" : plugin) + "." + what;
    }
};

inline const Server* find(const Config& config, const std::string& id) {
    for (const auto& server : config.servers) {
        if (server.id == id) return &server;
    }
    return nullptr;
}

// A file of that scope, by the name of its scope; and what a user's alone makes.
inline Fragment toml(Scope scope, const std::string& text) {
    return read_fragment(text, Format::Toml, {scope, 0, std::string(name_of(scope)) + ".toml"});
}

inline Config of_user(const std::string& text) {
    std::vector<Fragment> one;
    one.push_back(toml(Scope::User, text));
    return merge(std::move(one));
}

// One server, "a"; its command tells who defined it.
inline std::string saying(const std::string& who) {
    return "[servers.a]\ncommand = \"" + who + "\"\n";
}

inline std::string command_of(const Config& config, const std::string& id) {
    const auto* server = find(config, id);
    return server ? std::string(server->settings.at("command").as_string()) : "(none)";
}

// Where somebody has approved whatever a checkout brings.
inline Config approved(const World& world) {
    const FakeApprovals all;
    return load(world.environment, {}, &all).config;
}

inline std::string all(const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    for (const auto& diagnostic : diagnostics) text += to_string(diagnostic) + "\n";
    return text;
}

}  // namespace patchbay::config
