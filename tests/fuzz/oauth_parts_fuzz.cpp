// Foreign bytes as a stored login, a URL that a server names, and base64url: what is read and
// written again is read as the same, and an endpoint that is let through is fit for a request line.
#include "encoding.hpp"
#include "fuzz/require.hpp"
#include "record.hpp"
#include "trouble.hpp"
#include "web_url.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {

using namespace patchbay::oauth;

void read_record(std::string_view text) {
    const auto record = Record::parse(text);
    if (!record) return;
    const auto again = Record::parse(record->json());
    FUZZ_REQUIRE(again && again->json() == record->json());
    FUZZ_REQUIRE(record->expires_at >= 0 && record->obtained_at >= 0);
    for (const std::int64_t now : {std::int64_t{0}, record->expires_at, std::int64_t{1} << 40}) {
        (void)record->is_new(now);
        FUZZ_REQUIRE(!record->ended(now) || record->ends_soon(now));
    }
    FUZZ_REQUIRE(record->covers(record->scope));
}

void read_url(std::string_view text) {
    try {
        const auto url = WebUrl::parse(text, "the fuzzer's URL");
        const auto visible = [](char c) { return c > ' ' && c < '\x7f'; };
        const auto written = url.text();
        FUZZ_REQUIRE(std::all_of(written.begin(), written.end(), visible));
        const auto again = WebUrl::parse(written, "its text");
        FUZZ_REQUIRE(again.text() == written && again.origin() == url.origin());
        FUZZ_REQUIRE(within(url, url) && again.loopback() == url.loopback());
        check_endpoint(text, "the fuzzer's URL");
        FUZZ_REQUIRE(url.scheme == "https" || url.loopback());
    } catch (const Trouble& trouble) {
        FUZZ_REQUIRE(std::string_view(trouble.what()).size() < 1000);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read_record(text);
    read_url(text);
    FUZZ_REQUIRE(base64url_decoded(base64url(text)) == std::string(text));
    if (const auto bytes = base64url_decoded(text)) FUZZ_REQUIRE(bytes->size() <= size);
    FUZZ_REQUIRE(printable(text).size() <= 210);
    return 0;
}
