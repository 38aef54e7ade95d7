// A host as a plugin sees it whose timers the test turns: what is asked for is noted, and comes
// `divisor` times sooner, or never. It offers the reactor, processes and the clock.
//
// Threads: [any].
#pragma once

#include <patchbay/services.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string_view>
#include <vector>

namespace patchbay::test {

class TurnedTimers {
public:
    static constexpr std::uint64_t kNever = 0;

    TurnedTimers(const patchbay_host* real, std::uint64_t divisor)
        : face_{{real->struct_size, real->abi_minor, real->name, real->version, on_get_extension,
                 on_log},
                this},
          real_(real),
          divisor_(divisor) {}
    TurnedTimers(const TurnedTimers&) = delete;

    const patchbay_host* host() const { return &face_.host; }
    // Its clock stands from now on, but for skip(): what the machine is busy with takes no time.
    void stand_still() { stands_at_ns_ = clock(host()).monotonic_ns(real_); }
    // From now on it is later by that.
    void skip(std::chrono::nanoseconds span) {
        skipped_ns_ += static_cast<std::uint64_t>(span.count());
    }
    std::vector<std::chrono::milliseconds> asked() const {
        const std::scoped_lock lock(mutex_);
        return asked_;
    }

private:
    using Ready = void(PATCHBAY_CALL*)(void*, std::uint32_t) PATCHBAY_NX;
    using Posted = void(PATCHBAY_CALL*)(void*) PATCHBAY_NX;
    using Fired = void(PATCHBAY_CALL*)(void*, patchbay_status) PATCHBAY_NX;
    using Started = void(PATCHBAY_CALL*)(void*, std::int64_t) PATCHBAY_NX;
    using Exited = void(PATCHBAY_CALL*)(void*, std::int32_t) PATCHBAY_NX;
    struct Face {
        patchbay_host host;
        TurnedTimers* self;
    };

    static TurnedTimers& of(const patchbay_host* host) {
        return *reinterpret_cast<const Face*>(host)->self;
    }
    static const patchbay_host* real(const patchbay_host* host) { return of(host).real_; }
    static const patchbay_host_reactor& reactor(const patchbay_host* host) {
        return *static_cast<const patchbay_host_reactor*>(
            real(host)->get_extension(real(host), PATCHBAY_HOST_REACTOR));
    }
    static const patchbay_host_process& process(const patchbay_host* host) {
        return *static_cast<const patchbay_host_process*>(
            real(host)->get_extension(real(host), PATCHBAY_HOST_PROCESS));
    }
    static const patchbay_host_clock& clock(const patchbay_host* host) {
        return *static_cast<const patchbay_host_clock*>(
            real(host)->get_extension(real(host), PATCHBAY_HOST_CLOCK));
    }
    static const void* on_get_extension(const patchbay_host*, const char* id) noexcept {
        static constexpr patchbay_host_reactor table = {
            sizeof(patchbay_host_reactor),
            0,
            [](const patchbay_host* host, std::intptr_t fd, std::uint32_t events, void* ctx,
               Ready ready, patchbay_op* out) noexcept {
                return reactor(host).watch(real(host), fd, events, ctx, ready, out);
            },
            [](const patchbay_host* host, std::uint64_t delay_ns, void* ctx, Fired fired,
               patchbay_op* out) noexcept { return of(host).after(delay_ns, ctx, fired, out); },
            [](const patchbay_host* host, patchbay_op op) noexcept {
                reactor(host).cancel(real(host), op);
            },
            [](const patchbay_host* host, patchbay_op op, std::uint32_t events) noexcept {
                return reactor(host).modify(real(host), op, events);
            },
            [](const patchbay_host* host, void* ctx, Posted fn) noexcept {
                return reactor(host).post(real(host), ctx, fn);
            }};
        static constexpr patchbay_host_process processes = {
            sizeof(patchbay_host_process), 0,
            [](const patchbay_host* host, const patchbay_process_params* params, void* ctx,
               Started started, Exited exited, patchbay_process* out,
               patchbay_error* error) noexcept {
                return process(host).spawn(real(host), params, ctx, started, exited, out, error);
            },
            [](const patchbay_host* host, patchbay_op op, std::uint32_t grace_ms) noexcept {
                process(host).stop(real(host), op, grace_ms);
            },
            [](const patchbay_host* host, patchbay_op op, patchbay_process_usage* out) noexcept {
                return process(host).usage(real(host), op, out);
            }};
        static constexpr patchbay_host_clock times = {
            sizeof(patchbay_host_clock), 0,
            [](const patchbay_host* host) noexcept -> std::uint64_t { return of(host).now_ns(); },
            [](const patchbay_host* host) noexcept -> std::uint64_t {
                return clock(host).unix_ms(real(host)) + of(host).skipped_ns_ / 1'000'000;
            }};
        if (std::string_view(id) == PATCHBAY_HOST_PROCESS) return &processes;
        if (std::string_view(id) == PATCHBAY_HOST_CLOCK) return &times;
        return std::string_view(id) == PATCHBAY_HOST_REACTOR ? &table : nullptr;
    }
    static void on_log(const patchbay_host* host, std::int32_t level, patchbay_str text,
                       const patchbay_kv* fields, std::size_t count) noexcept {
        real(host)->log(real(host), level, text, fields, count);
    }
    patchbay_status after(std::uint64_t delay_ns, void* ctx, Fired fired, patchbay_op* out) {
        constexpr std::uint64_t hour_ns = 3'600'000'000'000;
        {
            const std::scoped_lock lock(mutex_);
            asked_.emplace_back(delay_ns / 1'000'000);
        }
        return reactor(host()).after(real_, divisor_ == kNever ? hour_ns : delay_ns / divisor_, ctx,
                                     fired, out);
    }

    const Face face_;
    const patchbay_host* const real_;
    const std::uint64_t divisor_;
    std::uint64_t now_ns() const {
        return (stands_at_ns_ != 0 ? stands_at_ns_.load() : clock(host()).monotonic_ns(real_)) +
               skipped_ns_;
    }

    std::atomic<std::uint64_t> skipped_ns_{0}, stands_at_ns_{0};  // the latter 0: it goes
    mutable std::mutex mutex_;                                    // guards asked_
    std::vector<std::chrono::milliseconds> asked_;
};

}  // namespace patchbay::test
