// patchbay/cpp/plugin.hpp - the plugin ABI for C++17: owned bodies, a typed sink, and a transport
// table made from a class. Header only, std only.
//
//   class Echo : public patchbay::sdk::Channel { ... };
//   static const patchbay_transport kTable =
//       patchbay::sdk::transport_table<Echo>("echo", echo_schema, 0);
//
// A class for transport_table<T> derives from Channel and has
//   static std::unique_ptr<T> open(const patchbay_open_params&);   // throws sdk::Failure
// Threads: exactly those of plugin.h; nothing here locks or starts a thread.
// Errors:  throw Failure (or anything) inside open or send: the guard turns it into a status. What
//          happens later is told through Sink::closed or Sink::done.
#ifndef PATCHBAY_CPP_PLUGIN_HPP
#define PATCHBAY_CPP_PLUGIN_HPP

#include "../plugin.h"
#include "../services.h"

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::sdk {

inline std::string_view view(patchbay_str text) {
    return {text.data, text.size};
}
inline patchbay_str str(std::string_view text) {
    return {text.data(), text.size()};
}

// The longest prefix of at most `most` bytes that does not cut a code point.
inline std::string_view utf8_prefix(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    return text.substr(0, most);
}

// What others said, for a message: at most `most` bytes of it, then the mark of a cut, before which
// the host masks the beginning of a secret.
inline std::string excerpt(std::string_view text, std::size_t most) {
    std::string out(utf8_prefix(text, most));
    return out.size() < text.size() ? out + "..." : out;
}

// Fills all 512 bytes; text is cut at a code point.
inline void fill(patchbay_error& error, patchbay_status code, std::string_view text,
                 std::uint32_t flags = 0, std::int32_t native_code = 0) {
    error = {};
    error.code = code;
    error.flags = flags;
    error.native_code = native_code;
    text = utf8_prefix(text, sizeof error.message - 1);
    text.copy(error.message, text.size());
}

// Thrown by open(): the status and the text for people.
class Failure : public std::exception {
public:
    Failure(patchbay_status code, std::string text) : code_(code), text_(std::move(text)) {}
    patchbay_status code() const { return code_; }
    const char* what() const noexcept override { return text_.c_str(); }

private:
    patchbay_status code_;
    std::string text_;
};

// A body that was handed over: ours to release, copied first if it was only lent.
class Body {
public:
    Body() = default;
    explicit Body(const patchbay_buf& body) : buf_(body) {
        if (buf_.release || buf_.size == 0) return;
        auto* copy = new std::string(reinterpret_cast<const char*>(buf_.data), buf_.size);
        buf_ = {reinterpret_cast<const std::uint8_t*>(copy->data()), copy->size(), copy->size(),
                [](void* owner) noexcept { delete static_cast<std::string*>(owner); }, copy};
    }
    Body(Body&& other) noexcept : buf_(std::exchange(other.buf_, {})) {}
    Body& operator=(Body&& other) noexcept {
        std::swap(buf_, other.buf_);
        return *this;
    }
    ~Body() {
        if (buf_.release) buf_.release(buf_.owner);
    }
    std::string_view view() const { return {reinterpret_cast<const char*>(buf_.data), buf_.size}; }
    std::size_t size() const { return buf_.size; }

private:
    patchbay_buf buf_{};
};

// The largest inbound message the host takes; 16 MiB for a host that does not say.
inline std::size_t message_bytes(const patchbay_open_params* params) {
    constexpr std::size_t usual = std::size_t{16} << 20;
    return PATCHBAY_HAS(patchbay_open_params, params, message_bytes)
               ? static_cast<std::size_t>(params->message_bytes)
               : usual;
}

// The host side of one channel, typed. Copyable; borrows what open was given.
class Sink {
public:
    Sink() = default;
    explicit Sink(const patchbay_open_params& params) : sink_(params.sink), link_(params.link) {}

    void opened() const { sink_->opened(link_); }
    // PATCHBAY_OK or PATCHBAY_PAUSE.
    patchbay_status message(std::uint64_t exchange, const patchbay_buf& body) const {
        return sink_->message(link_, exchange, &body);
    }
    void done(std::uint64_t exchange) const { sink_->done(link_, exchange, PATCHBAY_OK, nullptr); }
    void done(std::uint64_t exchange, patchbay_status code, std::string_view text,
              std::uint32_t flags = 0) const {
        const auto problem = make_problem(code, text, flags);
        sink_->done(link_, exchange, code, &problem);
    }
    void done(std::uint64_t exchange, patchbay_status code, const patchbay_problem& problem) const {
        sink_->done(link_, exchange, code, &problem);
    }
    void challenge(const patchbay_problem& problem) const { sink_->challenge(link_, &problem); }
    void writable() const { sink_->writable(link_); }
    void closed() const { sink_->closed(link_, nullptr); }
    void closed(patchbay_status code, std::string_view text, std::uint32_t flags = 0) const {
        const auto problem = make_problem(code, text, flags);
        sink_->closed(link_, &problem);
    }
    void closed(const patchbay_problem& problem) const { sink_->closed(link_, &problem); }
    void output(std::uint32_t stream, std::string_view line) const {
        if (PATCHBAY_HAS(patchbay_sink, sink_, output)) sink_->output(link_, stream, str(line));
    }
    void fact(std::string_view name, std::string_view value) const {
        if (PATCHBAY_HAS(patchbay_sink, sink_, fact)) sink_->fact(link_, str(name), str(value));
    }

private:
    static patchbay_problem make_problem(patchbay_status code, std::string_view text,
                                         std::uint32_t flags) {
        patchbay_problem problem{};
        problem.struct_size = sizeof problem;
        fill(problem.error, code, text, flags);
        return problem;
    }

    const patchbay_sink* sink_ = nullptr;
    patchbay_link* link_ = nullptr;
};

// One open channel. Methods are called as the slots of patchbay_transport are.
class Channel {
public:
    virtual ~Channel() = default;
    virtual patchbay_status send(const patchbay_message& message, Body body) = 0;
    virtual void cancel(std::uint64_t exchange) { (void)exchange; }
    virtual void resume() {}
    virtual void settle(std::uint64_t exchange) { (void)exchange; }
    virtual void set_credentials(const patchbay_kv* credentials, std::size_t count) {
        (void)credentials, (void)count;
    }
    virtual void close() = 0;
};

// Runs `work`; nothing leaves but a status.
template <class Work>
patchbay_status guarded(patchbay_error* error, Work&& work) noexcept {
    try {
        return work();
    } catch (const Failure& failure) {
        if (error) fill(*error, failure.code(), failure.what());
        return failure.code();
    } catch (const std::exception& unexpected) {
        if (error) fill(*error, PATCHBAY_E_INTERNAL, unexpected.what());
    } catch (...) {
        if (error) fill(*error, PATCHBAY_E_INTERNAL, "unknown exception");
    }
    return PATCHBAY_E_INTERNAL;
}

namespace detail {

inline Channel* channel_of(patchbay_channel* channel) {
    return reinterpret_cast<Channel*>(channel);
}

}  // namespace detail

template <class T>
constexpr patchbay_transport transport_table(const char* name, const char* schema,
                                             std::uint32_t caps) {
    using detail::channel_of;
    patchbay_transport table{};
    table.struct_size = sizeof table;
    table.caps = caps;
    table.name = name;
    table.config_schema = schema;
    table.open = [](const patchbay_open_params* params, patchbay_channel** out,
                    patchbay_error* error) noexcept {
        return guarded(error, [&] {
            std::unique_ptr<Channel> channel = T::open(*params);
            *out = reinterpret_cast<patchbay_channel*>(channel.release());
            return patchbay_status{PATCHBAY_OK};
        });
    };
    table.send = [](patchbay_channel* channel, const patchbay_message* message) noexcept {
        return guarded(nullptr, [&] {
            Body body(message->body);  // ours from here on, whatever happens
            return channel_of(channel)->send(*message, std::move(body));
        });
    };
    table.cancel = [](patchbay_channel* channel, std::uint64_t exchange) noexcept {
        guarded(nullptr, [&] { return channel_of(channel)->cancel(exchange), PATCHBAY_OK; });
    };
    table.resume = [](patchbay_channel* channel) noexcept {
        guarded(nullptr, [&] { return channel_of(channel)->resume(), PATCHBAY_OK; });
    };
    if (caps & PATCHBAY_CAP_RESUME) {
        table.settle = [](patchbay_channel* channel, std::uint64_t exchange) noexcept {
            guarded(nullptr, [&] { return channel_of(channel)->settle(exchange), PATCHBAY_OK; });
        };
    }
    if (caps & PATCHBAY_CAP_CREDENTIALS) {
        table.set_credentials = [](patchbay_channel* channel, const patchbay_kv* credentials,
                                   std::size_t count) noexcept {
            guarded(nullptr, [&] {
                return channel_of(channel)->set_credentials(credentials, count), PATCHBAY_OK;
            });
        };
    }
    table.close = [](patchbay_channel* channel) noexcept {
        guarded(nullptr, [&] { return channel_of(channel)->close(), PATCHBAY_OK; });
    };
    table.destroy = [](patchbay_channel* channel) noexcept {
        guarded(nullptr, [&] {
            delete channel_of(channel);
            return PATCHBAY_OK;
        });
    };
    return table;
}

// The host's table for an extension id, or null.
template <class Table>
const Table* extension(const patchbay_host* host, const char* id) {
    return static_cast<const Table*>(host->get_extension(host, id));
}

}  // namespace patchbay::sdk

#endif
