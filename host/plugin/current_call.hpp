// Which call into a plugin a thread is in, for those who ask when it does not come back: the
// watchdog, about the loop, and the crash handler, about its own thread.
//
// Writing is three plain stores, so that every call can afford it. The texts belong to whoever
// makes the call and live as long as it; a reader on another thread believes them only of a thread
// that has been stuck for seconds.
//
// Threads: each marks its own; [any] may look.
#pragma once

#include <atomic>

namespace patchbay::plugin {

struct CurrentCall {
    std::atomic<const char*> plugin{nullptr};  // null: in no call
    std::atomic<const char*> slot{nullptr};
    std::atomic<const char*> server{nullptr};  // null: of no server in particular
};

// Of the calling thread. The address stays good as long as the thread runs.
CurrentCall& current_call() noexcept;

// `plugin "x" in send for server "y"` to `fd`, or `no plugin's call`; safe in a signal handler.
void write_call(int fd, const CurrentCall& call) noexcept;

// From construction to destruction; an outer call of the same thread is restored.
class CallMark {
public:
    CallMark(const char* plugin, const char* slot, const char* server) noexcept
        : call_(current_call()),
          plugin_(call_.plugin.load(std::memory_order_relaxed)),
          slot_(call_.slot.load(std::memory_order_relaxed)),
          server_(call_.server.load(std::memory_order_relaxed)) {
        set(plugin, slot, server);
    }
    CallMark(const CallMark&) = delete;
    ~CallMark() { set(plugin_, slot_, server_); }

private:
    void set(const char* plugin, const char* slot, const char* server) noexcept {
        call_.slot.store(slot, std::memory_order_relaxed);
        call_.server.store(server, std::memory_order_relaxed);
        call_.plugin.store(plugin, std::memory_order_release);
    }

    CurrentCall& call_;
    const char *plugin_, *slot_, *server_;
};

}  // namespace patchbay::plugin
