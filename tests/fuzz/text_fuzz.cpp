// Foreign text on its way to a terminal: nothing of it can move the cursor, and JSON still says the
// same afterwards. Both judges of UTF-8 agree.
#include "core/text.hpp"
#include "fuzz/require.hpp"
#include "utf8.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {

using namespace patchbay;

bool is_quiet(std::string_view text, bool lines) {
    return core::valid_utf8(text) && std::none_of(text.begin(), text.end(), [&](char c) {
               const auto byte = static_cast<unsigned char>(c);
               return (byte < 0x20 && !(lines && (c == '\n' || c == '\t'))) || byte == 0x7f;
           });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace json = boost::json;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    FUZZ_REQUIRE(core::valid_utf8(text) == ws::is_utf8(text));
    for (const std::size_t most : {std::size_t{7}, std::size_t{200}, size * 3 + 3}) {
        const auto shown = core::printable(text, most);
        FUZZ_REQUIRE(is_quiet(shown, false) && core::printable(shown, most + 3) == shown);
        FUZZ_REQUIRE(is_quiet(core::printable(text, most, true), true));
        const auto prefix = core::utf8_prefix(text, most);
        FUZZ_REQUIRE(prefix.size() <= most && text.substr(0, prefix.size()) == prefix);
        FUZZ_REQUIRE(!core::valid_utf8(text) || core::valid_utf8(prefix));
    }
    json::error_code failed;
    const auto value = json::parse({text.data(), text.size()}, failed);
    if (failed) return 0;
    const auto shown = core::printable_json(text);
    FUZZ_REQUIRE(is_quiet(shown, true) || text.find('\r') != text.npos);
    const auto again = json::parse(shown, failed);
    FUZZ_REQUIRE(!failed && again == value);
    return 0;
}
