// `server NUL tool`: every pair must get a public name that providers accept and that leads back.
#include "protocol/qualified_name.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto at = text.find('\0');
    const std::string server = text.substr(0, at),
                      tool = at == std::string::npos ? "" : text.substr(at + 1);
    NameTable table;
    table.add(server, tool);
    const auto name = table.public_name(server, tool);
    if (name.empty() || name.size() > kPublicNameBytes) std::abort();
    if (name.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
        std::string::npos)
        std::abort();
    if (table.find(name) != std::make_pair(server, tool)) std::abort();
    (void)matches(text, name);
    return 0;
}
