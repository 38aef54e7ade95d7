#include "net/sse_parser.hpp"

#include "net/header_list.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace patchbay::net {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::size_t kFieldBytes = std::string_view("data: ").size();
constexpr long kMostRetryMs = 3'600'000;

}  // namespace

void SseParser::restart() {
    pending_.clear();
    type_.clear();
    data_.clear();
    id_ = last_id_;
    has_data_ = has_id_ = after_cr_ = false;
    bom_ = 0;
}

bool SseParser::feed(std::string_view bytes, const Handler& handler) {
    return feed_some(bytes, [&](Event&& event) { return handler(std::move(event)), true; });
}

bool SseParser::feed_some(std::string_view& bytes, const Taker& taker) {
    while (bom_ < kBom.size() && !bytes.empty()) {
        if (bytes.front() != kBom[bom_]) {
            pending_.assign(kBom.substr(0, bom_));  // it only looked like one
            bom_ = kBom.size();
            break;
        }
        ++bom_;
        bytes.remove_prefix(1);
    }
    if (std::exchange(after_cr_, false) && !bytes.empty() && bytes.front() == '\n')
        bytes.remove_prefix(1);
    while (!bytes.empty()) {
        const auto end = bytes.find_first_of("\r\n");
        const auto part = bytes.substr(0, end);
        if (pending_.size() + part.size() + data_.size() > most_ + kFieldBytes) return false;
        if (end == bytes.npos) {
            pending_ += part;
            bytes = {};
            return true;
        }
        const bool cr = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        if (cr && bytes.empty()) after_cr_ = true;
        if (cr && !bytes.empty() && bytes.front() == '\n') bytes.remove_prefix(1);
        if (pending_.empty()) {
            if (!line(part, taker)) return true;
        } else {
            pending_ += part;
            if (!line(std::exchange(pending_, {}), taker)) return true;
        }
        if (data_.size() > most_) return false;
    }
    return true;
}

bool SseParser::line(std::string_view text, const Taker& taker) {
    if (text.empty()) return dispatch(taker);
    const auto colon = text.find(':');
    if (colon == 0) return true;  // a comment
    if (colon == text.npos) return field(text, {}), true;
    auto value = text.substr(colon + 1);
    if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    field(text.substr(0, colon), value);
    return true;
}

void SseParser::field(std::string_view name, std::string_view value) {
    if (name == "event") {
        type_ = value;
    } else if (name == "data") {
        if (has_data_) data_ += '\n';
        data_ += value;
        has_data_ = true;
    } else if (name == "id") {
        if (!is_field_value(value)) return;
        id_ = value;
        has_id_ = true;
    } else if (name == "retry") {
        long ms = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
        const bool digits =
            !value.empty() && end == value.data() + value.size() && ms >= 0 && value.front() != '-';
        if (!digits) return;
        retry_ms_ = error == std::errc() ? std::min(ms, kMostRetryMs) : kMostRetryMs;
    }
}

bool SseParser::dispatch(const Taker& taker) {
    // A long id is not copied for every blank line, of which a few packed bytes make very many.
    if (std::exchange(has_id_, false)) last_id_ = id_;
    if (!std::exchange(has_data_, false)) return type_.clear(), true;
    Event event{std::exchange(type_, {}), std::exchange(data_, {})};
    if (event.type.empty()) event.type = "message";
    return taker(std::move(event));
}

}  // namespace patchbay::net
