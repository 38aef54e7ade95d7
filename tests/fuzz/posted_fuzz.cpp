// Foreign bytes as what a client posts: headers, a line each, an empty line, and the body.
#include "fuzz/require.hpp"
#include "gateway/http/posted.hpp"
#include "gateway/http/session_id.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    http::Request request{"POST", "/mcp", {}, {}};
    while (!text.empty() && text.front() != '\n') {
        const auto line = text.substr(0, text.find('\n'));
        const auto colon = line.find(": ");
        if (colon != line.npos)
            request.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    request.body = text;
    static const auto tool = [] {
        protocol::Tool made;
        made.name = "a";
        made.known = R"("inputSchema":{"type":"object","properties":{)"
                     R"("n":{"type":"integer","x-mcp-header":"N"}}})";
        return made;
    }();
    const auto read = gateway::read_posted(request, 64, [](const auto&) { return &tool; });
    if (const auto* refused = std::get_if<gateway::HttpRefusal>(&read))
        FUZZ_REQUIRE(refused->status >= 400 && refused->status < 500 && !refused->message.empty());
    if (const auto* posted = std::get_if<gateway::Posted>(&read);
        posted && posted->modern && posted->kind == gateway::Posted::Kind::Request)
        FUZZ_REQUIRE(request.count("mcp-protocol-version") == 1);
    const gateway::Door door(*http::parse_address("127.0.0.1:80"));
    if (!door.refuses(request))
        FUZZ_REQUIRE(request.header("host") && request.count("origin") <= 1);
    if (const auto* id = request.header("mcp-session-id"))
        FUZZ_REQUIRE(!gateway::SessionIds("key").open(*id, ""));
    return 0;
}
