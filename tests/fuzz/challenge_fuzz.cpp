// Foreign bytes as WWW-Authenticate. What is read and written again must be read as the same.
#include "challenge.hpp"
#include "fuzz/require.hpp"

#include <cstdint>

namespace {

using patchbay::oauth::Challenge;

std::string written(const std::vector<Challenge>& challenges) {
    std::string out;
    for (const auto& challenge : challenges) {
        out += (out.empty() ? "" : ", ") + challenge.scheme + " ";
        for (const auto& [name, value] : challenge.parameters) {
            out += name + "=\"";
            for (const char letter : value) {
                if (letter == '"' || letter == '\\') out += '\\';
                out += letter;
            }
            out += "\",";
        }
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto once = patchbay::oauth::parse_challenges(text);
    std::size_t parameters = 0;
    for (const auto& challenge : once) {
        FUZZ_REQUIRE(!challenge.scheme.empty());
        parameters += challenge.parameters.size();
    }
    FUZZ_REQUIRE(once.size() + parameters <= size);
    FUZZ_REQUIRE(patchbay::oauth::parse_challenges(written(once)) == once);
    return 0;
}
