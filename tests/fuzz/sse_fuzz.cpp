// Foreign bytes as server-sent events. Cut in two anywhere, or taken one by one, they must mean the
// same as in one piece.
#include "fuzz/require.hpp"
#include "net/sse_parser.hpp"

#include <cstdint>
#include <vector>

namespace {

struct Outcome {
    bool fits;
    std::vector<std::string> events;
    std::string last_id;
    long retry_ms;
    bool operator==(const Outcome&) const = default;
};

Outcome parsed(std::initializer_list<std::string_view> pieces) {
    constexpr std::size_t most = 4096;
    patchbay::net::SseParser parser(most);
    Outcome outcome{true, {}, {}, 0};
    for (const auto piece : pieces) {
        outcome.fits = outcome.fits && parser.feed(piece, [&](auto&& event) {
            FUZZ_REQUIRE(event.data.size() <= most);
            outcome.events.push_back(event.type + "|" + event.data);
        });
    }
    outcome.last_id = parser.last_id();
    outcome.retry_ms = parser.retry_ms();
    return outcome;
}

Outcome one_by_one(std::string_view text) {
    patchbay::net::SseParser parser(4096);
    Outcome outcome{true, {}, {}, 0};
    bool went_on = true;
    while (outcome.fits && (went_on || !text.empty())) {
        went_on = false;
        outcome.fits = parser.feed_some(text, [&](auto&& event) {
            outcome.events.push_back(event.type + "|" + event.data);
            went_on = true;
            return false;
        });
    }
    outcome.last_id = parser.last_id();
    outcome.retry_ms = parser.retry_ms();
    return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto whole = parsed({text});
    const auto cut = size == 0 ? 0 : data[0] % size;
    FUZZ_REQUIRE(parsed({text.substr(0, cut), text.substr(cut)}) == whole);
    FUZZ_REQUIRE(one_by_one(text) == whole);
    return 0;
}
