// A connection to an HTTP server that is up, and one exchange on it at a time. Nothing here waits:
// it sends what the socket takes and reads what has come, so any thread may do it.
//
// Owns:    the socket.
// Threads: one at a time.
// Errors:  Trouble. What goes wrong while sending is told by receive(): an answer may have come
//          all the same.
#pragma once

#include "net/body_decoder.hpp"
#include "net/byte_stream.hpp"
#include "net/head_parser.hpp"
#include "net/outgoing.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace patchbay::net {

class Connection {
public:
    static constexpr std::size_t kPiece = ByteStream::kPiece;

    Connection(Dialed dialed, const Url& url);
    Connection(const Connection&) = delete;

    int fd() const { return stream_.fd(); }
    // It leads to where `url` is.
    bool serves(const Url& url) const { return url.same_origin(url_); }

    // Begins an exchange; what `request` points to must last until it is over.
    void ask(const Url& url, const Outgoing& request, const HeaderList& secrets);
    // Sends on what is left of it.
    void flush();
    std::size_t unsent() const { return first_.size() + second_.size(); }
    // A byte of it has gone out.
    bool sent() const { return sent_; }
    // It goes on when the socket is writable.
    bool wants_to_write() const { return stream_.wants_to_write(); }

    // What has come, in `buffer`; nothing: not yet; empty: that was the end. Throws when the
    // connection broke.
    std::optional<std::string_view> receive(char (&buffer)[kPiece]);
    // Takes the head off the front of what came; nothing: more of it is to come.
    std::optional<Head> take_head(std::string_view& piece);
    // A byte of the answer has come; and all of its head.
    bool head_begun() const { return parser_.begun(); }
    bool answer_begun() const { return decoder_.has_value(); }
    // Once the head is there: what makes a body of what comes behind it.
    BodyDecoder& body() { return *decoder_; }
    // The answer is complete.
    bool answered() const { return decoder_ && decoder_->over(); }

    // It may be asked again: all is said on both sides and nothing beyond, the answer came behind the
    // whole request, and the server keeps it.
    bool reusable() const;
    // Nothing has come since, not even the end.
    bool fresh();
    // Shuts it down, which a watch of it notices.
    void end();

private:
    [[noreturn]] void broken(const std::string& why) const;

    ByteStream stream_;
    const Url url_;  // of its first request
    const std::string authority_;
    std::string request_;              // its head, and its body when that is small
    std::string_view first_, second_;  // what is still to be sent
    bool sent_ = false;                // a byte of it
    bool sending_ = false;             // some of it was left at the last flush()
    bool hasty_ = false;               // the answer began before all of it had gone
    HeadParser parser_;
    std::optional<BodyDecoder> decoder_;
    bool keeps_ = false;
};

}  // namespace patchbay::net
