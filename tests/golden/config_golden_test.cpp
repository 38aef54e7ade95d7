// Runs every *.case beside this file: configuration as written, then what the host makes of it.
//
//   == user config.toml         a file: its scope, its name; content until the next == or dashes
//   ----                        four dashes
//   {"servers": {...}}          the merged config: "servers" whole but for values at their default,
//                               other members as far as they are named
//   ----
//   error: user config ...      every diagnostic, in order
//
// PATCHBAY_UPDATE_GOLDEN=1 rewrites the last two parts; read the difference before you commit it.
#include "config/load.hpp"
#include "config/merge.hpp"
#include "config/show.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace patchbay::config {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

struct Case {
    std::string inputs, config, diagnostics;
    std::vector<Fragment> fragments;
};

Scope scope_from(const std::string& name) {
    for (const auto scope : {Scope::BuiltIn, Scope::Plugin, Scope::User, Scope::Project,
                             Scope::Local, Scope::Session, Scope::Enterprise}) {
        if (name == name_of(scope)) return scope;
    }
    throw std::runtime_error("unknown scope " + name);
}

Case read_case(const fs::path& path) {
    std::ifstream in(path);
    Case result;
    std::string* parts[] = {&result.inputs, &result.config, &result.diagnostics};
    std::size_t part = 0;
    for (std::string line; std::getline(in, line);) {
        if (line == "----" && part < 2)
            ++part;
        else
            *parts[part] += line + "\n";
    }
    std::istringstream inputs(result.inputs);
    std::string text, name, scope;
    const auto finish = [&] {
        if (!name.empty())
            result.fragments.push_back(
                read_fragment(text, format_of(name).value(), {scope_from(scope), 0, name}));
        text.clear();
    };
    for (std::string line; std::getline(inputs, line);) {
        if (!line.starts_with("== ")) {
            text += line + "\n";
            continue;
        }
        finish();
        std::istringstream(line.substr(3)) >> scope >> name;
    }
    finish();
    return result;
}

json::object without_defaults(json::object server) {
    const auto drop = [&](const char* key, const json::value& value) {
        if (server.contains(key) && server.at(key) == value) server.erase(key);
    };
    drop("enabled", true);
    drop("startup_timeout_sec", 60);
    drop("request_timeout_ms", 30000);
    drop("tool_timeout_sec", 97200);
    return server;
}

// `actual`, reduced to what `wanted` names.
json::value as_far_as_named(const json::value& wanted, const json::value& actual) {
    if (!wanted.is_object() || !actual.is_object()) return actual;
    json::object reduced;
    for (const auto& member : wanted.get_object()) {
        const auto* there = actual.get_object().if_contains(member.key());
        reduced[member.key()] =
            there ? as_far_as_named(member.value(), *there) : json::value("(absent)");
    }
    return reduced;
}

json::object shown(const Config& config, const json::object& wanted) {
    const auto all = to_json(config, false).get_object();
    json::object out = as_far_as_named(wanted, all).get_object();
    auto& servers = out["servers"].emplace_object();
    for (const auto& server : all.at("servers").get_object())
        servers[server.key()] = without_defaults(server.value().get_object());
    return out;
}

std::string lines(const json::object& config) {
    std::string text = "{";
    const char* comma = "\n";
    for (const auto& table : config) {
        text += comma + json::serialize(json::string(table.key())) + ": ";
        comma = ",\n";
        if (table.key() != "servers" || table.value().get_object().empty()) {
            text += json::serialize(table.value());
            continue;
        }
        const char* inner = "{\n    ";
        for (const auto& server : table.value().get_object()) {
            text += inner + json::serialize(json::string(server.key())) + ": " +
                    json::serialize(server.value());
            inner = ",\n    ";
        }
        text += "}";
    }
    return text + "\n}\n";
}

class ConfigGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(ConfigGolden, IsUnderstoodAsWritten) {
    const auto path = fs::path(PATCHBAY_SOURCE_DIR) / "tests/golden" / (GetParam() + ".case");
    auto the_case = read_case(path);
    auto config = merge(std::move(the_case.fragments));
    std::string diagnostics;
    for (const auto& diagnostic : config.diagnostics) diagnostics += to_string(diagnostic) + "\n";

    if (std::getenv("PATCHBAY_UPDATE_GOLDEN")) {
        const auto wanted =
            the_case.config.empty() ? json::object() : json::parse(the_case.config).as_object();
        std::ofstream(path) << the_case.inputs << "----\n"
                            << lines(shown(config, wanted)) << "----\n"
                            << diagnostics;
        return;
    }
    const auto wanted = json::parse(the_case.config).as_object();
    EXPECT_EQ(lines(shown(config, wanted)), lines(wanted));
    EXPECT_EQ(diagnostics, the_case.diagnostics);
}

std::vector<std::string> all_cases() {
    std::vector<std::string> names;
    for (const auto& entry :
         fs::directory_iterator(fs::path(PATCHBAY_SOURCE_DIR) / "tests/golden")) {
        if (entry.path().extension() == ".case") names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, ConfigGolden, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace patchbay::config
