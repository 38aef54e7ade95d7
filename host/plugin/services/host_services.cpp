#include "plugin/services/host_services.hpp"

#include "core/escapes.hpp"
#include "core/log.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"
#include "plugin/links/open_channel.hpp"
#include "plugin/services/buffers.hpp"
#include "plugin/services/http_service.hpp"
#include "plugin/services/process_service.hpp"
#include "plugin/services/sign_in_services.hpp"
#include "plugin/slow_call.hpp"

#include <algorithm>
#include <chrono>

namespace patchbay::plugin {
namespace {

constexpr std::size_t kLogLineBytes = 8u << 10;
constexpr std::size_t kMostLogFields = 32;

// ---- reactor/1 and clock/1: tables shared by all plugins, the host pointer tells them apart

patchbay_status watch(const patchbay_host* host, std::intptr_t fd, std::uint32_t events, void* ctx,
                      Reactor::Ready ready, patchbay_op* out) noexcept {
    return entry("reactor watch", [&] {
        return HostServices::of(host).reactor().watch(fd, events, ctx, ready, out);
    });
}
patchbay_status after(const patchbay_host* host, std::uint64_t delay_ns, void* ctx,
                      Reactor::Fired fired, patchbay_op* out) noexcept {
    return entry("reactor after",
                 [&] { return HostServices::of(host).reactor().after(delay_ns, ctx, fired, out); });
}
void cancel(const patchbay_host* host, patchbay_op op) noexcept {
    void_entry("reactor cancel", [&] { HostServices::of(host).reactor().cancel(op); });
}
patchbay_status modify(const patchbay_host* host, patchbay_op op, std::uint32_t events) noexcept {
    return entry("reactor modify",
                 [&] { return HostServices::of(host).reactor().modify(op, events); });
}
patchbay_status post(const patchbay_host* host, void* ctx, Reactor::Posted fn) noexcept {
    return entry("reactor post", [&] { return HostServices::of(host).reactor().post(ctx, fn); });
}
constexpr patchbay_host_reactor kReactor = {
    sizeof(patchbay_host_reactor), 0, watch, after, cancel, modify, post};

std::uint64_t monotonic_ns(const patchbay_host* host) noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(HostServices::of(host).time().now().time_since_epoch()).count());
}
std::uint64_t unix_ms(const patchbay_host* host) noexcept {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                          HostServices::of(host).time().date().time_since_epoch())
                                          .count());
}
constexpr patchbay_host_clock kClock = {sizeof(patchbay_host_clock), 0, monotonic_ns, unix_ms};

patchbay_status http_fetch(const patchbay_host* host, const patchbay_http_request* request,
                           void* ctx, HttpService::Callback done, patchbay_op* out) noexcept {
    auto* http = HostServices::of(host).http();
    if (!http) return PATCHBAY_E_UNSUPPORTED;
    return entry("http fetch", [&] { return http->fetch(request, ctx, done, out); });
}
void http_cancel(const patchbay_host* host, patchbay_op op) noexcept {
    if (auto* http = HostServices::of(host).http())
        void_entry("http cancel", [&] { http->cancel(op); });
}
constexpr patchbay_host_http kHttp = {sizeof(patchbay_host_http), 0, http_fetch, http_cancel};

core::log::Level level_of(std::int32_t level) {
    constexpr core::log::Level levels[] = {core::log::Level::Trace, core::log::Level::Debug,
                                           core::log::Level::Info,  core::log::Level::Warn,
                                           core::log::Level::Error, core::log::Level::Fatal};
    return levels[std::clamp(level, 0, 5)];
}

}  // namespace

const std::vector<std::string>& offered_extensions() {
    static const std::vector<std::string> offered = {
        PATCHBAY_HOST_BUFFERS, PATCHBAY_HOST_CLOCK,   PATCHBAY_HOST_CONSENT, PATCHBAY_HOST_HTTP,
        PATCHBAY_HOST_PROCESS, PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_SECRETS, PATCHBAY_HOST_SIGN};
    return offered;
}

std::string_view grant_for(std::string_view extension) {
    if (extension == PATCHBAY_HOST_PROCESS) return "spawn";
    if (extension == PATCHBAY_HOST_CONSENT) return "browser";
    if (extension == PATCHBAY_HOST_SECRETS) return "secrets";
    return extension == PATCHBAY_HOST_HTTP ? "network" : "";
}

