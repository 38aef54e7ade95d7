// Foreign bytes as the one object that plugins read settings, and the output of header commands,
// from. Of JSON with nothing but the kinds of value that it may hold it reads what is there.
#include "core/json.hpp"
#include "fuzz/require.hpp"

#include <patchbay/cpp/json.hpp>

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace {

namespace json = boost::json;
using patchbay::sdk::Config;
using Kind = patchbay::sdk::ConfigValue::Kind;

template <class Values>
bool all_text(const Values& values) {
    for (const auto& each : values) {
        if constexpr (std::is_same_v<Values, json::object>) {
            if (!each.value().is_string()) return false;
        } else if (!each.is_string()) {
            return false;
        }
    }
    return true;
}

bool is_flat(const json::object& object) {
    for (const auto& member : object) {
        if (const auto* list = member.value().if_array(); list && !all_text(*list)) return false;
        if (const auto* inner = member.value().if_object(); inner && !all_text(*inner))
            return false;
    }
    return true;
}

void require_same(const Config& config, const json::object& object) {
    for (const auto& member : object) {
        const auto* read = config.find(std::string(member.key()));
        const auto& value = member.value();
        FUZZ_REQUIRE((read == nullptr) == value.is_null());
        if (!read) continue;
        if (value.is_string())
            FUZZ_REQUIRE(read->kind == Kind::String && read->text == value.get_string());
        if (value.is_bool())
            FUZZ_REQUIRE(read->kind == Kind::Boolean && read->boolean == value.get_bool());
        if (value.is_number()) FUZZ_REQUIRE(read->kind == Kind::Number);
        if (value.is_array())
            FUZZ_REQUIRE(read->kind == Kind::Strings &&
                         read->strings.size() == value.get_array().size());
        if (value.is_object())
            FUZZ_REQUIRE(read->kind == Kind::Object &&
                         read->object.size() == value.get_object().size());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::optional<Config> config;
    try {
        config.emplace(text);
    } catch (const patchbay::sdk::Failure&) {
    }
    const auto object = patchbay::core::parse_json_object(text, {.unique_keys = true});
    if (!object || !is_flat(*object)) return 0;
    FUZZ_REQUIRE(config);
    require_same(*config, *object);
    return 0;
}
