// What one plugin gets of the host: the patchbay_host it is handed at entry, and behind it the
// extensions its manifest asks for and was granted.
//
// Owns:    the plugin's reactor and children. Lives as long as the library: for good, once entry
//          has seen it.
// Threads: attach() and detach() are [loop]; everything a plugin calls is [any].
// Errors:  misbehaviour is noted here, whichever thread met it; the catalogue shows it.
#pragma once

#include "core/loop.hpp"
#include "plugin/abi.hpp"
#include "plugin/links/instance.hpp"
#include "plugin/services/reactor.hpp"
#include "plugin/sign_in.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugin {

class ProcessService;
class HttpService;
class SignInServices;

// Ids that a manifest may require.
const std::vector<std::string>& offered_extensions();
// The entry of [grants] that gates `extension`; empty: none does.
std::string_view grant_for(std::string_view extension);

// What the host has one of, for all plugins. Null `http`: patchbay.host.http/1 is UNSUPPORTED.
struct Lent {
    HttpService* http = nullptr;
    SignIn sign_in;
};

class HostServices final : public Instance {
public:
    // `extensions`: what get_extension() may answer to this plugin.
    HostServices(std::string plugin, std::vector<std::string> extensions);
    ~HostServices();
    HostServices(const HostServices&) = delete;

    const std::string& plugin() const override { return plugin_; }
    const patchbay_host* host() const override { return &face_.table; }
    const patchbay_plugin* made() const override { return made_; }
    void entered(const patchbay_plugin* made) { made_ = made; }  // null: shut down, or left behind

    // What is lent outlives detach().
    void attach(core::Loop& loop, const Lent& lent = {});
    // Ends what the plugin left open; its calls are answered E_CLOSED from now on.
    void detach();

    void misbehaved(std::string what) override;
    // Empty: it behaves. [any]
    std::string misbehaviour() const;

    // What the plugin offers by that name, asked of its get_extension; null: nothing. [loop]
    const void* offered_by_plugin(const char* id);

    static HostServices& of(const patchbay_host* host);
    Reactor& reactor() { return reactor_; }
    const core::TimeSource& time() const { return *time_; }   // the loop's while attached [any]
    HttpService* http() { return http_; }                     // null when detached [any]
    SignInServices* sign_in() { return sign_in_.get(); }      // null when detached or not asked for
    ProcessService* processes() { return processes_.get(); }  // null when detached or not asked for

private:
    // First member the C struct, so that a plugin's pointer leads back to us.
    struct Face {
        patchbay_host table;
        HostServices* self;
    };

    bool has(std::string_view extension) const;
    const void* extension(std::string_view id);
    void log(int level, std::string_view text, const patchbay_kv* fields, std::size_t count) const;

    static const void* on_get_extension(const patchbay_host* host, const char* id) noexcept;
    static void on_log(const patchbay_host* host, std::int32_t level, patchbay_str text,
                       const patchbay_kv* fields, std::size_t count) noexcept;

    const std::string plugin_;
    const std::vector<std::string> extensions_;
    const patchbay_plugin* made_ = nullptr;
    Face face_;
    Reactor reactor_;
    std::unique_ptr<ProcessService> processes_;
    std::unique_ptr<SignInServices> sign_in_;
    std::atomic<HttpService*> http_{nullptr};
    std::atomic<const core::TimeSource*> time_{&core::machine_time()};
    mutable std::mutex mutex_;
    std::string misbehaviour_;  // guarded by mutex_
};

}  // namespace patchbay::plugin
