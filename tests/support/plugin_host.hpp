// A transport plugin under test: the built library with the host's real services on a real loop,
// and a sink that records what the plugin tells and judges it by the contract of plugin.h.
#pragma once

#include "core/loop.hpp"
#include "plugin/abi.hpp"
#include "plugin/services/host_services.hpp"
#include "support/turned_timers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <dlfcn.h>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::test {

// A loaded plugin. Never unmapped, as in the host.
class PluginHost {
public:
    using Entry = patchbay_status(const patchbay_host*, const patchbay_plugin**, patchbay_error*);

    PluginHost(core::Loop& loop, const std::string& name)
        : services_("dev.patchbay." + name, plugin::offered_extensions()) {
        services_.attach(loop);
        const auto path = std::string(PATCHBAY_BUILD_DIR) + "/lib/patchbay/plugins/" + name +
                          "/libpatchbay_" + name + ".so";
        void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) throw std::runtime_error(::dlerror());
        enter(path, reinterpret_cast<Entry*>(::dlsym(library, "patchbay_plugin_entry_0")));
    }
    // One that is linked into the test.
    PluginHost(core::Loop& loop, const std::string& name, Entry* entry)
        : services_("dev.patchbay." + name, plugin::offered_extensions()) {
        services_.attach(loop);
        enter(name, entry);
    }
    ~PluginHost() {
        if (plugin_ && plugin_->shutdown) plugin_->shutdown(plugin_);
        services_.detach();
    }

    template <class Table>
    const Table* extension(const char* id) const {
        return static_cast<const Table*>(plugin_->get_extension(plugin_, id));
    }

    const patchbay_plugin* plugin() const { return plugin_; }
    const patchbay_transport& transport() const { return *plugin_->transports[0]; }
    const patchbay_host* host() const { return turned_ ? turned_->host() : services_.host(); }
    std::string misbehaviour() const { return services_.misbehaviour(); }

    // From now on: for channels that are opened, once.
    void turn_timers(std::uint64_t divisor) { turned_.emplace(services_.host(), divisor); }
    std::vector<std::chrono::milliseconds> timers() const { return turned_->asked(); }

private:
    void enter(const std::string& path, Entry* entry) {
        patchbay_error error{};
        if (!entry || entry(services_.host(), &plugin_, &error) != PATCHBAY_OK)
            throw std::runtime_error(path + ": " + error.message);
    }

    plugin::HostServices services_;
    const patchbay_plugin* plugin_ = nullptr;
    std::optional<TurnedTimers> turned_;
};

// One channel, driven as the host would, by a test on the loop's thread.
class PluginChannel {
public:
    struct End {
        patchbay_status status = PATCHBAY_OK;
        std::string text;
        std::uint32_t flags = 0;
        std::uint64_t exchange = 0;  // 0: the channel
    };

    PluginChannel(core::Loop& loop, PluginHost& host)
        : loop_(loop), host_(host), table_(host.transport()) {}
    ~PluginChannel() {
        if (!channel_) return;
        close();
        until([this] { return closed(); });
        destroy();
    }

    patchbay_status open(const std::string& settings,
                         const std::vector<patchbay_kv>& credentials = {}) {
        patchbay_open_params params{};
        params.struct_size = sizeof params;
        params.host = host_.host();
        params.sink = &kSink;
        params.link = reinterpret_cast<patchbay_link*>(this);
        params.server = plugin::str("demo");
        params.config = plugin::str(settings);
        params.credentials = credentials.data();
        params.credential_count = credentials.size();
        params.plugin = host_.plugin();
        patchbay_error error{};
        const auto status = table_.open(&params, &channel_, &error);
        refusal = error.message;
        return status;
    }

