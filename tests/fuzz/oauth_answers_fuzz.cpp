// A whole sign-in against servers that answer with foreign bytes, in parts cut by lines of "--": the
// protected resource's metadata, the authorization server's, the registration's answer, the token
// endpoint's, the redirect's query, WWW-Authenticate. It ends once; a token that it brings fits in a
// header; no answer makes it send a browser or a request where no endpoint may be.
#include "fuzz/require.hpp"
#include "trouble.hpp"
#include "unit/auth_oauth/fake_host.hpp"
#include "web_url.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using namespace patchbay::oauth;
using namespace patchbay::oauth::test;

constexpr std::size_t kMostRequests = 40;

// Not by the product's own word: TLS, or a host that is this machine.
void require_endpoint(std::string url) {
    for (char& letter : url)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    const char* const known[] = {"https://", "http://localhost", "http://127.", "http://[::1]"};
    FUZZ_REQUIRE(std::any_of(std::begin(known), std::end(known),
                             [&](const char* begin) { return url.rfind(begin, 0) == 0; }));
    check_endpoint(url, "an endpoint");
}

Answer json_answer(std::uint32_t status, const std::string& body) {
    return {body.empty() ? 404u : status, body, {}, PATCHBAY_OK};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    std::array<std::string, 6> parts;
    for (auto& part : parts) {
        const auto cut = text.find("\n--\n");
        part = text.substr(0, cut);
        text.remove_prefix(cut == text.npos ? text.size() : cut + 4);
    }
    for (auto& part : parts)
        if (part == "usual") part.clear();

    FakeHost host;
    serve_usual(host);
    const auto serve = [&](const char* url, std::uint32_t status, const std::string& body) {
        if (!body.empty())
            host.pages[url] = [&body, status](const Asked&) { return json_answer(status, body); };
    };
    serve("https://mcp.example/.well-known/oauth-protected-resource/mcp", 200, parts[0]);
    serve("https://as.example/.well-known/oauth-authorization-server", 200, parts[1]);
    serve("https://as.example/register", 201, parts[2]);
    serve("https://as.example/token", parts[3].find("\"error\"") == std::string::npos ? 200 : 400,
          parts[3]);
    if (!parts[4].empty()) {
        host.person = [&](const Form& query) {
            return parts[4] + "&state=" + form_encode(only(query, "state").value_or(""));
        };
    }
    Method method(host);
    const auto outcome = method.acquire(PATCHBAY_AUTH_MAY_ASK, parts[5]);
    FUZZ_REQUIRE(outcome.ends == 1);
    FUZZ_REQUIRE(host.asked.size() <= kMostRequests);
    for (const auto& asked : host.asked) require_endpoint(asked.url);
    for (const auto& shown : host.browsed) require_endpoint(shown);
    if (outcome.status == PATCHBAY_OK) {
        const auto visible = [](char c) { return c >= ' ' && c < '\x7f'; };
        FUZZ_REQUIRE(!outcome.authorization.empty());
        FUZZ_REQUIRE(
            std::all_of(outcome.authorization.begin(), outcome.authorization.end(), visible));
    } else {
        FUZZ_REQUIRE(!outcome.error.empty());
    }
    return 0;
}
