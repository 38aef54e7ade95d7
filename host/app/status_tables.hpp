// How servers stand, for a person at a terminal: a line of each, or all of one.
//
// Threads: one. Errors: none; what a server says of itself is printable.
#pragma once

#include "app/session.hpp"
#include "connection/status.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

// `sse`, or `http -> sse` of one that was tried first; and how many tools it has, `-` where nobody knows.
std::string transport_of(const connection::Status& status);
std::string tool_count(const connection::Status& status);
void print_statuses(const Session& session, const std::vector<connection::Status>& statuses);
void print_detail(const Session& session, const connection::Status& status);

}  // namespace patchbay::app
