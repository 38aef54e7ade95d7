// Lines of `server<TAB>tool`: every pair gets a name that every provider accepts, no two the same,
// and each leads back to its pair.
#include "fuzz/require.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

namespace {

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

// Config lets no other id through.
bool is_id(const std::string& text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), is_plain) &&
           text.find("__") == text.npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    std::set<std::pair<std::string, std::string>> pairs;
    NameTable table;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto tab = std::min(line.find('\t'), line.size());
        const std::string server(line.substr(0, tab)),
            tool(line.substr(std::min(tab + 1, line.size())));
        if (!is_id(server)) continue;
        pairs.emplace(server, tool);
        table.add(server, tool);
    }
    const auto names = table.names();
    FUZZ_REQUIRE(names.size() == pairs.size());
    FUZZ_REQUIRE(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    for (const auto& [server, tool] : pairs) {
        const auto name = table.public_name(server, tool);
        FUZZ_REQUIRE(!name.empty() && name.size() <= 64 &&
                     std::all_of(name.begin(), name.end(), is_plain));
        FUZZ_REQUIRE(table.find(name) == std::make_pair(server, tool));
        FUZZ_REQUIRE(servers_for(name, {server}).size() == 1);
        FUZZ_REQUIRE(matches(name, name) && matches("mcp__*", name));
    }
    return 0;
}
