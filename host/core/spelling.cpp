#include "core/spelling.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace patchbay::core {

namespace {

std::size_t byte_of(char letter) {
    return static_cast<unsigned char>(lower(letter));
}

}  // namespace

bool Effort::spend(std::size_t steps) {
    const bool enough = steps <= left_;
    left_ = enough ? left_ - steps : 0;
    return enough;
}

Spelling::Spelling(std::string_view name) : size_(name.size()) {
    if (size_ > kMostBytes) return;
    for (std::size_t i = 0; i < size_; ++i) places_[byte_of(name[i])] |= std::uint64_t{1} << i;
}

// A column of the table of edits in five words of bits (H. Hyyrö, "A bit-vector algorithm for computing
// Levenshtein and Damerau edit distances", 2003): where it rises and falls against its neighbours.
std::optional<std::size_t> Spelling::distance(std::string_view other) const {
    const std::size_t reach = std::max<std::size_t>(1, size_ / 3);
    const auto gap = other.size() > size_ ? other.size() - size_ : size_ - other.size();
    if (size_ > kMostBytes || gap > reach) return {};
    if (size_ == 0) return other.size();
    const auto last = std::uint64_t{1} << (size_ - 1);
    std::uint64_t rises = ~std::uint64_t{0}, falls = 0, same = 0, before = 0;
    std::size_t edits = size_;
    for (const char letter : other) {
        const auto here = places_[byte_of(letter)];
        const auto swapped = ((~same & here) << 1) & before;
        same = (((here & rises) + rises) ^ rises) | here | falls | swapped;
        auto up = falls | ~(same | rises);
        auto down = same & rises;
        if (up & last) ++edits;
        if (down & last) --edits;
        up = up << 1 | 1;
        down <<= 1;
        rises = down | ~(same | up);
        falls = up & same;
        before = here;
    }
    return edits <= reach ? std::optional(edits) : std::nullopt;
}

}  // namespace patchbay::core
