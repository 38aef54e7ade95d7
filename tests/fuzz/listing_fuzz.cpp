// Foreign bytes as a list that an earlier host kept: it is none, or one that is written and read again
// as what it is.
#include "catalogue/listing_text.hpp"
#include "fuzz/require.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void try_other_lists(std::string_view text, const patchbay::core::Limits& limits) {
    using namespace patchbay;
    for (const auto list : catalogue::kLists) {
        const auto items = catalogue::items_from_text(text, list, {"key", "/f"}, limits);
        if (!items) continue;
        for (const auto& each : items->texts)
            FUZZ_REQUIRE(protocol::parse_envelope(protocol::response("1", each)));
        const auto again = catalogue::items_from_text(catalogue::to_text(list, *items), list,
                                                      {"key", "/f"}, limits);
        FUZZ_REQUIRE(again && again->texts == items->texts);
        FUZZ_REQUIRE(!catalogue::drift_of(list, *items, *again));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    core::Limits limits;
    limits.schema_bytes = 4'096;
    try_other_lists(text, limits);
    const auto listing = catalogue::from_text(text, "key", limits);
    if (!listing) return 0;
    for (const auto& tool : listing->tools)
        for (const auto* members : {&tool.known, &tool.others})
            FUZZ_REQUIRE(protocol::parse_envelope(protocol::response("1", "{" + *members + "}")));
    const auto again = catalogue::from_text(catalogue::to_text(*listing, limits), "key", limits);
    FUZZ_REQUIRE(again && again->tools == listing->tools);
    FUZZ_REQUIRE(again->instructions == listing->instructions);
    FUZZ_REQUIRE(again->others == listing->others);
    return 0;
}