    // A body that is counted: given once, released once.
    patchbay_status send(std::string text, const std::string& method = {}) {
        struct Counted {
            std::string text;
            std::atomic<int>* released;
        };
        auto* const counted = new Counted{std::move(text), &released};
        patchbay_message message{};
        message.struct_size = sizeof message;
        message.kind = PATCHBAY_MSG_REQUEST;
        message.exchange = ++last_exchange;
        message.method = plugin::str(method);
        message.protocol = plugin::str(protocol);
        message.body = {reinterpret_cast<const std::uint8_t*>(counted->text.data()),
                        counted->text.size(), counted->text.size(),
                        [](void* owner) {
                            auto* const mine = static_cast<Counted*>(owner);
                            ++*mine->released;
                            delete mine;
                        },
                        counted};
        ++given;
        {
            const std::scoped_lock lock(mutex_);
            running_.insert(message.exchange);
        }
        const auto status = table_.send(channel_, &message);
        if (status < 0) {
            const std::scoped_lock lock(mutex_);
            running_.erase(message.exchange);
        } else {
            ++accepted;
        }
        return status;
    }

    void cancel(std::uint64_t exchange) { table_.cancel(channel_, exchange); }
    void resume() { table_.resume(channel_); }
    void settle(std::uint64_t exchange) { table_.settle(channel_, exchange); }
    void set_credentials(const std::vector<patchbay_kv>& fresh) {
        table_.set_credentials(channel_, fresh.data(), fresh.size());
    }
    void close() { table_.close(channel_); }
    void destroy() {
        const std::scoped_lock lock(mutex_);  // an event that another thread tells is over
        if (channel_) table_.destroy(std::exchange(channel_, nullptr));
    }

    // False after 20 s.
    bool until(const std::function<bool()>& happened) {
        return loop_.run_until(happened, core::Clock::now() + std::chrono::seconds(20));
    }

    bool opened() const { return opened_ > 0; }
    bool closed() const { return closed_ > 0; }
    bool opened_or_closed() const { return opened() || closed(); }
    // Blocks the calling thread; for tests that destroy from a thread of their own.
    void wait_closed() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ > 0; });
    }
    std::size_t running() {
        const std::scoped_lock lock(mutex_);
        return running_.size();
    }
    // How many exchanges have ended with this.
    std::size_t ended_with(patchbay_status status) {
        const std::scoped_lock lock(mutex_);
        return static_cast<std::size_t>(std::count_if(
            done.begin(), done.end(), [&](const End& each) { return each.status == status; }));
    }
    std::size_t ended() {
        const std::scoped_lock lock(mutex_);
        return done.size();
    }
    // Of one exchange; nothing: it has not ended.
    std::optional<End> end_of_exchange(std::uint64_t exchange) {
        const std::scoped_lock lock(mutex_);
        for (const auto& each : done) {
            if (each.exchange == exchange) return each;
        }
        return std::nullopt;
    }
    End last_end() {
        const std::scoped_lock lock(mutex_);
        return done.empty() ? End{} : done.back();
    }
    std::size_t message_count() {
        const std::scoped_lock lock(mutex_);
        return messages.size();
    }
    int writable_count() {
        const std::scoped_lock lock(mutex_);
        return writable;
    }
    std::vector<std::string> sorted_messages() {
        const std::scoped_lock lock(mutex_);
        auto sorted = messages;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }
    std::string fact(const std::string& name) {
        const std::scoped_lock lock(mutex_);
        for (auto each = facts_.rbegin(); each != facts_.rend(); ++each) {
            if (each->first == name) return each->second;
        }
        return {};
    }

    // Answers PAUSE to a message, and no message may follow until the test resumes.
    std::function<bool(std::size_t messages)> pause_after;

    std::string refusal;
    std::vector<std::string> messages, stray, errors;  // errors: stderr
    std::vector<End> done;
    End end;
    std::vector<std::string> faults;  // of the plugin
    std::vector<End> challenges;
    std::atomic<int> released{0};
    int given = 0, accepted = 0, writable = 0;
    std::uint64_t last_exchange = 0;
    bool keep_bodies = true;
    bool signs_in = false;  // a challenge for credentials is no fault
    std::string protocol;   // of what is sent from now on
    std::size_t received_bytes = 0;

