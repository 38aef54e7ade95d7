// patchbay mcp presets: the well-known servers that `mcp add --preset` writes.
#include "app/output.hpp"
#include "app/presets.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"

#include <vector>

namespace patchbay::app {
namespace json = boost::json;

namespace {

json::object json_of(const Preset& preset) {
    json::array parameters, variables;
    for (const auto& each : preset.parameters)
        parameters.push_back(
            json::object{{"name", each.name}, {"description", each.what}, {"many", each.many}});
    for (const auto& each : preset.variables)
        variables.push_back(json::object{{"name", each.name}, {"description", each.what}});
    return {{"id", preset.id},
            {"title", preset.title},
            {"transport", preset.transport},
            {"parameters", std::move(parameters)},
            {"env", std::move(variables)},
            {"touches", preset.touches},
            {"docs", preset.docs},
            {"server", preset.server}};
}

std::string words_of(const Preset& preset) {
    std::string words = preset.id;
    for (const auto& each : preset.parameters) words += " " + each.name + (each.many ? "..." : "");
    return words;
}

std::string needs_of(const Preset& preset) {
    std::string needs;
    for (const auto& each : preset.variables) needs += (needs.empty() ? "" : ", ") + each.name;
    return needs;
}

int presets_verb(const GlobalOptions& global) {
    const auto all = presets();
    if (!all) return report(all.error(), global);
    if (global.json) {
        json::array list;
        for (const auto& each : *all) list.push_back(json_of(each));
        print_json(json::serialize(list));
        return kOk;
    }
    std::vector<std::vector<Cell>> rows{
        {{"PRESET"}, {"TRANSPORT"}, {"ENV"}, {"WHAT"}, {"TOUCHES"}}};
    for (const auto& each : *all)
        rows.push_back(
            {{words_of(each)}, {each.transport}, {needs_of(each)}, {each.title}, {each.touches}});
    print_table(rows);
    return kOk;
}

}  // namespace

void add_presets_verb(CLI::App& mcp, Choice& choice) {
    auto& verb = add_verb(mcp, "presets", "Well-known servers that `mcp add --preset` writes",
                          "  patchbay mcp presets\n  patchbay mcp add --preset filesystem /data\n"
                          "With what each needs and may touch; --json has the address of its "
                          "documentation and the entry too.");
    choice.on(verb, presets_verb);
}

}  // namespace patchbay::app
