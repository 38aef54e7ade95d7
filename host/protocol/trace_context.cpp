#include "protocol/trace_context.hpp"

#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::protocol {

namespace {

constexpr std::size_t kVersion = 2, kTraceId = 32, kParentId = 16, kFlags = 2;
constexpr std::size_t kTraceparent = kVersion + 1 + kTraceId + 1 + kParentId + 1 + kFlags;
constexpr std::size_t kTraceparentBytes = 256;  // of a version that is not known yet
constexpr std::size_t kKeyBytes = 256, kValueBytes = 256;

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_id(std::string_view text) {
    return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

bool is_member(std::string_view member) {
    const auto equals = member.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals > kKeyBytes) return false;
    const auto key = member.substr(0, equals), value = member.substr(equals + 1);
    if (key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-*/@") != key.npos)
        return false;
    return !value.empty() && value.size() <= kValueBytes &&
           std::all_of(value.begin(), value.end(),
                       [](char c) { return c >= 0x20 && c <= 0x7e && c != ',' && c != '='; });
}

bool has_member(std::string_view members, std::string_view key) {
    bool found = false;
    const auto object = "{" + std::string(members) + "}";
    each_member(object, [&](std::string_view name, std::string_view) {
        found = found || name == key;
        return !found;
    });
    return found;
}

}  // namespace

bool is_traceparent(std::string_view value) {
    if (value.size() < kTraceparent || value.size() > kTraceparentBytes) return false;
    const auto version = value.substr(0, kVersion);
    auto rest = value.substr(kVersion);
    const auto take = [&rest](std::size_t size) {
        const auto part = rest.starts_with('-') ? rest.substr(1, size) : std::string_view();
        rest.remove_prefix(1 + size);
        return part;
    };
    if (!is_hex(version) || version == "ff") return false;
    if (!is_id(take(kTraceId)) || !is_id(take(kParentId))) return false;
    const auto flags = take(kFlags);
    if (flags.empty() || !is_hex(flags)) return false;
    if (version == "00") return rest.empty();
    return rest.empty() ||
           (rest.starts_with('-') &&
            std::all_of(rest.begin(), rest.end(), [](char c) { return c > 0x20 && c <= 0x7e; }));
}

bool is_tracestate(std::string_view value) {
    if (value.empty() || value.size() > kTraceStateBytes) return false;
    std::size_t members = 0;
    for (std::size_t begin = 0; begin <= value.size();) {
        const auto end = std::min(value.find(',', begin), value.size());
        const auto member = core::trimmed(value.substr(begin, end - begin));
        if (!member.empty() && (!is_member(member) || ++members > kTraceStateMembers)) return false;
        begin = end + 1;
    }
    return members > 0;
}

std::string trace_members(std::string_view traceparent, std::string_view tracestate) {
    std::string members;
    if (!is_traceparent(traceparent)) return members;
    append_member(members, "traceparent", quoted(traceparent));
    if (is_tracestate(tracestate)) append_member(members, "tracestate", quoted(tracestate));
    return members;
}

std::string with_trace(std::string_view meta, std::string_view trace) {
    if (trace.empty() || has_member(meta, "traceparent") || has_member(meta, "tracestate"))
        return std::string(meta);
    return joined(meta, trace);
}

}  // namespace patchbay::protocol
