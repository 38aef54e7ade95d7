// W3C trace context as HTTP carries it, in headers, and as MCP does, in `_meta`.
//
// Threads: [value].
// Errors:  none: what is no trace context is none, as if it had not come.
// Limits:  kTraceStateBytes, kTraceStateMembers of a tracestate.
// Source:  W3C Trace Context "traceparent", "tracestate"; MCP 2026-07-28 basic/index "OpenTelemetry
//          trace context", SEP-414.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace patchbay::protocol {

inline constexpr std::size_t kTraceStateBytes = 512, kTraceStateMembers = 32;

bool is_traceparent(std::string_view value);
bool is_tracestate(std::string_view value);

// As raw members of `_meta`; empty: `traceparent` is none, and without it the other says nothing.
std::string trace_members(std::string_view traceparent, std::string_view tracestate);
// `meta`, raw members, with those of `trace`, which trace_members() made, where it has none itself.
std::string with_trace(std::string_view meta, std::string_view trace);

}  // namespace patchbay::protocol
