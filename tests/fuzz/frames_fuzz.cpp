// Foreign bytes as the frames of a WebSocket server. Cut in two anywhere, and one by one, they must
// mean the same; no message is larger than the limit, and each is UTF-8.
#include "frame_decoder.hpp"
#include "fuzz/require.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <cstdint>

namespace {

using namespace patchbay::ws;

constexpr std::size_t kMost = 300;

// All that the pieces, `most` bytes of each at a time, mean and how they end.
std::string meaning(std::initializer_list<std::string_view> pieces, std::size_t most = SIZE_MAX) {
    FrameDecoder decoder(kMost);
    std::string told;
    auto frames = SIZE_MAX;
    try {
        for (auto piece : pieces) {
            while (!piece.empty()) {
                auto part = piece.substr(0, most);
                piece.remove_prefix(part.size());
                while (const auto received = decoder.next(part, frames)) {
                    FUZZ_REQUIRE(is_utf8(received->payload) || received->kind == Opcode::Ping);
                    FUZZ_REQUIRE(received->payload.size() <=
                                 (received->kind == Opcode::Text ? kMost : kControlBytes));
                    told += static_cast<char>(received->kind);
                    told += std::to_string(received->close_code) + received->payload + '\n';
                }
                FUZZ_REQUIRE(part.empty());
            }
        }
    } catch (const FrameFault& fault) {
        FUZZ_REQUIRE(fault.code != PATCHBAY_OK && !fault.text.empty());
        return told + std::to_string(fault.close_code) + fault.text;
    }
    FUZZ_REQUIRE(decoder.unfinished() || decoder.open_frame() == 0);
    return told + std::to_string(decoder.open_frame()) + (decoder.unfinished() ? "..." : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto whole = meaning({bytes});
    const auto cut = data[size - 1] % size;
    FUZZ_REQUIRE(meaning({bytes.substr(0, cut), bytes.substr(cut)}) == whole);
    FUZZ_REQUIRE(meaning({bytes}, 1) == whole);
    return 0;
}
