#include "core/secrets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
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

// The secret itself, then what others make of it, each once.
std::vector<std::string> forms_of(const std::string& secret) {
    std::vector<std::string> forms{secret};
    if (secret.size() > Secrets::kLongestDerived) return forms;
    const auto add = [&](std::string form) {
        if (form.size() >= Secrets::kShortest && forms.size() <= Secrets::kMostForms &&
            std::find(forms.begin(), forms.end(), form) == forms.end())
            forms.push_back(std::move(form));
    };
    for (const auto alphabet : kAlphabets)
        for (std::size_t before = 0; before < 3; ++before) add(in_base64(secret, before, alphabet));
    for (const auto& how : kUrlEncodings)
        for (const auto digits : {"0123456789ABCDEF", "0123456789abcdef"})
            add(in_url(secret, how, digits));
    return forms;
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

    // The length of the longest secret that `text` begins with.
    std::size_t length_at(std::string_view text) const {
        if (text.size() < Secrets::kShortest ||
            first_bytes_[static_cast<unsigned char>(text.front())] == 0)
            return 0;
        const auto same = by_prefix_.find(prefix_of(text.data()));
        if (same == by_prefix_.end()) return 0;
        for (const auto& secret : same->second)
            if (text.starts_with(secret)) return secret.size();
        return 0;
    }

    std::mutex mutex;

private:
    void add_form(const std::string& secret) {
        auto& owners = owners_[secret];
        if (++owners > 1) return;
        auto& same = by_prefix_[prefix_of(secret.data())];
        // Longest first: the first that fits hides most.
        same.insert(std::find_if(same.begin(), same.end(),
                                 [&](const auto& each) { return each.size() < secret.size(); }),
                    secret);
        ++first_bytes_[static_cast<unsigned char>(secret.front())];
    }
    void remove_form(const std::string& secret) {
        const auto found = owners_.find(secret);
        if (found == owners_.end() || --found->second > 0) return;
        owners_.erase(found);
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
    if (secret.find('\n') == secret.npos) return;
    for (std::size_t at = 0; at < secret.size();) {
        const auto end = std::min(secret.find('\n', at), secret.size());
        auto line = secret.substr(at, end - at);
        if (line.ends_with('\r')) line.remove_suffix(1);
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

std::string masked(std::string_view text) {
    auto& all = registry();
    const std::scoped_lock lock(all.mutex);
    if (all.empty()) return std::string(text);
    std::string out;
    std::size_t shown = 0;   // what stands before is in `out`
    std::size_t hidden = 0;  // where the secret that was found last ends: another may begin in it
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto length = all.length_at(text.substr(at));
        if (length == 0) continue;
        if (at >= hidden) out.append(text.substr(shown, at - shown)).append("***");
        hidden = std::max(hidden, at + length);
        shown = hidden;
    }
    return out.append(text.substr(shown));
}

}  // namespace patchbay::core
