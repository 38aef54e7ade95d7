// The host of one channel of a bundled transport, turned by hand: nothing happens until the test
// says so, and every call into it is written down.
#pragma once

#include <patchbay/cpp/plugin.hpp>
#include <patchbay/services.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::test {

class ScriptedHost {
public:
    struct Operation {
        int fd = -1;  // a watch; -1: a timer
        std::uint32_t events = 0;
        std::uint64_t delay_ns = 0;
        void* ctx = nullptr;
        void(PATCHBAY_CALL* ready)(void*, std::uint32_t) PATCHBAY_NX = nullptr;
        void(PATCHBAY_CALL* fired)(void*, patchbay_status) PATCHBAY_NX = nullptr;
    };
    struct Posted {
        void* ctx;
        void(PATCHBAY_CALL* fn)(void*) PATCHBAY_NX;
    };
    struct Child {  // what was spawned last
        std::vector<std::string> argv, env;
        std::string cwd;
        std::uint32_t flags = 0;
        std::vector<std::uint64_t> limits;  // memory, CPU, processes, files
        void* ctx = nullptr;
        void(PATCHBAY_CALL* started)(void*, std::int64_t) PATCHBAY_NX = nullptr;
        void(PATCHBAY_CALL* exited)(void*, std::int32_t) PATCHBAY_NX = nullptr;
    };

    ScriptedHost() { current() = this; }
    ScriptedHost(const ScriptedHost&) = delete;
    ~ScriptedHost() { current() = nullptr; }

    patchbay_open_params params() const {
        patchbay_open_params made{};
        made.struct_size = sizeof made;
        made.host = &host_;
        made.sink = sink_table();
        made.link = nullptr;
        made.message_bytes = message_bytes;
        return made;
    }

    // ---- what the test turns
    // All that is due: what was posted, and timers.
    void run_posted() {
        while (!posted.empty()) {
            const auto next = posted.front();
            posted.pop_front();
            next.fn(next.ctx);
        }
    }
    bool fire_timer() {
        for (const auto& [op, each] : operations) {
            if (each.fd >= 0) continue;
            const auto timer = each;
            operations.erase(op);
            timer.fired(timer.ctx, PATCHBAY_OK);
            return true;
        }
        return false;
    }
    // Says that `fd` is ready; false: nobody waits for that.
    bool ready(int fd, std::uint32_t events) {
        for (const auto& [op, each] : operations) {
            if (each.fd != fd || !(each.events & events)) continue;
            const auto watch = each;
            watch.ready(watch.ctx, events);
            return true;
        }
        return false;
    }
    const Operation* watch_of(int fd) const {
        for (const auto& [op, each] : operations)
            if (each.fd == fd) return &each;
        return nullptr;
    }
    std::size_t timers() const {
        return static_cast<std::size_t>(
            std::count_if(operations.begin(), operations.end(),
                          [](const auto& each) { return each.second.fd < 0; }));
    }

    std::map<patchbay_op, Operation> operations;
    std::deque<Posted> posted;
    std::vector<std::string> told;             // to the sink
    std::map<std::string, std::string> facts;  // to the sink: of the end of a program
    std::vector<std::string> logged;           // "level text"
    Child child;
    std::vector<std::string> stops;   // "op grace"
    int child_fds[3] = {-1, -1, -1};  // given to what is spawned
    std::uint64_t message_bytes = 1000;
    std::uint64_t now_ns = 1'000'000'000'000;  // stands until the test turns it
    bool refuses = false;                      // every call of the reactor
    bool has_reactor = true, has_process = true;
    std::optional<patchbay_process_usage> usage;  // of its programs; nothing: nobody knows
    patchbay_status message_status = PATCHBAY_OK;
    patchbay_status spawn_status = PATCHBAY_OK;

private:
    static ScriptedHost*& current() {
        static ScriptedHost* one = nullptr;
        return one;
    }
    static std::string text(patchbay_str string) { return {string.data, string.size}; }
    static void tell(std::string line) { current()->told.push_back(std::move(line)); }
    static std::string reason(const patchbay_problem* problem) {
        if (!problem) return {};
        return " " + std::to_string(problem->error.code) + " " + problem->error.message +
               (problem->error.flags ? " /" + std::to_string(problem->error.flags) : "");
    }

    static const patchbay_sink* sink_table() {
        static constexpr patchbay_sink table = {
            sizeof(patchbay_sink),
            0,
            [](patchbay_link*) noexcept { tell("opened"); },
            [](patchbay_link*, std::uint64_t,
               const patchbay_buf* body) noexcept -> patchbay_status {
                tell("message " +
                     std::string(reinterpret_cast<const char*>(body->data), body->size));
                if (body->release) body->release(body->owner);
                return current()->message_status;
            },
            [](patchbay_link*, std::uint64_t exchange, patchbay_status,
               const patchbay_problem* problem) noexcept {
                tell("done " + std::to_string(exchange) + reason(problem));
            },
            [](patchbay_link*) noexcept { tell("writable"); },
            [](patchbay_link*, const patchbay_problem*) noexcept { tell("challenge"); },
            [](patchbay_link*, const patchbay_problem* problem) noexcept {
                tell("closed" + reason(problem));
            },
            [](patchbay_link*, std::uint32_t stream, patchbay_str line) noexcept {
                tell("output " + std::to_string(stream) + " " + text(line));
            },
            [](patchbay_link*, patchbay_str name, patchbay_str value) noexcept {
                const auto fact = text(name);
                if (fact == "exit" || fact == "limit" || fact == "cpu_ms" ||
                    fact == "peak_memory_bytes")
                    current()->facts[fact] = text(value);
                else
                    tell(fact + "=" + text(value));
            }};
        return &table;
    }

