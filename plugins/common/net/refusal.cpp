#include "net/refusal.hpp"

#include <algorithm>
#include <charconv>

namespace patchbay::net {
namespace {

constexpr std::size_t kExcerpt = 200;
constexpr std::chrono::seconds kMostRetryAfter{3600};

// A problem and what it points into.
struct Told {
    explicit Told(const Refusal& refusal) {
        for (const auto& [name, value] : refusal.head.fields)
            fields.push_back({sdk::str(name), sdk::str(value), 0, 0});
        problem.struct_size = sizeof problem;
        problem.http_status = static_cast<std::uint32_t>(refusal.head.status);
        sdk::fill(problem.error, refusal.code, refusal.text(), refusal.flags, refusal.head.status);
        problem.error.retry_after_ms =
            static_cast<std::uint32_t>(retry_after(refusal.head).count());
        if (problem.error.retry_after_ms) problem.error.flags |= PATCHBAY_ERR_RETRYABLE;
        problem.url = sdk::str(refusal.url);
        problem.headers = fields.data();
        problem.header_count = fields.size();
    }
    std::vector<patchbay_kv> fields;
    patchbay_problem problem{};
};

}  // namespace

// In seconds; a date is not worth a clock that may be wrong.
std::chrono::milliseconds retry_after(const Head& head) {
    const auto text = head.value("retry-after");
    unsigned seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return std::min(std::chrono::seconds(seconds), kMostRetryAfter);
}

bool may_pass(int status) {
    return status >= 500 || status == 429 || status == 408;
}

patchbay_status code_of_status(int status) {
    if (status >= 200 && status < 300) return PATCHBAY_OK;
    if (status == 401 || status == 403) return PATCHBAY_E_AUTH;
    if (status == 408 || status == 504) return PATCHBAY_E_TIMEOUT;
    if (status == 413) return PATCHBAY_E_LIMIT;
    return status >= 500 ? PATCHBAY_E_IO : PATCHBAY_E_PROTOCOL;
}

std::string Refusal::text() const {
    std::string text = "HTTP " + std::to_string(head.status);
    if (!head.reason.empty()) text += " " + sdk::excerpt(head.reason, 64);
    text += " from " + url.substr(0, url.find('?'));
    const auto type = head.media_type();
    if (type == "text/html") return text + " (an HTML page: is this the URL of an MCP server?)";
    auto excerpt = sdk::excerpt(body, kExcerpt);
    std::replace_if(
        excerpt.begin(), excerpt.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    return excerpt.empty() ? text : text + ": " + excerpt;
}

void tell_done(const sdk::Sink& sink, std::uint64_t exchange, const Refusal& refusal) {
    const Told told(refusal);
    sink.done(exchange, refusal.code, told.problem);
}

void tell_challenge(const sdk::Sink& sink, const Refusal& refusal) {
    const Told told(refusal);
    sink.challenge(told.problem);
}

void tell_closed(const sdk::Sink& sink, const Refusal& refusal) {
    const Told told(refusal);
    sink.closed(told.problem);
}

patchbay_buf buffer_of(std::string&& message) {
    auto* const owner = new std::string(std::move(message));
    return {reinterpret_cast<const std::uint8_t*>(owner->data()), owner->size(), owner->size(),
            [](void* text) noexcept { delete static_cast<std::string*>(text); }, owner};
}

}  // namespace patchbay::net
