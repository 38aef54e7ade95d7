// Foreign bytes as the record of a session: what is believed is written again as it was read.
#include "fuzz/require.hpp"
#include "gateway/http/session_records.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto read = gateway::parse_session_record(text);
    if (!read) return 0;
    const auto again = gateway::parse_session_record(gateway::session_record_text(*read));
    FUZZ_REQUIRE(again && *again == *read);
    return 0;
}
