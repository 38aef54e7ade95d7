// Foreign bytes as the body of an HTTP answer: C chunked, G gzip, L by the length that follows,
// else to the end. Cut in two anywhere, they must mean the same, and never more than the limit.
#include "fuzz/require.hpp"
#include "net/body_decoder.hpp"
#include "net/head_parser.hpp"
#include "net/trouble.hpp"

#include <cstdint>

namespace {

using namespace patchbay::net;

constexpr std::size_t kMost = 1u << 16;

// The body and how it ended.
std::string decoded(const Head& head, std::initializer_list<std::string_view> pieces) {
    std::string body;
    try {
        BodyDecoder decoder(head);
        for (const auto piece : pieces) decoder.feed(piece, body, kMost);
        decoder.finish();
        FUZZ_REQUIRE(decoder.over());
    } catch (const Trouble& trouble) {
        return "E" + std::to_string(trouble.code);
    }
    FUZZ_REQUIRE(body.size() <= kMost);
    return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    Head head{200, "OK", {}};
    const char kind = text.front();
    text.remove_prefix(1);
    if (kind == 'C') head.fields.emplace_back("Transfer-Encoding", "chunked");
    if (kind == 'G') head.fields.emplace_back("Content-Encoding", "gzip");
    if (kind == 'L') {
        head.fields.emplace_back("Content-Length", text.substr(0, 10));
        text.remove_prefix(std::min<std::size_t>(10, text.size()));
    }
    const auto cut = text.empty() ? 0 : data[size - 1] % text.size();
    FUZZ_REQUIRE(decoded(head, {text.substr(0, cut), text.substr(cut)}) == decoded(head, {text}));
    return 0;
}
