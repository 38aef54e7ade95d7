// The requests of one connection, read from whatever pieces of bytes come: the head of one, when that is wanted its
// body, then the next; or why there will be none. Internal to this room. The door to Boost.Beast's parser.
//
// What two readers of one request could understand in two ways is refused.
//
// Owns:    the bytes that no request has taken yet.
// Threads: [value].
// Errors:  refusal(), behind which nothing is read.
// Limits:  those of the server, of the head and of the body; how long may be waited is the connection's.
// Source:  RFC 9112.
#pragma once

#include "http/exchange.hpp"
#include "http/server.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::http {

class RequestReader {
public:
    enum class Step {
        Nothing,  // more has to come
        Begun,    // of the next request
        Head,     // is read, and makes sense: take_head()
        Whole,    // take_body()
        Refused,  // refusal() says why
    };
    struct Refusal {
        unsigned status = 0;
        std::string why;
    };

    explicit RequestReader(const Limits& limits);
    ~RequestReader();
    RequestReader(const RequestReader&) = delete;

    void append(const char* bytes, std::size_t count) { in_.append(bytes, count); }
    std::size_t unread() const { return in_.size(); }
    // Whatever is asked is answered with that there are too many connections.
    void refuse_all() { full_ = true; }

    // What has come of it next. Behind Begun and Head there may be more at once. Nothing of a body is read
    // before it is asked for what comes behind Head.
    Step next();
    const Refusal& refusal() const { return refusal_; }
    Request take_head();
    std::string take_body();
    void drop();  // what of a request has been read
    void drop_unread() { in_.clear(); }
    // A connection at rest keeps little room.
    void rest();

    std::size_t body_bytes() const;  // read so far
    // Of the request that was begun last.
    bool head_only() const { return head_only_; }    // HEAD: an answer has no body
    bool chunked() const { return version_ == 11; }  // an answer may be
    bool keeps_alive() const { return keeps_alive_; }
    bool waits_to_send() const { return waits_to_send_; }  // its body, for a 100 Continue

private:
    class Parser;

    void begin();
    Step parse();
    Step refuse(unsigned status, std::string why);
    Step judge_head();
    Step judge_fields(const Request& request);

    const Limits& limits_;
    std::string in_;                  // that no parser has taken
    std::unique_ptr<Parser> parser_;  // while a request is being read
    Refusal refusal_;
    int version_ = 11;
    bool full_ = false, head_only_ = false, keeps_alive_ = true, waits_to_send_ = false;
};

}  // namespace patchbay::http