private:
    static PluginChannel& of(patchbay_link* link) {
        return *reinterpret_cast<PluginChannel*>(link);
    }

    template <class Work>
    void event(const char* name, Work work) {
        const std::scoped_lock lock(mutex_);
        if (closed_ > 0) faults.push_back(std::string(name) + " after closed");
        work();
        changed_.notify_all();
        // A transport with threads of its own tells it from one of them. Under the lock: somebody
        // may be pumping, who destroys the channel once that is free.
        loop_.post([] {});
    }
    static End end_of(patchbay_status status, const patchbay_problem* problem) {
        return {status, problem ? problem->error.message : "", problem ? problem->error.flags : 0,
                0};
    }

    static void on_opened(patchbay_link* link) {
        of(link).event("opened", [&] {
            if (++of(link).opened_ > 1) of(link).faults.push_back("opened twice");
        });
    }
    static patchbay_status on_message(patchbay_link* link, std::uint64_t,
                                      const patchbay_buf* body) {
        auto& self = of(link);
        patchbay_status status = PATCHBAY_OK;
        self.event("message", [&] {
            const std::string text(reinterpret_cast<const char*>(body->data), body->size);
            if (body->capacity < body->size)
                self.faults.push_back("a body with less capacity than size");
            if (self.keep_bodies) self.messages.push_back(text);
            self.received_bytes += body->size;
            if (self.pause_after && self.pause_after(self.messages.size())) status = PATCHBAY_PAUSE;
        });
        if (body->release) body->release(body->owner);
        return status;
    }
    static void on_done(patchbay_link* link, std::uint64_t exchange, patchbay_status status,
                        const patchbay_problem* problem) {
        auto& self = of(link);
        self.event("done", [&] {
            if (self.running_.erase(exchange) == 0)
                self.faults.push_back("done for an exchange that is not open");
            self.done.push_back(end_of(status, problem));
            self.done.back().exchange = exchange;
        });
    }
    static void on_writable(patchbay_link* link) {
        of(link).event("writable", [&] { ++of(link).writable; });
    }
    static void on_challenge(patchbay_link* link, const patchbay_problem* problem) {
        of(link).event("challenge", [&] {
            if (problem->error.code != PATCHBAY_E_SESSION && !of(link).signs_in)
                of(link).faults.push_back("a challenge from a transport without auth");
            of(link).challenges.push_back(end_of(problem->error.code, problem));
        });
    }
    static void on_closed(patchbay_link* link, const patchbay_problem* problem) {
        auto& self = of(link);
        self.event("closed", [&] {
            if (!self.running_.empty())
                self.faults.push_back("closed with exchanges that are not done");
            self.end = end_of(problem ? problem->error.code : PATCHBAY_OK, problem);
            ++self.closed_;
        });
    }
    static void on_output(patchbay_link* link, std::uint32_t stream, patchbay_str line) {
        auto& self = of(link);
        self.event("output", [&] {
            (stream == PATCHBAY_OUTPUT_STDERR ? self.errors : self.stray)
                .emplace_back(plugin::view(line));
        });
    }
    static void on_fact(patchbay_link* link, patchbay_str name, patchbay_str value) {
        of(link).event(
            "fact", [&] { of(link).facts_.emplace_back(plugin::view(name), plugin::view(value)); });
    }
    static constexpr patchbay_sink kSink = {
        sizeof(patchbay_sink), 0,         on_opened, on_message, on_done, on_writable,
        on_challenge,          on_closed, on_output, on_fact};

    core::Loop& loop_;
    PluginHost& host_;
    const patchbay_transport& table_;
    patchbay_channel* channel_ = nullptr;
    std::mutex mutex_;  // guards what events touch
    std::condition_variable changed_;
    std::set<std::uint64_t> running_;
    std::vector<std::pair<std::string, std::string>> facts_;
    std::atomic<int> opened_{0}, closed_{0};
};

}  // namespace patchbay::test
