// Records of what somebody approved, as they stand on the disk: what is read can be written, and is read again as it was.
#include "fuzz/require.hpp"
#include "pins/record.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::pins;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto head = from_text(text, Texts::LeftOut);
    const auto whole = from_text(text, Texts::Read);
    FUZZ_REQUIRE(head.has_value() == whole.has_value());
    if (!whole) return 0;
    FUZZ_REQUIRE(head->pins.size() == whole->pins.size());
    const auto again = from_text(to_text(*whole), Texts::Read);
    FUZZ_REQUIRE(again.has_value());
    FUZZ_REQUIRE(*again == *whole);
    return 0;
}
