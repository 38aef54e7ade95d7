#include "core/secrets.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::core {

namespace {

using Prefix = std::uint32_t;  // the first four bytes; kShortest is more
static_assert(Secrets::kShortest >= sizeof(Prefix));

Prefix prefix_of(const char* text) {
    Prefix prefix = 0;
    std::memcpy(&prefix, text, sizeof prefix);
    return prefix;
}

constexpr std::string_view kCutMark = "...";         // what ends a text that was cut
constexpr std::string_view kEscapes = "\"/uxnrtbf";  // what a backslash makes another letter of

constexpr std::string_view kAlphabets[] = {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"};

// What base64 always makes of `secret` when `before` bytes modulo 3 stand before it: without the
// letters that its neighbours have a part in.
std::string in_base64(std::string_view secret, std::size_t before, std::string_view alphabet) {
    std::string out;
    const std::size_t from = before * 8, to = from + secret.size() * 8;
    for (auto bit = (from + 5) / 6 * 6; bit + 6 <= to; bit += 6) {
        unsigned letter = 0;
        for (auto each = bit - from; each < bit - from + 6; ++each) {
            const auto byte = static_cast<unsigned char>(secret[each / 8]);
            letter = letter << 1 | (byte >> (7 - each % 8) & 1u);
        }
        out += alphabet[letter];
    }
    return out;
}

// One of the ways to encode for a URL: they differ in what they leave alone besides letters, digits
// and `-_.~`, and in what becomes of a space.
struct UrlEncoding {
    std::string_view kept, space;
};
constexpr UrlEncoding kUrlEncodings[] = {{"", "+"}, {"", "%20"}, {"/", "%20"}, {"!'()*", "%20"}};

std::string in_url(std::string_view secret, const UrlEncoding& how, std::string_view digits) {
    std::string out;
    for (const char c : secret) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') ||
                           std::string_view("-_.~").find(c) != std::string_view::npos ||
                           how.kept.find(c) != std::string_view::npos;
        const auto byte = static_cast<unsigned char>(c);
        if (plain)
            out += c;
        else if (c == ' ')
            out += how.space;
        else
            out.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
    return out;
}

// Reads what JSON, and programs that print as it does, make of a text: `\/`, `\"`, `\n`, `\u00e9`,
// `\xe9`. JSON within JSON has a backslash more at each depth, so a run of them counts as one; and
// since secrets are kept as this reads them, one that has backslashes of its own is found as well.
class PlainReader {
public:
    explicit PlainReader(std::string_view text) : text_(text) {}

    // The next byte. False: there is none.
    bool next(char& byte) {
        if (left_.empty()) read();
        if (left_.empty()) return false;
        byte = left_.front();
        left_.remove_prefix(1);
        return true;
    }
    // No byte of an escape is left to be read: at() is where the next one begins.
    bool between() const { return left_.empty(); }
    std::size_t at() const { return at_; }

private:
    void read() {
        if (at_ == text_.size()) return;
        auto letter = at_;
        if (text_[at_] == '\\') letter = text_.find_first_not_of('\\', at_);
        if (letter == text_.npos) return;
        const bool escaped = letter != at_;
        at_ = letter + 1;
        left_ = text_.substr(letter, 1);
        if (!escaped) return;
        constexpr std::string_view kLetters = "nrtbf", kMeanings = "\n\r\t\b\f";
        if (const auto known = kLetters.find(left_.front()); known != kLetters.npos)
            left_ = kMeanings.substr(known, 1);
        else if (left_.front() == 'x')
            read_byte();
        else if (left_.front() == 'u')
            read_code_point();
    }
    void read_byte() {
        const auto value = hex(at_, 2);
        if (!value) return;
        bytes_[0] = static_cast<char>(*value);
        left_ = {bytes_, 1};
        at_ += 2;
    }
    void read_code_point() {
        auto value = hex(at_, 4);
        if (!value) return;
        at_ += 4;
        if (*value >= 0xD800 && *value < 0xDC00) {
            const auto letter = text_.find_first_not_of('\\', at_);
            const bool pair = letter != text_.npos && letter > at_ && text_[letter] == 'u';
            const auto low = pair ? hex(letter + 1, 4) : std::nullopt;
            if (low && *low >= 0xDC00 && *low < 0xE000) {
                value = 0x10000 + ((*value - 0xD800) << 10) + (*low - 0xDC00);
                at_ = letter + 5;
            }
        }
        std::size_t size = 0;
        const auto put = [&](unsigned byte) { bytes_[size++] = static_cast<char>(byte); };
        if (*value < 0x80) {
            put(*value);
        } else {
            const int more = *value < 0x800 ? 1 : *value < 0x10000 ? 2 : 3;
            put((0xF0u << (3 - more) & 0xFF) | *value >> 6 * more);
            for (int i = more - 1; i >= 0; --i) put(0x80 | (*value >> 6 * i & 0x3F));
        }
        left_ = {bytes_, size};
    }
    std::optional<unsigned> hex(std::size_t from, std::size_t digits) const {
        unsigned value = 0;
        const auto text = text_.substr(from, digits);
        const auto* const end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, value, 16);
        if (text.size() != digits || error != std::errc() || stopped != end) return std::nullopt;
        return value;
    }

    std::string_view text_, left_;
    std::size_t at_ = 0;
    char bytes_[4] = {};
};

std::string in_plain(std::string_view text) {
    std::string out;
    PlainReader reader(text);
    for (char byte = 0; reader.next(byte);) out += byte;
    return out;
}

// The secret itself, then what others make of it, each once.
std::vector<std::string> forms_of(const std::string& secret) {
    std::vector<std::string> forms;
    const auto add = [&](std::string_view made) {
        auto form = in_plain(made);
        const auto least = forms.empty() ? sizeof(Prefix) : Secrets::kShortest;
        if (form.size() >= least && forms.size() <= Secrets::kMostForms &&
            std::find(forms.begin(), forms.end(), form) == forms.end())
            forms.push_back(std::move(form));
    };
    add(secret);
    if (secret.size() > Secrets::kLongestDerived) return forms;
    for (const auto alphabet : kAlphabets)
        for (std::size_t before = 0; before < 3; ++before) add(in_base64(secret, before, alphabet));
    for (const auto& how : kUrlEncodings)
        for (const auto digits : {"0123456789ABCDEF", "0123456789abcdef"})
            add(in_url(secret, how, digits));
    return forms;
}

// `text` goes on with the mark of what was cut, or is over if it is `cut` itself; an escape may have
// been cut in two.
bool ends_cut(std::string_view text, bool cut) {
    if (text.starts_with('\\')) {
        text.remove_prefix(std::min(text.find_first_not_of('\\'), text.size()));
        if (text.starts_with('u') || text.starts_with('x'))
            text.remove_prefix(
                std::min(text.substr(0, 4).find('.'), std::min(text.size(), std::size_t{4})));
    }
    return text.empty() ? cut : text.starts_with(kCutMark);
}

std::string_view without_blanks(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n\v\f";
    const auto first = text.find_first_not_of(kBlanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// How much of `text` is `secret`, or its beginning where the text was cut; 0: nothing.
std::size_t length_of(std::string_view secret, std::string_view text, bool cut) {
    const auto differs = std::mismatch(secret.begin(), secret.end(), text.begin(), text.end());
    const auto same = static_cast<std::size_t>(differs.first - secret.begin());
    if (same == secret.size()) return same;
    // A mark of a cut may look like the secret to its last dot.
    const auto from = same - std::min(same, kCutMark.size());
    PlainReader reader(text.substr(from));
    std::size_t begun = 0;
    for (auto i = from; i < secret.size(); ++i) {
        const auto at = from + reader.at();
        if (i >= sizeof(Prefix) && reader.between() && ends_cut(text.substr(at), cut)) begun = at;
        char byte = 0;
        if (!reader.next(byte) || byte != secret[i]) return begun;
    }
    return from + reader.at();
}

// All secrets of the process, each form once, with the number of its owners.
class Registry {
public:
    void add(const std::string& secret) {
        for (const auto& form : forms_of(secret)) add_form(form);
    }
    void remove(const std::string& secret) {
        for (const auto& form : forms_of(secret)) remove_form(form);
    }
    bool empty() const { return owners_.empty(); }

    // How much of `text`, from `at` on, is a secret: the longest that begins there; 0: none.
    std::size_t length_at(std::string_view text, std::size_t at, bool cut) const {
        const auto here = text.substr(at);
        if (here.front() == '\\') {
            // Not each backslash of a run anew, and none that only stands before a secret.
            if (at > 0 && text[at - 1] == '\\') return 0;
            const auto letter = here.find_first_not_of('\\');
            if (letter == here.npos || kEscapes.find(here[letter]) == kEscapes.npos) return 0;
        } else if (first_bytes_[static_cast<unsigned char>(here.front())] == 0) {
            return 0;
        }
        char first[sizeof(Prefix)];
        PlainReader reader(here);
        for (auto& byte : first)
            if (!reader.next(byte)) return 0;
        const auto same = by_prefix_.find(prefix_of(first));
        if (same == by_prefix_.end()) return 0;
        std::size_t longest = 0;
        for (const auto& secret : same->second)
            longest = std::max(longest, length_of(secret, here, cut));
        return longest;
    }

    std::mutex mutex;
    std::atomic<std::uint64_t> changes{0};

private:
    void add_form(const std::string& secret) {
        auto& owners = owners_[secret];
        if (++owners > 1) return;
        ++changes;
        by_prefix_[prefix_of(secret.data())].push_back(secret);
        ++first_bytes_[static_cast<unsigned char>(secret.front())];
    }
    void remove_form(const std::string& secret) {
        const auto found = owners_.find(secret);
        if (found == owners_.end() || --found->second > 0) return;
        owners_.erase(found);
        ++changes;
        const auto same = by_prefix_.find(prefix_of(secret.data()));
        std::erase(same->second, secret);
        if (same->second.empty()) by_prefix_.erase(same);
        --first_bytes_[static_cast<unsigned char>(secret.front())];
    }

    std::unordered_map<std::string, std::size_t> owners_;
    std::unordered_map<Prefix, std::vector<std::string>> by_prefix_;
    std::array<std::size_t, 256> first_bytes_{};
};

// Never destroyed: others may be, after the end of main().
Registry& registry() {
    static auto& only = *new Registry;
    return only;
}

}  // namespace

std::uint64_t known_secrets() {
    return registry().changes;
}

Secrets::Secrets(Secrets&& other) noexcept {
    const std::scoped_lock lock(registry().mutex);
    values_.swap(other.values_);
}

Secrets& Secrets::operator=(Secrets&& other) noexcept {
    if (this == &other) return *this;
    const Secrets before = std::move(*this);  // forgets when the new ones are in place
    const std::scoped_lock lock(registry().mutex);
    values_.swap(other.values_);
    return *this;
}

Secrets::~Secrets() {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    for (const auto& value : values_) all.remove(value);
}

void Secrets::add(std::string_view secret) {
    add_one(secret);
    // What a program prints of it has no blanks at the ends of its lines any more.
    const auto text = without_blanks(secret);
    if (text.find('\n') == text.npos) return add_one(text);
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = without_blanks(text.substr(at, end - at));
        // `-----BEGIN ...` is no secret, and in every other log.
        if (line.size() >= kShortestLine && !line.starts_with("-----")) add_one(line);
        at = end + 1;
    }
}

void Secrets::add_header(std::string_view value) {
    add(value);
    const auto space = value.find(' ');
    if (space != value.npos) add(value.substr(space + 1));
}

void Secrets::add_one(std::string_view secret) {
    if (secret.size() < kShortest) return;
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    const auto known = std::find(values_.begin(), values_.end(), secret);
    if (known != values_.end()) {
        std::rotate(known, known + 1, values_.end());
        return;
    }
    values_.emplace_back(secret);
    all.add(values_.back());
    if (values_.size() <= kMost) return;
    all.remove(values_.front());
    values_.pop_front();
}

std::size_t Secrets::size() const {
    const std::scoped_lock lock(registry().mutex);
    return values_.size();
}

namespace {

std::string masked(std::string_view text, bool cut) {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    if (all.empty()) return std::string(text);
    std::string out;
    std::size_t shown = 0;   // what stands before is in `out`
    std::size_t hidden = 0;  // where the secret that was found last ends: another may begin in it
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto length = all.length_at(text, at, cut);
        if (length == 0) continue;
        if (at >= hidden) out.append(text.substr(shown, at - shown)).append("***");
        hidden = std::max(hidden, at + length);
        shown = hidden;
    }
    return out.append(text.substr(shown));
}

}  // namespace

std::string masked(std::string_view text) {
    return masked(text, false);
}

std::string clipped(std::string_view text, std::size_t most_bytes) {
    return text.size() < most_bytes ? std::string(text) : masked(text.substr(0, most_bytes), true);
}

}  // namespace patchbay::core
