// Foreign bytes as the head of an HTTP answer. Cut in two anywhere they must mean the same, what is
// taken must be within the limits and fit to be shown, and a body decoder must bear it.
#include "fuzz/require.hpp"
#include "net/body_decoder.hpp"
#include "net/head_parser.hpp"
#include "net/refusal.hpp"
#include "net/trouble.hpp"

#include <cstdint>

namespace {

using namespace patchbay::net;

void check(const Head& head) {
    FUZZ_REQUIRE(head.status >= 101 && head.status <= 999);
    FUZZ_REQUIRE(head.fields.size() <= HeadParser::kMostFields);
    for (const auto& [name, value] : head.fields) {
        FUZZ_REQUIRE(is_token(name));
        FUZZ_REQUIRE(value.size() <= HeadParser::kValueBytes);
        FUZZ_REQUIRE(value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos);
    }
    static_cast<void>(head.keeps());
    FUZZ_REQUIRE(retry_after(head).count() >= 0);
    FUZZ_REQUIRE(code_of_status(head.status) != PATCHBAY_OK || head.status / 100 == 2);
    try {
        const BodyDecoder decoder(head);
    } catch (const Trouble&) {
    }
}

// The head, what follows it, or why there is none.
std::string parsed(std::initializer_list<std::string_view> pieces) {
    std::string result;
    bool over = false;
    try {
        HeadParser parser;
        for (auto piece : pieces) {
            if (!over && parser.feed(piece)) {
                over = true;
                const auto head = parser.take();
                check(head);
                result = std::to_string(head.status) + head.reason;
                for (const auto& [name, value] : head.fields) result += "\n" + name + ":" + value;
                result += "\n\n";
            }
            if (over) result += piece;
        }
        if (!over) parser.finish();
    } catch (const Trouble& trouble) {
        return "E" + trouble.text;
    }
    return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto cut = size == 0 ? 0 : data[size - 1] % size;
    FUZZ_REQUIRE(parsed({text.substr(0, cut), text.substr(cut)}) == parsed({text}));
    return 0;
}
