// Small words about text that every room needs: nearest names for "did you mean", and making
// foreign text safe to show.
//
// Threads: [any], no state.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::core {

class Effort;

// The candidates within a third of `wanted`'s length in edits (spelling.hpp), best first, at most
// `most`; of names like mcp__git__log that begin with the same parts, of the length of the others. As many of them are looked at as `effort` lasts.
std::vector<std::string> nearest(std::string_view wanted,
                                 const std::vector<std::string>& candidates, Effort& effort,
                                 std::size_t most = 3);
// `; did you mean "a" or "b"?`, or nothing when no candidate is near.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates,
                         Effort& effort);

// The same with an effort of their own: for names that no file multiplies.
std::vector<std::string> nearest(std::string_view wanted,
                                 const std::vector<std::string>& candidates, std::size_t most = 3);
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates);
// What follows a hint: `; known: a`, and behind one that asks `? Known: a`.
std::string behind_hint(std::string hint, std::string_view more);

// Foreign text for people: control characters (except newline and tab when `lines`), invalid UTF-8,
// marks that turn the direction of text and letters that nobody sees are replaced by U+FFFD, a line break by U+21B5,
// but for joiners between letters or emoji that they join; cut at a code point to `most_bytes`. Where anything
// is replaced or cut, secrets (secrets.hpp) are masked: afterwards nobody could tell them.
std::string printable(std::string_view text, std::size_t most_bytes, bool lines = false);

// Without the letters that nobody sees, wherever they stand.
std::string seen(std::string_view text);

// The same JSON text for a terminal: what printable() replaces becomes \uXXXX, so that it still says
// the same.
std::string printable_json(std::string_view text);

// The longest prefix of at most `most_bytes` that does not cut a code point.
std::string_view utf8_prefix(std::string_view text, std::size_t most_bytes);

bool valid_utf8(std::string_view text);
// The bytes before the first that is not UTF-8; all when there is none.
std::size_t valid_utf8_bytes(std::string_view text);

// `1500 ms`, `20 s`.
std::string duration(std::chrono::milliseconds time);

// ASCII letters alone, whatever the locale: names of headers, schemes and variables.
// Of ASCII alone, whatever the locale.
inline bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}
bool is_hex(char letter);
char lower(char letter);
std::string lower(std::string_view text);

// Of what a header's name may consist, and at least one: RFC 9110 section 5.6.2.
bool is_token(std::string_view text);

// Two lower-case digits a byte.
std::string hex(std::span<const unsigned char> bytes);

// Without blanks and tabs at its ends.
std::string_view trimmed(std::string_view text);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace patchbay::core
