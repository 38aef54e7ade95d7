// Foreign bytes as what a command of the bearer method prints: headers, or none.
#include "fuzz/require.hpp"
#include "header_command.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string printed(reinterpret_cast<const char*>(data), size);
    const auto headers = patchbay::bearer::HeaderCommand::headers_in(printed);
    std::size_t bytes = 0;
    for (const auto& [name, value] : headers) bytes += name.size() + value.size();
    FUZZ_REQUIRE(bytes <= size);
    if (!headers.empty()) {
        FUZZ_REQUIRE(printed.find_first_not_of(" \t\r\n") == printed.find('{'));
        FUZZ_REQUIRE(printed.find_last_not_of(" \t\r\n") == printed.rfind('}'));
    }
    return 0;
}
