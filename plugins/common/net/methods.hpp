// What a transport may send twice.
//
// Threads: [any]. Source: MCP 2025-11-25 and 2026-07-28, the methods of clients.
#pragma once

#include <string_view>

namespace patchbay::net {

// Whether a server that gets this message a second time does no more than the first time: what MCP
// defines as reading, and what has no effect of its own. An extension's methods are not known here,
// and may do anything. Empty: an answer, which is told from the first one by its id.
bool is_repeatable(std::string_view method);

}  // namespace patchbay::net
