#include "plugin/abi.hpp"

#include "core/escapes.hpp"
#include "core/log.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace patchbay::plugin {
namespace {

constexpr std::size_t kMostHeaders = 128;
constexpr std::size_t kHeaderBytes = 16u << 10;
constexpr std::size_t kUrlBytes = 8u << 10;

struct StatusName {
    patchbay_status status;
    ErrorCode code;
    const char* name;
};
constexpr StatusName kStatuses[] = {
    {PATCHBAY_E_INTERNAL, ErrorCode::Internal, "E_INTERNAL"},
    {PATCHBAY_E_INVALID, ErrorCode::Invalid, "E_INVALID"},
    {PATCHBAY_E_UNSUPPORTED, ErrorCode::Unsupported, "E_UNSUPPORTED"},
    {PATCHBAY_E_CANCELLED, ErrorCode::Cancelled, "E_CANCELLED"},
    {PATCHBAY_E_TIMEOUT, ErrorCode::Timeout, "E_TIMEOUT"},
    {PATCHBAY_E_IO, ErrorCode::Io, "E_IO"},
    {PATCHBAY_E_CLOSED, ErrorCode::Unavailable, "E_CLOSED"},
    {PATCHBAY_E_AUTH, ErrorCode::AuthRequired, "E_AUTH"},
    {PATCHBAY_E_PROTOCOL, ErrorCode::Protocol, "E_PROTOCOL"},
    {PATCHBAY_E_LIMIT, ErrorCode::Limit, "E_LIMIT"},
    {PATCHBAY_E_SESSION, ErrorCode::SessionLost, "E_SESSION"},
    {PATCHBAY_E_DENIED, ErrorCode::Denied, "E_DENIED"},
};

}  // namespace

// What no status means is the plugin's fault, whatever it meant.
ErrorCode code_of(patchbay_status status) {
    for (const auto& known : kStatuses)
        if (known.status == status) return known.code;
    return ErrorCode::Internal;
}

patchbay_status status_of(ErrorCode code) {
    for (const auto& known : kStatuses)
        if (known.code == code) return known.status;
    return code == ErrorCode::NotFound ? PATCHBAY_E_INVALID : PATCHBAY_E_INTERNAL;
}

std::string name_of_status(patchbay_status status) {
    if (status == PATCHBAY_OK) return "OK";
    for (const auto& known : kStatuses)
        if (known.status == status) return known.name;
    return "status " + std::to_string(status);
}

std::string text_of(const patchbay_error* error, patchbay_status status) {
    const std::string_view text =
        error ? std::string_view(error->message, ::strnlen(error->message, sizeof error->message))
              : std::string_view();
    if (text.empty()) return "the plugin said " + name_of_status(status) + " and nothing more";
    // Up to three bytes short of full it may have been cut, at a code point.
    return core::printable(core::clipped(text, sizeof error->message - 4), sizeof error->message);
}

Problem problem_of(patchbay_status status, const patchbay_problem* problem) {
    Problem made;
    made.error.code = code_of(status);
    made.error.message = text_of(problem ? &problem->error : nullptr, status);
    if (!problem) return made;
    made.http_status = problem->http_status;
    made.native_code = problem->error.native_code;
    made.retryable = problem->error.flags & PATCHBAY_ERR_RETRYABLE;
    made.not_sent = problem->error.flags & PATCHBAY_ERR_NOT_SENT;
    made.retry_after_ms = problem->error.retry_after_ms;
    made.url = core::printable(view(problem->url), kUrlBytes);
    // A plugin's headers come from a server: neither their number nor their size is ours to trust.
    const auto count = problem->headers ? std::min(problem->header_count, kMostHeaders) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto& kv = problem->headers[i];
        made.headers.push_back({std::string(view(kv.name).substr(0, kHeaderBytes)),
                                std::string(view(kv.value).substr(0, kHeaderBytes)),
                                (kv.flags & PATCHBAY_KV_SECRET) != 0, false});
    }
    return made;
}

void describe(const std::vector<Header>& headers, std::vector<patchbay_kv>& out) {
    out.clear();
    for (const auto& header : headers)
        out.push_back({str(header.name), str(header.value),
                       (header.secret ? std::uint32_t{PATCHBAY_KV_SECRET} : 0u) |
                           (header.environment ? std::uint32_t{PATCHBAY_KV_ENV} : 0u) |
                           (header.sign ? std::uint32_t{PATCHBAY_KV_SIGN} : 0u),
                       0});
}

void fill(patchbay_error* error, patchbay_status code, std::string_view text, int native_code) {
    if (!error) return;
    *error = {};  // the plugin's own memory: what it held before says nothing
    error->code = code;
    error->native_code = native_code;
    // Cut at a code point and with its end: a plugin in C reads on until there is one.
    const auto safe = core::clipped(text, sizeof error->message);
    const auto cut = core::utf8_prefix(safe, sizeof error->message - 1);
    std::memcpy(error->message, cut.data(), cut.size());
}

patchbay_status refuse(patchbay_error* error, patchbay_status code, std::string_view text) {
    fill(error, code, text);
    return code;
}

// No exception may pass into a plugin, which is not ours to unwind.
patchbay_status thrown_at_entry(const char* service) noexcept {
    patchbay_status status = PATCHBAY_E_INTERNAL;
    try {
        try {
            throw;
        } catch (const std::bad_alloc&) {
            status = PATCHBAY_E_LIMIT;
            core::log::error(std::string(service) + ": out of memory");
        } catch (...) {
            core::note_escape(service);
        }
    } catch (...) {  // no memory left to say it in
    }
    return status;
}

}  // namespace patchbay::plugin
