// Foreign bytes as a stream of lines, as a stdio or tcp server sends it. However it is cut into
// reads, the lines are the same, none is longer than the limit, and a slice of one holds its bytes.
#include "fuzz/require.hpp"
#include "line_reader.hpp"
#include "text_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kMost = 256;

// `step`: the most bytes of one read.
std::vector<std::string> lines_of(std::string_view text, std::size_t step) {
    patchbay::transport::LineReader reader(kMost);
    std::vector<std::string> lines;
    while (!text.empty() && !reader.too_long()) {
        const auto room = reader.room();
        FUZZ_REQUIRE(room.size > 0);
        const auto part = text.substr(0, std::min({room.size, step, text.size()}));
        std::memcpy(room.data, part.data(), part.size());
        reader.filled(part.size());
        text.remove_prefix(part.size());
        for (std::string_view line; reader.next(line);) {
            FUZZ_REQUIRE(line.find('\n') == line.npos);
            auto body = reader.slice(line);
            FUZZ_REQUIRE(body.size == line.size() && body.capacity >= body.size);
            lines.emplace_back(reinterpret_cast<const char*>(body.data), body.size);
            FUZZ_REQUIRE(lines.back() == line);
            if (body.release) body.release(body.owner);
        }
    }
    return lines;
}

std::vector<std::string> shown(std::string_view text, std::size_t step) {
    patchbay::transport::TextLines reader;
    std::vector<std::string> lines;
    const auto show = [&](std::string_view line) { lines.emplace_back(line); };
    for (; !text.empty(); text.remove_prefix(std::min(step, text.size())))
        reader.take(text.substr(0, step), show);
    reader.end(show);
    return lines;
}

}  // namespace

// The first byte says how much is read at once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t step = 1 + data[0] % 64;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto lines = lines_of(text, step);
    const auto others = lines_of(text, 1);
    const auto common = std::min(lines.size(), others.size());
    FUZZ_REQUIRE(std::equal(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(common),
                            others.begin()));
    FUZZ_REQUIRE(shown(text, step) == shown(text, text.size()));
    return 0;
}
