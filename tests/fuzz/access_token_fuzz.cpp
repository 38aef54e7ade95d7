// Foreign bytes as a bearer token, and behind the first empty line as the keys of whoever signed it, or
// as the record of tokens that were given out.
#include "fuzz/require.hpp"
#include "gateway/access/access_token.hpp"
#include "gateway/access/bearer.hpp"
#include "gateway/access/listening.hpp"
#include "gateway/access/token.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::gateway;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto end = std::min(text.find("\n\n"), text.size());
    const auto first = text.substr(0, end), second = text.substr(std::min(end + 2, text.size()));

    const patchbay::http::Request request{
        "POST", std::string(second.substr(0, 200)), {{"authorization", std::string(first)}}, {}};
    const auto brought = bearer_of(request);
    if (const auto* token = std::get_if<std::string_view>(&brought))
        FUZZ_REQUIRE(!token->empty() && token->find_first_of(" \t\r\n\"") == token->npos);

    const auto keys = KeySet::parse(second);
    if (keys) FUZZ_REQUIRE(keys->size() <= KeySet::kMostKeys);
    const auto parsed = parse_access_token(first);
    if (const auto* token = std::get_if<AccessToken>(&parsed)) {
        FUZZ_REQUIRE(PublicKey::known(token->algorithm));
        if (keys) static_cast<void>(token->signed_by(*keys));
        const auto now = patchbay::core::Calendar::time_point(std::chrono::seconds(1'800'000'000));
        const auto subject = subject_of(*token, {"https://mcp.example/mcp", {"mcp"}}, now);
        if (const auto* known = std::get_if<Subject>(&subject))
            FUZZ_REQUIRE(!known->name.empty() && known->name.size() <= kSubjectBytes &&
                         known->until > now);
    }

    // What is read is written so that it is read again.
    if (const auto tokens = Tokens::parse(second)) {
        const auto again = Tokens::parse(tokens->text());
        FUZZ_REQUIRE(again && again->all().size() == tokens->all().size());
    }
    if (const auto url = parse_web_url(first))
        FUZZ_REQUIRE(parse_web_url(url->origin() + url->path)->origin() == url->origin());
    return 0;
}
