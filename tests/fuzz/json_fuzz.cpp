// Foreign bytes as JSON text: the door takes what the library takes, within its own bounds, and says
// the same; the getters bear whatever came.
#include "core/json.hpp"
#include "fuzz/require.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>

namespace {

using namespace patchbay;
namespace json = boost::json;

void ask(const json::object& object) {
    for (const auto& member : object) {
        const std::string_view key(member.key().data(), member.key().size());
        FUZZ_REQUIRE((core::object_in(&object, key) != nullptr) == member.value().is_object());
        FUZZ_REQUIRE((core::array_in(&object, key) != nullptr) == member.value().is_array());
        FUZZ_REQUIRE(core::text_in(&object, key).has_value() == member.value().is_string());
        FUZZ_REQUIRE(core::flag_in(&object, key).has_value() == member.value().is_bool());
        FUZZ_REQUIRE(core::number_in(&object, key).has_value() == member.value().is_number());
        const auto integer = core::integer_in(&object, key);
        if (integer && member.value().is_double())
            FUZZ_REQUIRE(static_cast<double>(*integer) == member.value().get_double());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    core::JsonLimits limits;
    limits.depth = 32;
    limits.crowding = 40 * 40;
    const auto taken = core::parse_json(text, limits);

    json::parse_options options;
    options.max_depth = limits.depth;
    json::error_code failed;
    const auto expected = json::parse({text.data(), text.size()}, failed, {}, options);
    if (!taken) {
        FUZZ_REQUIRE(failed || taken.error().code == ErrorCode::Limit);
        return 0;
    }
    FUZZ_REQUIRE(!failed && *taken == expected);
    FUZZ_REQUIRE(core::parse_json(json::serialize(*taken), limits).has_value());
    FUZZ_REQUIRE(core::parse_json_object(text, limits).has_value() == taken->is_object());
    if (const auto* object = taken->if_object()) ask(*object);

    limits.unique_keys = true;
    const auto strict = core::parse_json(text, limits);
    FUZZ_REQUIRE(strict ? *strict == *taken : strict.error().code == ErrorCode::Invalid);
    return 0;
}
