// A line with the id of a server, one with its name as it is written, then lines that forbid: none
// means more patterns than a few, each denies at least what it says, and no less where a mark follows.
#include "config/ids.hpp"
#include "fuzz/require.hpp"
#include "policy/policy.hpp"
#include "policy/readings.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace patchbay;

std::string_view next_line(std::string_view& text) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

bool forbids(const policy::Policy& policy, std::string_view server, std::string_view tool) {
    const auto name = protocol::public_name(server, tool);
    return policy.judge({core::Trust::Approves, server, tool, name}).decision ==
           policy::Decision::Deny;
}

std::size_t bytes_of(const policy::Forbidden& meant) {
    std::size_t bytes = 0;
    for (const auto& pattern : meant.patterns) bytes += pattern.size();
    for (const auto& doubt : meant.doubts) bytes += doubt.name.size();
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    config::Server server;
    server.id = next_line(text);
    server.written = next_line(text);
    const std::vector<config::Server> servers{server};
    const policy::Readings readings(servers);
    while (!text.empty()) {
        const auto line = next_line(text);
        // Each `__` and each further `mcp__` in it may add a few.
        const auto most = 64 * (line.size() + server.id.size() + 16) * (2 + line.size() / 6);
        FUZZ_REQUIRE(bytes_of(readings.of_deny(line)) <= most);
        FUZZ_REQUIRE(bytes_of(policy::forbidden_by(server, line)) <= 4 * most);
        static_cast<void>(readings.of_allow(line));
        if (!config::valid_id(server.id) || line.empty() || line.find_first_of(" \t*") != line.npos)
            continue;
        for (const auto* mark : {"", "?", ".*", "\u200b"}) {
            const auto deny = "mcp__" + server.id + "__" + std::string(line) + mark;
            const policy::Policy by_deny({{}, {deny}}, servers);
            FUZZ_REQUIRE(forbids(by_deny, server.id, line));
            auto own = server;
            own.disabled_tools = {std::string(line) + mark};
            FUZZ_REQUIRE(forbids(policy::Policy({}, {own}), server.id, line));
        }
    }
    return 0;
}
