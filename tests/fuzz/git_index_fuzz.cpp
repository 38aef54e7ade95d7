// A checkout's own index, which whoever made that wrote: what is in it is found or not, and nothing else happens.
#include "config/git_index.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view index(reinterpret_cast<const char*>(data), size);
    (void)patchbay::config::index_has(index, ".mcp.json");
    (void)patchbay::config::index_has(index, "");
    return 0;
}
