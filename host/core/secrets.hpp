// Values that nobody may read in a log, an error or what a server prints: while a Secrets lives,
// each occurrence of what it holds becomes "***" there. So does what is left of it in base64,
// wherever in a longer text it stood (`Basic` credentials), and as a part of a URL or of JSON.
//
// Of a secret that was cut nobody can tell later that it was one. So the host masks before it cuts
// (clipped(), printable()), and who cuts before the host sees it ends the text with "...": before
// that mark the beginning of a secret, four bytes or more, is masked as well.
//
// Owns:    its values, at most kMost; the oldest is forgotten first, adding one again makes it new.
// Threads: [any].
// Limits:  at most kMostForms other forms of a value, none of one longer than kLongestDerived. What is
//          shorter than kShortest is not masked, it would be found in every other word. Without the
//          blanks around it, it is masked too, and of several lines each from kShortestLine on:
//          programs print them one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace patchbay::core {

class Secrets {
public:
    static constexpr std::size_t kMost = 512;
    static constexpr std::size_t kShortest = 6;
    static constexpr std::size_t kShortestLine = 8;
    static constexpr std::size_t kLongestDerived = 4u << 10;
    static constexpr std::size_t kMostForms = 14;

    Secrets() = default;
    Secrets(Secrets&& other) noexcept;
    Secrets& operator=(Secrets&& other) noexcept;  // what it held before is forgotten afterwards
    ~Secrets();

    void add(std::string_view secret);
    // The value of a header and, of `Bearer abc`, what stands behind the scheme.
    void add_header(std::string_view value);
    std::size_t size() const;

private:
    void add_one(std::string_view secret);

    std::deque<std::string> values_;
};

// Another one when other values are known, so that what was masked before may be masked otherwise.
std::uint64_t known_secrets();

// `text` with every secret that is known masked; in one pass over it.
std::string masked(std::string_view text);

// `text` if it is shorter than `most_bytes`, else so much of it, masked as what was cut there: who
// handed it over may have done so to the same limit.
std::string clipped(std::string_view text, std::size_t most_bytes);

}  // namespace patchbay::core
