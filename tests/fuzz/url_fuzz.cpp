// The first line is the URL of a server, the second a reference in its answer. What is taken is
// written and read as the same, and its request target and Host can break no line.
#include "fuzz/require.hpp"
#include "net/url.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {

using patchbay::net::Url;

void check(const Url& url) {
    const auto visible = [](char c) { return c > ' ' && c < '\x7f'; };
    const auto authority = url.authority();
    FUZZ_REQUIRE(!url.host.empty() && url.port != 0);
    FUZZ_REQUIRE(url.target.front() == '/');
    FUZZ_REQUIRE(std::all_of(url.target.begin(), url.target.end(), visible));
    FUZZ_REQUIRE(std::all_of(authority.begin(), authority.end(), visible));
    FUZZ_REQUIRE(url.target.find('#') == url.target.npos);
    FUZZ_REQUIRE(url.without_query().find('?') == std::string::npos);
    const auto again = Url::parse(url.text());
    FUZZ_REQUIRE(again.text() == url.text() && again.same_origin(url));
    FUZZ_REQUIRE(url.leads_home(again));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto line = std::min(text.find('\n'), text.size());
    try {
        const auto url = Url::parse(text.substr(0, line));
        check(url);
        check(url.resolve(text.substr(std::min(line + 1, text.size()))));
    } catch (const patchbay::sdk::Failure&) {
    }
    return 0;
}
