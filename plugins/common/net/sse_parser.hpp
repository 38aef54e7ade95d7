// Server-sent events out of bytes that are cut anywhere. No I/O.
//
// Threads: [value]. Errors: an event beyond the limit ends the stream (feed() is false).
// Limits:  `most` bytes of one event's data, its lines in progress included.
// Follows: HTML Living Standard, 9.2.6 "Interpreting an event stream". Beyond it, an id that cannot
//          be sent as Last-Event-ID (control characters, space at an end, over 8192 bytes) is
//          passed over as one with a NUL is.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace patchbay::net {

class SseParser {
public:
    struct Event {
        std::string type;  // "message" unless the server named it
        std::string data;
    };
    using Handler = std::function<void(Event&&)>;
    using Taker = std::function<bool(Event&&)>;  // false: no more for now

    explicit SseParser(std::size_t most) : most_(most) {}

    // Calls `handler` for every event that is complete; what is cut off by the end of the stream is
    // no event. False: one grew too large.
    bool feed(std::string_view bytes, const Handler& handler);
    // The same as long as `taker` takes events; what is left of `bytes` begins after the last one.
    bool feed_some(std::string_view& bytes, const Taker& taker);
    // The next bytes are of a new stream; the last id and the retry time stay.
    void restart();

    // The bytes so far end in the middle of an event with data.
    bool in_event() const { return has_data_ || pending_.rfind("data", 0) == 0; }
    const std::string& last_id() const { return last_id_; }
    long retry_ms() const { return retry_ms_; }  // -1: the server has not said

private:
    bool line(std::string_view text, const Taker& taker);  // false: no more for now
    void field(std::string_view name, std::string_view value);
    bool dispatch(const Taker& taker);

    const std::size_t most_;
    std::string pending_;  // of a line whose end has not come
    std::string type_, data_, id_, last_id_;
    bool has_data_ = false, has_id_ = false, after_cr_ = false;
    std::size_t bom_ = 0;  // its bytes seen; 3: past it
    long retry_ms_ = -1;
};

}  // namespace patchbay::net
