#include "app/presets.hpp"

#include "app/compiled_in.hpp"
#include "app/server_edit.hpp"
#include "config/keys.hpp"
#include "config/parameters.hpp"
#include "config/reader.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::string_view kPresetSuffix = ".toml";

std::string text_of(const config::Node& table, std::string_view key) {
    const auto* found = table.find(key);
    return found ? found->text : std::string();
}

bool flag_of(const config::Node& table, std::string_view key) {
    const auto* found = table.find(key);
    return found && found->flag;
}

std::string placeholder(const Preset::Parameter& parameter) {
    return parameter.name + (parameter.many ? "..." : "");
}

std::string usage_of(const Preset& preset) {
    std::string usage = "patchbay mcp add --preset " + preset.id;
    for (const auto& each : preset.parameters) usage += " " + placeholder(each);
    return usage;
}

Result<void> check_count(const Preset& preset, std::size_t given) {
    const auto& wanted = preset.parameters;
    if (given < wanted.size()) {
        const auto& first = wanted[given];
        return invalid("preset \"" + preset.id + "\" lacks " + placeholder(first) + " (" +
                       first.what + "); expected " + usage_of(preset));
    }
    const bool open = !wanted.empty() && wanted.back().many;
    if (given > wanted.size() && !open)
        return invalid("preset \"" + preset.id + "\" takes " +
                       (wanted.empty() ? "no words" : std::to_string(wanted.size()) + " words") +
                       ", and there are " + std::to_string(given) + "; expected " +
                       usage_of(preset));
    return {};
}

Result<config::Node> value_of(const Preset::Parameter& parameter, const std::string& word,
                              const PresetWords& words) {
    if (!parameter.folder) return config::Node::of_text(word, {});
    auto path = words.folder(word);
    if (!path) return within(parameter.name, path.error());
    return config::Node::of_text(std::move(*path), {});
}

// A Node says what text says; this one was JSON already.
config::Node node_of(const json::object& entry) {
    return config::parse(json::serialize(entry), config::Format::Json).root;
}

}  // namespace

Result<Preset> read_preset(std::string_view id, std::string_view text) {
    const auto parsed = config::parse(text, config::Format::Toml);
    const auto* server = parsed.root.find("server");
    if (parsed.problem || !server)
        return Error{ErrorCode::Internal,
                     "preset \"" + std::string(id) + "\": " +
                         (parsed.problem ? parsed.problem->message : "it has no [server]")};
    Preset preset{.id = std::string(id),
                  .title = text_of(parsed.root, "title"),
                  .docs = text_of(parsed.root, "docs"),
                  .touches = text_of(parsed.root, "touches"),
                  .parameters = {},
                  .variables = {},
                  .transport = {},
                  .server = config::to_object(*server)};
    if (const auto* all = parsed.root.find("parameters"))
        for (const auto& each : all->items)
            preset.parameters.push_back({text_of(each, "name"), text_of(each, "what"),
                                         text_of(each, "kind") == "folder", flag_of(each, "many")});
    if (const auto* all = parsed.root.find("env"))
        for (const auto& each : all->items)
            preset.variables.push_back({text_of(each, "name"), text_of(each, "what")});
    preset.transport = text_of(*server, "transport");
    if (preset.transport.empty())
        preset.transport =
            config::transport_for(server->find("command") != nullptr, text_of(*server, "url"));
    return preset;
}

Result<std::vector<Preset>> presets() {
    std::vector<Preset> all;
    for (const auto& file : preset_files()) {
        auto preset =
            read_preset(file.name.substr(0, file.name.size() - kPresetSuffix.size()), file.text);
        if (!preset) return preset.error();
        all.push_back(std::move(*preset));
    }
    return all;
}

Result<Preset> find_preset(const std::string& id) {
    auto all = presets();
    if (!all) return all.error();
    std::vector<std::string> known;
    for (auto& each : *all) {
        if (each.id == id) return std::move(each);
        known.push_back(each.id);
    }
    return Error{ErrorCode::NotFound, "there is no preset \"" + core::printable(id, 80) + "\"" +
                                          core::did_you_mean(id, known) +
                                          "; patchbay mcp presets lists them"};
}

Result<json::object> entry_of(const Preset& preset, const PresetWords& words) {
    if (auto fine = check_count(preset, words.values.size()); !fine) return fine.error();
    config::Parameters given;
    for (std::size_t i = 0; i < preset.parameters.size(); ++i) {
        const auto& parameter = preset.parameters[i];
        auto list = config::Node::of_list({});
        const auto end = parameter.many ? words.values.size() : i + 1;
        for (auto at = i; at < end; ++at) {
            auto value = value_of(parameter, words.values[at], words);
            if (!value) return value.error();
            list.items.push_back(std::move(*value));
        }
        given[parameter.name] = parameter.many ? std::move(list) : std::move(list.items.front());
    }
    for (const auto& variable : preset.variables) {
        auto reference = words.variable(variable.name);
        if (reference.empty())
            return invalid(
                "preset \"" + preset.id + "\" needs " + variable.name + " (" + variable.what +
                "), which is not set here; keep it: patchbay secret set " + variable.name);
        given[variable.name] = config::Node::of_text(std::move(reference), {});
    }
    auto body = node_of(preset.server);
    auto left = config::kFileBytes;
    if (auto wrong = config::fill_in(body, given, left))
        return Error{ErrorCode::Internal, "preset \"" + preset.id + "\": " + wrong->text};
    return config::to_object(body);
}

}  // namespace patchbay::app
