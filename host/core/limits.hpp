// Every bound that foreign bytes and servers meet, in one place, with its default. A limit that is
// exceeded ends the one message, call or server concerned, with an error that names the limit.
//
// Threads: [value].
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace patchbay::core {

struct Limits {
    std::size_t message_bytes = 16u << 20;  // one JSON-RPC message, either direction
    std::size_t json_depth = 128;           // nesting of one message
    std::size_t queue_bytes = 64u << 20;    // waiting for one server, then calls are refused
    std::size_t queue_messages = 10'000;    // in flight at one server, then calls are refused
    std::size_t tools_per_server = 10'000;
    std::size_t items_per_list = 10'000;  // of resources, templates or prompts
    std::size_t pages_per_list = 1'000;
    std::size_t list_bytes = 32u << 20;    // of one list, over all its pages; core::json_cost()
    std::size_t schema_bytes = 64u << 10;  // one tool's input or output schema
    std::size_t schema_depth = 64;
    std::size_t description_bytes = 2u << 10;  // shown to a model; the rest is cut
    std::size_t stderr_line_bytes = 8u << 10;  // see kMostStderrLineBytes
    std::size_t batch_items = 10'000;   // of one JSON-RPC batch, in the revisions that have them
    std::size_t input_rounds = 8;       // input_required answers to one modern request
    std::size_t input_requests = 16;    // questions in one of them
    std::size_t subscriptions = 1'000;  // to resources of one server, each caller's
    // What one server asked of us and has not been answered, or has not read: then it is cut off.
    std::size_t server_requests = 10'000;
    std::size_t server_request_bytes = 32u << 20;
    std::size_t connections_per_server = 64;
    std::size_t local_starts = 3;  // stdio servers that start at once, the others queue
    std::size_t remote_starts = 20;
};

// Plugins and the queue between them and the host keep no more of a line for people.
inline constexpr std::size_t kMostStderrLineBytes = 8u << 10;

// Each of them by its name: what errors call it, a key of [limits], and what `config show` prints. For a
// new one write a member above and a row here (and the JSON Schema and defaults of config, which a test
// compares); whoever meets the bytes keeps it.
struct Limit {
    std::string_view name;
    std::size_t Limits::*value;
    std::size_t most = std::numeric_limits<std::int32_t>::max();  // that may be set
};
inline constexpr std::array kLimits = {
    Limit{"message_bytes", &Limits::message_bytes},
    Limit{"json_depth", &Limits::json_depth},
    Limit{"queue_bytes", &Limits::queue_bytes},
    Limit{"queue_messages", &Limits::queue_messages},
    Limit{"tools_per_server", &Limits::tools_per_server},
    Limit{"pages_per_list", &Limits::pages_per_list},
    Limit{"items_per_list", &Limits::items_per_list},
    Limit{"list_bytes", &Limits::list_bytes},
    Limit{"schema_bytes", &Limits::schema_bytes},
    Limit{"schema_depth", &Limits::schema_depth},
    Limit{"description_bytes", &Limits::description_bytes},
    Limit{"stderr_line_bytes", &Limits::stderr_line_bytes, kMostStderrLineBytes},
    Limit{"batch_items", &Limits::batch_items},
    Limit{"input_rounds", &Limits::input_rounds},
    Limit{"input_requests", &Limits::input_requests},
    Limit{"subscriptions", &Limits::subscriptions},
    Limit{"server_requests", &Limits::server_requests},
    Limit{"server_request_bytes", &Limits::server_request_bytes},
    Limit{"connections_per_server", &Limits::connections_per_server},
    Limit{"local_starts", &Limits::local_starts},
    Limit{"remote_starts", &Limits::remote_starts},
};
static_assert(kLimits.size() * sizeof(std::size_t) == sizeof(Limits), "a row for each member");

// What nobody may set.
// Values of one text that is read as a tree, each about 64 bytes there.
inline constexpr std::size_t kMostJsonValues = 1'000'000;
// Squares of the member counts of one message's larger objects, added up: one object may have 8,192
// members. More is time that its sender decides about, see json.hpp.
inline constexpr std::size_t kMostJsonCrowding = 8'192u * 8'192u;

// A URI that somebody subscribes to is said again to each session.
inline constexpr std::size_t kMostUriBytes = 8u << 10;

// A shared connection to a `lazy` server is kept that long when nobody holds it any more.
inline constexpr std::chrono::minutes kLazyIdle{10};

// A person who answers a server's question may take this long; the call's own limits stand still.
inline constexpr std::chrono::minutes kInputWait{30};
// One who is asked to approve of a call: a call that waits longer is hardly wanted any more.
inline constexpr std::chrono::minutes kApprovalWait{10};

// A server may say that its tools changed as often as it likes: the first time in a row its list is
// read again at once, then after a pause that doubles from the one to the other.
inline constexpr std::chrono::milliseconds kRelistFirst{1'000};
inline constexpr std::chrono::milliseconds kRelistMost{60'000};

}  // namespace patchbay::core
