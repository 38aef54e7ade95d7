// The limit over HTTP: raw sockets, kept alive, one request under way on each, as HTTP/1.1 has it.
// A text search instead of a parser; the same bytes that the host sends.
//
// Threads: one. Errors: bench::give_up. Each prints what the same mode prints for a program.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

void http_latency(const std::string& url, std::size_t calls);
// `flight` connections, one epoll.
void http_throughput(const std::string& url, std::size_t calls, std::size_t flight);

}  // namespace bench