HostServices::HostServices(std::string plugin, std::vector<std::string> extensions)
    : plugin_(std::move(plugin)),
      extensions_(std::move(extensions)),
      face_{{sizeof(patchbay_host), PATCHBAY_ABI_MINOR, "patchbay", PATCHBAY_VERSION,
             on_get_extension, on_log},
            this},
      reactor_(plugin_, [this](std::string what) { misbehaved(std::move(what)); }) {}

HostServices::~HostServices() = default;

HostServices& HostServices::of(const patchbay_host* host) {
    return *reinterpret_cast<const Face*>(host)->self;
}

bool HostServices::has(std::string_view extension) const {
    return std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end();
}

void HostServices::attach(core::Loop& loop, const Lent& lent) {
    time_ = &loop.time();
    reactor_.attach(loop);
    http_ = lent.http;
    if (has(PATCHBAY_HOST_CONSENT) || has(PATCHBAY_HOST_SECRETS))
        sign_in_ = std::make_unique<SignInServices>(loop, plugin_, lent.sign_in);
    if (has(PATCHBAY_HOST_PROCESS))
        processes_ = std::make_unique<ProcessService>(
            loop, plugin_, [this](std::string what) { misbehaved(std::move(what)); });
}

void HostServices::detach() {
    if (const auto left = reactor_.detach())
        core::log::warn("plugin \"" + plugin_ + "\": left " + std::to_string(left) +
                        " watches or timers open");
    processes_.reset();
    sign_in_.reset();
    http_ = nullptr;
    time_ = &core::machine_time();
}

void HostServices::misbehaved(std::string what) {
    {
        const std::scoped_lock lock(mutex_);
        if (!misbehaviour_.empty()) return;
        misbehaviour_ = core::printable(what, 512);
    }
    core::log::error("plugin \"" + plugin_ +
                     "\" broke the plugin contract and is not used any more: " + what);
}

std::string HostServices::misbehaviour() const {
    const std::scoped_lock lock(mutex_);
    return misbehaviour_;
}

const void* HostServices::offered_by_plugin(const char* id) {
    if (!made_ || !made_->get_extension) return nullptr;
    const void* offered = nullptr;
    std::string thrown;
    if (call_plugin(plugin_, "get_extension", nullptr, thrown,
                    [&] { offered = made_->get_extension(made_, id); }))
        return offered;
    misbehaved("get_extension threw: " + thrown);
    return nullptr;
}

const void* HostServices::extension(std::string_view id) {
    if (!has(id)) return nullptr;
    if (id == PATCHBAY_HOST_BUFFERS) return buffers_table();
    if (id == PATCHBAY_HOST_CLOCK) return &kClock;
    if (id == PATCHBAY_HOST_HTTP) return &kHttp;
    if (id == PATCHBAY_HOST_REACTOR) return &kReactor;
    if (id == PATCHBAY_HOST_SIGN) return sign_table();
    if (id == PATCHBAY_HOST_CONSENT) return SignInServices::consent_table();
    if (id == PATCHBAY_HOST_SECRETS) return SignInServices::secrets_table();
    if (id == PATCHBAY_HOST_PROCESS && processes_) return processes_->table();
    return nullptr;
}

void HostServices::log(int level, std::string_view text, const patchbay_kv* fields,
                       std::size_t count) const {
    const auto wanted = level_of(level);
    // A plugin that says so of itself has a bug, and goes on.
    if (wanted == core::log::Level::Fatal) core::count_escape();
    if (!core::log::enabled(wanted)) return;
    std::string line = "plugin \"" + plugin_ + "\": ";
    line += core::clipped(text, kLogLineBytes);
    for (std::size_t i = 0; fields && i < std::min(count, kMostLogFields); ++i) {
        line += ' ';
        line += core::clipped(view(fields[i].name), kLogLineBytes);
        line += '=';
        line += fields[i].flags & PATCHBAY_KV_SECRET
                    ? "***"
                    : core::clipped(view(fields[i].value), kLogLineBytes);
    }
    core::log::write(wanted, line);
}

const void* HostServices::on_get_extension(const patchbay_host* host, const char* id) noexcept {
    const void* found = nullptr;
    if (host && id) void_entry("get_extension", [&] { found = of(host).extension(id); });
    return found;
}

void HostServices::on_log(const patchbay_host* host, std::int32_t level, patchbay_str text,
                          const patchbay_kv* fields, std::size_t count) noexcept {
    if (host) void_entry("log", [&] { of(host).log(level, view(text), fields, count); });
}

}  // namespace patchbay::plugin
