#include "app/server_variables.hpp"

#include "config/references.hpp"

#include <boost/json.hpp>

#include <string_view>

namespace patchbay::app {
namespace json = boost::json;

namespace {

void add_named_in(std::string_view text, std::set<std::string>& names) {
    for (const auto& piece : config::pieces_of(text))
        if (const auto name = config::variable_in(piece.text); piece.reference && !name.empty())
            names.emplace(name);
}

// Keys too: nobody who reads this has to know which of them are expanded.
void add_named_in(const json::value& value, std::set<std::string>& names) {
    if (const auto* text = value.if_string()) return add_named_in(std::string_view(*text), names);
    if (const auto* list = value.if_array())
        for (const auto& each : *list) add_named_in(each, names);
    if (const auto* object = value.if_object())
        for (const auto& member : *object) {
            add_named_in(std::string_view(member.key()), names);
            add_named_in(member.value(), names);
        }
}

void add_texts(const json::value* list, std::set<std::string>& names) {
    if (!list || !list->is_array()) return;
    for (const auto& each : list->get_array())
        if (each.is_string()) names.emplace(each.get_string());
}

}  // namespace

std::set<std::string> variables_of(const registry::ServerSpec& spec) {
    std::set<std::string> names;
    if (const auto& token = spec.config.bearer_token_env_var; !token.empty()) names.insert(token);
    add_texts(spec.config.settings.if_contains("pass_env"), names);
    for (const auto& part : registry::parts_of_connection(spec)) add_named_in(part.value, names);
    return names;
}

}  // namespace patchbay::app
