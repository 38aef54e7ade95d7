#include "app/server_account.hpp"

#include "app/gateway_key.hpp"
#include "core/digest.hpp"
#include "core/random.hpp"

#include <boost/json.hpp>

#include <cctype>
#include <cstddef>
#include <set>
#include <string_view>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr const char* kKey = "catalogue.key";
constexpr std::size_t kKeyBytes = 32;

using Names = std::set<std::string>;

bool is_of_a_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

void add_named_in(std::string_view text, Names& names) {
    for (auto at = text.find("${"); at != std::string_view::npos; at = text.find("${", at)) {
        const auto begin = at += 2;
        while (at < text.size() && is_of_a_name(text[at])) ++at;
        if (at > begin) names.emplace(text.substr(begin, at - begin));
    }
}

void add_named_in(const json::value& value, Names& names) {
    if (const auto* text = value.if_string()) return add_named_in(std::string_view(*text), names);
    if (const auto* list = value.if_array())
        for (const auto& each : *list) add_named_in(each, names);
    if (const auto* object = value.if_object())
        for (const auto& each : *object) add_named_in(each.value(), names);
}

Names names_in(const registry::ServerSpec& spec) {
    Names names;
    const auto& server = spec.config;
    for (const auto* object : {&server.settings, &server.oauth})
        for (const auto& each : *object) add_named_in(each.value(), names);
    if (spec.auth_table) add_named_in(*spec.auth_table, names);
    if (!server.bearer_token_env_var.empty()) names.insert(server.bearer_token_env_var);
    const auto* passed = server.settings.if_contains("pass_env");
    if (passed && passed->is_array())
        for (const auto& each : passed->get_array())
            if (const auto* name = each.if_string()) names.emplace(std::string_view(*name));
    return names;
}

}  // namespace

std::string ServerAccount::of(const registry::ServerSpec& spec) {
    const auto names = names_in(spec);
    if (names.empty() || !environment_.variable) return {};
    json::array values;  // also which are not set
    for (const auto& name : names) {
        const auto value = environment_.variable(name);
        values.push_back({name, value ? json::value(*value) : json::value()});
    }
    return core::hmac_sha256_hex(key(), json::serialize(values));
}

const std::string& ServerAccount::key() {
    if (!key_.empty()) return key_;
    const auto kept = kept_key(state_directory_, kKey);
    return key_ = kept ? *kept : core::random_hex(kKeyBytes);
}

}  // namespace patchbay::app
