// patchbay.host.reactor/1: the host's loop, lent to one plugin. Watches, timers and posted work of
// that plugin; nothing of it survives detach().
//
// Owns:    the operations. Borrows the loop between attach() and detach().
// Threads: attach() and detach() are [loop], the rest [any]. Callbacks run on the loop, except the
//          E_CANCELLED of a timer, which is made from inside cancel().
// Cost:    an event is one indirect call and two uncontended atomic operations; no allocation.
#pragma once

#include "core/loop.hpp"
#include "plugin/abi.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace patchbay::plugin {

class Reactor {
public:
    using Ready = void(PATCHBAY_CALL*)(void*, std::uint32_t);
    using Fired = void(PATCHBAY_CALL*)(void*, patchbay_status);
    using Posted = void(PATCHBAY_CALL*)(void*);

    // `misbehaved` is told what a callback threw. [loop]
    Reactor(std::string plugin, std::function<void(std::string)> misbehaved);
    ~Reactor();

    void attach(core::Loop& loop);
    // Forgets everything, without callbacks; the number of operations that were still open.
    std::size_t detach();

    patchbay_status watch(std::intptr_t fd, std::uint32_t events, void* ctx, Ready ready,
                          patchbay_op* out);
    patchbay_status modify(patchbay_op op, std::uint32_t events);
    patchbay_status after(std::uint64_t delay_ns, void* ctx, Fired fired, patchbay_op* out);
    void cancel(patchbay_op op);
    patchbay_status post(void* ctx, Posted fn);

private:
    struct Core;
    std::shared_ptr<Core> core_;
};

}  // namespace patchbay::plugin
