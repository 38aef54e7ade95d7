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

// All secrets of the process, each once, with the number of its owners.
class Registry {
public:
    void add(const std::string& secret) {
        auto& owners = owners_[secret];
        if (++owners > 1) return;
        auto& same = by_prefix_[prefix_of(secret.data())];
        // Longest first: the first that fits hides most.
        same.insert(std::find_if(same.begin(), same.end(),
                                 [&](const auto& each) { return each.size() < secret.size(); }),
                    secret);
        ++first_bytes_[static_cast<unsigned char>(secret.front())];
    }
    void remove(const std::string& secret) {
        const auto found = owners_.find(secret);
        if (found == owners_.end() || --found->second > 0) return;
        owners_.erase(found);
        const auto same = by_prefix_.find(prefix_of(secret.data()));
        std::erase(same->second, secret);
        if (same->second.empty()) by_prefix_.erase(same);
        --first_bytes_[static_cast<unsigned char>(secret.front())];
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
