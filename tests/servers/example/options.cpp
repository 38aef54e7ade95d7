#include "example/options.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace example {

namespace {

constexpr const char* kUsage =
    R"(patchbay-example-server: a small MCP server for tests, demonstrations and benchmarks

  --era legacy|modern|both   protocol eras spoken (both)
  --silent-probe             legacy only, and never answers server/discover
  --protocol REVISION        offer exactly this revision, whatever it is
  --no-tools-capability      serve no tools
  --sandbox-state            declare codex/sandbox-state, and take its update
  --tcp PORT                 serve any number of clients on 127.0.0.1 instead of stdio; 0: any port
  --port-file FILE           write the open port there
  --pid-file FILE            append the ids of all its processes there
  --tools N                  N generated tools more
  --page-size N              entries on a page of a list
Misbehaviour:
  --repeat-cursor  --garbage  --answer-twice  --wrong-id  --never-answer  --stop-reading
  --die-after N  --exit-at-start CODE  --slow-start MS  --stderr-noise  --stubborn  --spawn-daemon
  --flood BYTES  --nest N  --close-mid-message   instead of an answer; --at first|call says which (call)
  --pings N                  on a tools/call: so many requests of its own, and reads nothing meanwhile
)";

[[noreturn]] void refuse(const std::string& what) {
    std::fprintf(stderr, "patchbay-example-server: %s\n%s", what.c_str(), kUsage);
    std::exit(64);
}

long long number(const char* flag, const char* text) {
    char* end = nullptr;
    const long long value = std::strtoll(text, &end, 10);
    if (end == text || *end != '\0' || value < 0) refuse(std::string(flag) + " needs a number");
    return value;
}

}  // namespace

Options parse_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const char* flag = argv[i];
        const auto is = [&](const char* name) { return std::strcmp(flag, name) == 0; };
        const auto value = [&]() -> const char* {
            if (i + 1 >= argc) refuse(std::string(flag) + " needs a value");
            return argv[++i];
        };
        const auto small = [&] { return static_cast<int>(number(flag, value())); };
        if (is("--era")) {
            const std::string era = value();
            if (era != "legacy" && era != "modern" && era != "both") refuse("unknown era " + era);
            options.legacy = era != "modern";
            options.modern = era != "legacy";
        } else if (is("--silent-probe")) {
            options.silent_probe = true;
            options.modern = false;
        } else if (is("--protocol"))
            options.protocol = value();
        else if (is("--no-tools-capability"))
            options.tools_capability = false;
        else if (is("--sandbox-state"))
            options.sandbox_state = true;
        else if (is("--tcp")) {
            options.tcp = true;
            options.port = small();
        } else if (is("--port-file"))
            options.port_file = value();
        else if (is("--pid-file"))
            options.pid_file = value();
        else if (is("--tools"))
            options.tools = small();
        else if (is("--page-size"))
            options.page_size = small();
        else if (is("--repeat-cursor"))
            options.repeat_cursor = true;
        else if (is("--at")) {
            const std::string at = value();
            if (at != "first" && at != "call") refuse("--at is first or call");
            options.at = at == "first" ? Options::At::First : Options::At::Call;
        } else if (is("--flood"))
            options.flood = number(flag, value());
        else if (is("--nest"))
            options.nest = number(flag, value());
        else if (is("--pings"))
            options.pings = number(flag, value());
        else if (is("--close-mid-message"))
            options.close_mid_message = true;
        else if (is("--garbage"))
            options.garbage = true;
        else if (is("--answer-twice"))
            options.answer_twice = true;
        else if (is("--wrong-id"))
            options.wrong_id = true;
        else if (is("--die-after"))
            options.die_after = small();
        else if (is("--exit-at-start"))
            options.exit_at_start = small();
        else if (is("--never-answer"))
            options.never_answer = true;
        else if (is("--stop-reading"))
            options.stop_reading = true;
        else if (is("--stderr-noise"))
            options.stderr_noise = true;
        else if (is("--slow-start"))
            options.slow_start_ms = small();
        else if (is("--stubborn"))
            options.stubborn = true;
        else if (is("--spawn-daemon"))
            options.spawn_daemon = true;
        else if (is("--help")) {
            std::fputs(kUsage, stdout);
            std::exit(0);
        } else
            refuse(std::string("unknown flag ") + flag);
    }
    if (options.port > 65535) refuse("--tcp needs a port");
    return options;
}

}  // namespace example
