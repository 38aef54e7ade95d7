// The limit over HTTP: raw sockets, kept alive, one request under way on each, as HTTP/1.1 has it.
// A text search instead of a parser; the same bytes that the host sends.
//   patchbay-bench-limit URL latency CALLS | throughput CALLS FLIGHT | streams COUNT [WORD ...]
//     modern       each request stands for itself, as in the revision 2026-07-28; else there is a
//                  session
//     tool=NAME    that is called: "echo", where nothing is said
//     bytes=COUNT  of the result, by a tool that is called like "big"; else a few words come back
// `streams` opens so many that stay silent, prints how long that took, and ends with its stdin.
//
// Threads: one. Errors: bench::give_up; false: that is no such command.
#pragma once

namespace bench {

bool http_limit(int argc, char** argv);

}  // namespace bench
