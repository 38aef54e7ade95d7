// What the example server was asked to be: eras, transport, and the ways in which it misbehaves for
// tests of bad input.
//
// Threads: [value]. Errors: parse_options prints usage and ends the process; this is a program's
// command line, and a wrong flag in a test must not go unnoticed.
#pragma once

#include <string>

namespace example {

inline constexpr const char* kModern = "2026-07-28";

struct Options {
    bool legacy = true;
    bool modern = true;
    bool silent_probe = false;  // legacy, and deaf to server/discover
    std::string protocol;       // offer exactly this revision
    bool tools_capability = true;
    bool sandbox_state = false;  // declares codex/sandbox-state, and takes its update

    bool tcp = false;
    int port = 0;
    std::string port_file;  // written whole (renamed into place) once the port is open
    std::string pid_file;   // one line for each process, appended

    int tools = 0;      // generated tools, beside the real ones
    int page_size = 0;  // 0: everything on one page
    bool repeat_cursor = false;

    enum class At { First, Call };
    At at = At::Call;     // when the next three strike: on the first message, or a tools/call
    long long flood = 0;  // so many bytes without a newline
    long long nest = 0;   // so many nested arrays
    bool close_mid_message = false;
    long long pings = 0;  // so many on a tools/call, without reading in between

    bool garbage = false;  // stray lines around every message
    bool answer_twice = false;
    bool wrong_id = false;  // on tools/call
    int die_after = 0;      // messages
    int exit_at_start = -1;
    bool never_answer = false;
    bool stop_reading = false;  // after the handshake: a server that hangs with open pipes
    bool stderr_noise = false;
    int slow_start_ms = 0;
    bool stubborn = false;      // survives a closed stdin and SIGTERM
    bool spawn_daemon = false;  // leaves a grandchild in a session of its own
};

Options parse_options(int argc, char** argv);

}  // namespace example
