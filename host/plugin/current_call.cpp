#include "plugin/current_call.hpp"

#include <cstring>
#include <unistd.h>

namespace patchbay::plugin {

namespace {

void put(int fd, const char* text) noexcept {
    static_cast<void>(!::write(fd, text, std::strlen(text)));
}

}  // namespace

CurrentCall& current_call() noexcept {
    static constinit thread_local CurrentCall call;
    return call;
}

void write_call(int fd, const CurrentCall& call) noexcept {
    const char* const plugin = call.plugin.load(std::memory_order_acquire);
    const char* const slot = call.slot.load(std::memory_order_relaxed);
    const char* const server = call.server.load(std::memory_order_relaxed);
    if (!plugin) return put(fd, "no plugin's call");
    put(fd, "plugin \"");
    put(fd, plugin);
    put(fd, "\" in ");
    put(fd, slot ? slot : "a call");
    if (!server) return;
    put(fd, " for server \"");
    put(fd, server);
    put(fd, "\"");
}

}  // namespace patchbay::plugin
