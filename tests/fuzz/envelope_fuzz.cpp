// Foreign bytes as a JSON-RPC message. What is accepted must be JSON to another parser too, and
// every view must lie in the message.
#include "fuzz/require.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>

namespace {

bool is_json(std::string_view text) {
    boost::json::parse_options options;
    options.max_depth = 256;
    boost::json::error_code failed;
    boost::json::parse({text.data(), text.size()}, failed, {}, options);
    return !failed || failed == boost::json::error::exponent_overflow;  // a limit of doubles
}

void require_inside(std::string_view part, std::string_view whole) {
    if (part.empty()) return;
    FUZZ_REQUIRE(part.data() >= whole.data());
    FUZZ_REQUIRE(part.data() + part.size() <= whole.data() + whole.size());
    FUZZ_REQUIRE(is_json(part));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // Longer ones are read in another way.
    const auto longer = std::string(text) + std::string(300, ' ');
    FUZZ_REQUIRE(parse_envelope(longer).has_value() == parse_envelope(text).has_value());
    if (const auto envelope = parse_envelope(text)) {
        FUZZ_REQUIRE(is_json(text));
        for (const auto part :
             {envelope->id, envelope->params, envelope->result, envelope->error}) {
            require_inside(part, text);
        }
        if (!envelope->error.empty()) (void)parse_rpc_error(envelope->error);
        const auto both = parse_with_params(text);
        FUZZ_REQUIRE(both.has_value());
        if (!envelope->params.empty()) {
            const auto params = split_params(envelope->params);
            FUZZ_REQUIRE(params.has_value() == both->params.has_value());
            FUZZ_REQUIRE(!params || (params->members == both->params->members &&
                                     params->meta == both->params->meta));
        }
    }
    if (const auto params = split_params(text)) {
        FUZZ_REQUIRE(is_json(text));
        FUZZ_REQUIRE(is_json("{" + params->members + "}"));
        FUZZ_REQUIRE(is_json("{" + params->meta + "}"));
        each_of(params->members, [&](std::string_view, std::string_view value) {
            require_inside(value, params->members);
            FUZZ_REQUIRE(!value.empty());
            (void)text_of_raw(value);
            return true;
        });
    }
    return 0;
}
