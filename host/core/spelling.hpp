// How near names are to each other: for "did you mean" (text.hpp), and for rules that a slip of the
// pen must not void.
//
// Threads: [any], no state but its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::core {

// How many steps hints may still cost, since a file may bring thousands of names to compare with
// thousands: one for each file, and one for each step of a load. What a rule means depends on none.
class Effort {
public:
    static constexpr std::size_t kOneHint = 1'000'000;   // a few milliseconds
    static constexpr std::size_t kOneLoad = 20'000'000;  // a tenth of a second

    explicit Effort(std::size_t steps) : left_(steps) {}

    // False: there are not as many left, and from now on none are.
    bool spend(std::size_t steps);
    std::size_t left() const { return left_; }

private:
    std::size_t left_;
};

// A name that others are compared with. To insert, delete or replace a letter or to swap two
// neighbours is one edit; another case of a letter is none.
// Limits: a comparison takes a step for each byte of the other name, which is why no name is longer
//         than kMostBytes here: nothing is near to a longer one.
class Spelling {
public:
    static constexpr std::size_t kMostBytes = 64;

    explicit Spelling(std::string_view name);

    // The edits between the two, when they are no more than a third of the name's length, or one.
    std::optional<std::size_t> distance(std::string_view other) const;

private:
    std::size_t size_;
    std::array<std::uint64_t, 256> places_{};  // of each letter in the name, a bit each
};

}  // namespace patchbay::core
