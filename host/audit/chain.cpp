#include "audit/chain.hpp"

#include "core/digest.hpp"

#include <charconv>

namespace patchbay::audit {

namespace {

constexpr std::string_view kNumber = "{\"n\":", kPrevious = ",\"prev\":\"", kMac = "\",\"mac\":\"",
                           kEnd = "\"}";

bool is_hash(std::string_view text) {
    return text.size() == core::kSha256Digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

// By the bytes of our own lines; what somebody else wrote in another form is no record.
std::optional<Link> link_of(std::string_view line) {
    constexpr auto kTail =
        kPrevious.size() + core::kSha256Digits + kMac.size() + core::kSha256Digits + kEnd.size();
    if (!line.starts_with(kNumber) || line.size() < kNumber.size() + kTail) return {};
    Link link;
    const char* const digits = line.data() + kNumber.size();
    const auto [end, failed] = std::from_chars(digits, line.data() + line.size(), link.number);
    if (failed != std::errc() || link.number == 0 || *end != ',') return {};
    auto tail = line.substr(line.size() - kTail);
    if (!tail.starts_with(kPrevious) || !tail.ends_with(kEnd)) return {};
    link.previous = tail.substr(kPrevious.size(), core::kSha256Digits);
    tail.remove_prefix(kPrevious.size() + core::kSha256Digits);
    if (!tail.starts_with(kMac)) return {};
    link.mac = tail.substr(kMac.size(), core::kSha256Digits);
    if (!is_hash(link.previous) || !is_hash(link.mac)) return {};
    // With the quote that ends `prev`.
    link.signed_text =
        line.substr(0, line.size() - kEnd.size() - core::kSha256Digits - kMac.size() + 1);
    return link;
}

void Chain::append(std::string_view members, std::string& text) {
    const auto begun = text.size();
    text.append(kNumber).append(std::to_string(++number_)).append(",").append(members);
    text.append(kPrevious).append(last_).append("\"");
    last_ = mac_of(std::string_view(text).substr(begun));
    text.append(kMac.substr(1)).append(last_).append(kEnd).append("\n");
}

std::string Chain::take(std::string_view line) {
    const auto link = link_of(line);
    if (!link) return "is no record";
    if (!is_ours(*link)) return "was changed, or written by somebody who does not have the key";
    if (link->number != number_ + 1)
        return "is record " + std::to_string(link->number) + " where " +
               std::to_string(number_ + 1) + " was expected";
    if (link->previous != last_)
        return "does not follow record " + std::to_string(number_) + " as that stands";
    resume(*link);
    return {};
}

void Chain::resume(const Link& link) {
    number_ = link.number;
    last_ = link.mac;
}

bool Chain::is_ours(const Link& link) const {
    return core::same_secret(mac_of(link.signed_text), link.mac);
}

std::string Chain::mac_of(std::string_view text) const {
    return core::hmac_sha256_hex(key_, text);
}

}  // namespace patchbay::audit
