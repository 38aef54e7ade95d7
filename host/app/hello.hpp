// The first line of each side of a connection to a running host: who speaks which version, and whether the
// host runs by what the command has read. Behind them both speak the `batch` protocol, or MCP.
//
//   {"patchbay":{"protocol":1,"version":"0.1.0","as":"person","configuration":"<digest>"}}
//   {"patchbay":{"protocol":1,"as":"batch","approving":["option","terminal"]}}
//   {"patchbay":{"protocol":1,"as":"client","configuration":"<digest>","shown":{"servers":["x"]}}}
//   {"patchbay":{"protocol":1,"version":"0.1.0","pid":7,"since":"2026-07-28T09:00:00Z","fits":true}}
//
// Threads: [value].
// Errors:  a line that makes no sense is Invalid, another protocol Unsupported with both versions.
// Limits:  kHelloBytes.
#pragma once

#include "core/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

inline constexpr std::size_t kHelloBytes = 16u << 10;
inline constexpr unsigned kHostProtocol =
    1;  // another one where either side would misread the other

// Person: one of the commands that a person types, which are one caller together. Batch: a caller of
// its own, who is told what servers say. Client: an MCP client; behind the greeting are its messages, and what is
// answered is no other.
enum class Guest { Person, Batch, Client };

// What a client is shown, as the options of `serve` have it.
struct Shown {
    std::string only, agent;
    std::vector<std::string> servers, tools;
    std::string bundle = {};
};

// What a command has to say of what a rule wants approved: that it approves, or who can be asked.
struct Approving {
    bool by_option = false;    // --yes
    bool at_terminal = false;  // it has one, and asks there
};

struct Hello {
    std::string version;
    Guest as = Guest::Batch;
    std::string configuration;  // digest; empty: whatever the host runs by
    Shown shown = {};           // of a Client
    Approving approving = {};
};

struct Welcome {
    std::string version;
    int pid = 0;
    std::string since;
    std::size_t guest = 0;  // the number of this connection
    bool fits = true;       // it runs by that configuration
    // It was given that configuration, and keeps the one before for this reason; empty: it was not.
    std::string kept = {};
    std::string next_start =
        {};  // keys that have another value since than the host has read at its start
    std::uint64_t configuration = 1;  // the number of what it runs by
    std::string looks_because =
        {};  // why it looks at its files from time to time; empty: it need not
};

std::string to_line(const Hello& hello);
std::string to_line(const Welcome& welcome);
std::string refusal_line(const Error& error);

Result<Hello> parse_hello(std::string_view line);
// The error is also what the other side refused us with.
Result<Welcome> parse_welcome(std::string_view line);

}  // namespace patchbay::app