    static const patchbay_host_reactor* reactor_table() {
        static constexpr patchbay_host_reactor table = {
            sizeof(patchbay_host_reactor),
            0,
            [](const patchbay_host*, std::intptr_t fd, std::uint32_t events, void* ctx,
               void(PATCHBAY_CALL * ready)(void*, std::uint32_t) PATCHBAY_NX,
               patchbay_op* out) noexcept -> patchbay_status {
                auto& self = *current();
                if (self.refuses) return PATCHBAY_E_LIMIT;
                *out = ++self.last_;
                self.operations[*out] = {static_cast<int>(fd), events, 0, ctx, ready, nullptr};
                return PATCHBAY_OK;
            },
            [](const patchbay_host*, std::uint64_t delay_ns, void* ctx,
               void(PATCHBAY_CALL * fired)(void*, patchbay_status) PATCHBAY_NX,
               patchbay_op* out) noexcept -> patchbay_status {
                auto& self = *current();
                if (self.refuses) return PATCHBAY_E_LIMIT;
                *out = ++self.last_;
                self.operations[*out] = {-1, 0, delay_ns, ctx, nullptr, fired};
                return PATCHBAY_OK;
            },
            [](const patchbay_host*, patchbay_op op) noexcept {
                auto& self = *current();
                const auto found = self.operations.find(op);
                if (found == self.operations.end()) return;
                const auto ended = found->second;
                self.operations.erase(found);
                if (ended.fired) ended.fired(ended.ctx, PATCHBAY_E_CANCELLED);
            },
            [](const patchbay_host*, patchbay_op op,
               std::uint32_t events) noexcept -> patchbay_status {
                auto& self = *current();
                const auto found = self.operations.find(op);
                if (found == self.operations.end()) return PATCHBAY_E_INVALID;
                found->second.events = events;
                return PATCHBAY_OK;
            },
            [](const patchbay_host*, void* ctx,
               void(PATCHBAY_CALL * fn)(void*) PATCHBAY_NX) noexcept -> patchbay_status {
                auto& self = *current();
                if (self.refuses) return PATCHBAY_E_CLOSED;
                self.posted.push_back({ctx, fn});
                return PATCHBAY_OK;
            }};
        return &table;
    }

    static const patchbay_host_process* process_table() {
        static constexpr patchbay_host_process table = {
            sizeof(patchbay_host_process), 0,
            [](const patchbay_host*, const patchbay_process_params* params, void* ctx,
               void(PATCHBAY_CALL * started)(void*, std::int64_t) PATCHBAY_NX,
               void(PATCHBAY_CALL * exited)(void*, std::int32_t) PATCHBAY_NX, patchbay_process* out,
               patchbay_error* error) noexcept -> patchbay_status {
                auto& self = *current();
                if (params->struct_size != sizeof *params || out->struct_size != sizeof *out) {
                    sdk::fill(*error, PATCHBAY_E_INVALID, "of no known size");
                    return PATCHBAY_E_INVALID;
                }
                if (self.spawn_status < 0) {
                    sdk::fill(*error, self.spawn_status, "not here");
                    return self.spawn_status;
                }
                self.child = {
                    {},
                    {},
                    text(params->cwd),
                    params->flags,
                    {params->memory_bytes, params->cpu_seconds, params->processes, params->files},
                    ctx,
                    started,
                    exited};
                for (std::size_t i = 0; i < params->argc; ++i)
                    self.child.argv.push_back(text(params->argv[i]));
                for (std::size_t i = 0; i < params->env_count; ++i)
                    self.child.env.push_back(text(params->env[i].name) + "=" +
                                             text(params->env[i].value));
                out->op = ++self.last_;
                out->stdin_fd = self.child_fds[0];
                out->stdout_fd = self.child_fds[1];
                out->stderr_fd = self.child_fds[2];
                return PATCHBAY_OK;
            },
            [](const patchbay_host*, patchbay_op op, std::uint32_t grace_ms) noexcept {
                current()->stops.push_back(std::to_string(op) + " " + std::to_string(grace_ms));
            },
            [](const patchbay_host*, patchbay_op,
               patchbay_process_usage* out) noexcept -> patchbay_status {
                if (!current()->usage) return PATCHBAY_E_UNSUPPORTED;
                *out = *current()->usage;
                return PATCHBAY_OK;
            }};
        return &table;
    }

    static const patchbay_host_clock* clock_table() {
        static constexpr patchbay_host_clock table = {
            sizeof(patchbay_host_clock), 0,
            [](const patchbay_host*) noexcept { return current()->now_ns; },
            [](const patchbay_host*) noexcept { return current()->now_ns / 1'000'000; }};
        return &table;
    }

    const patchbay_host host_ = {
        sizeof(patchbay_host),
        0,
        "scripted",
        "0",
        [](const patchbay_host*, const char* id) noexcept -> const void* {
            const auto& self = *current();
            if (self.has_reactor && std::strcmp(id, PATCHBAY_HOST_REACTOR) == 0)
                return reactor_table();
            if (self.has_process && std::strcmp(id, PATCHBAY_HOST_PROCESS) == 0)
                return process_table();
            if (std::strcmp(id, PATCHBAY_HOST_CLOCK) == 0) return clock_table();
            return nullptr;
        },
        [](const patchbay_host*, std::int32_t level, patchbay_str line, const patchbay_kv*,
           std::size_t) noexcept {
            current()->logged.push_back(std::to_string(level) + " " + text(line));
        }};
    patchbay_op last_ = 0;
};

}  // namespace patchbay::test
