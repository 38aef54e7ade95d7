#include "net/body_decoder.hpp"

#include "ascii.hpp"
#include "net/head_parser.hpp"
#include "net/trouble.hpp"

#include <Poco/Exception.h>
#include <Poco/InflatingStream.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace patchbay::net {
namespace {

constexpr std::size_t kInflatedAtOnce = 256;  // bytes, each of which may become a thousand
constexpr std::size_t kProbe = 1024;          // more than the tables of one block of gzip are
constexpr std::size_t kRoom = 1u << 20;       // made at once for what a server only says will come

[[noreturn]] void refuse_body(const std::string& why) {
    throw Trouble(PATCHBAY_E_PROTOCOL, "the answer is not HTTP/1.1: " + why);
}

template <class Number>
bool read_number(std::string_view text, Number& number, int base) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() &&
           text.front() != '-';
}

}  // namespace

// Writes what it unpacks into a string that is emptied after every piece.
struct BodyDecoder::Gunzip {
    std::ostringstream unpacked;
    Poco::InflatingOutputStream stream{unpacked, Poco::InflatingStreamBuf::STREAM_GZIP};
};

BodyDecoder::BodyDecoder(const Head& head) {
    try {
        read(head);
    } catch (const Trouble& trouble) {
        unreadable_ = std::make_unique<Trouble>(trouble);
    }
}

void BodyDecoder::check() const {
    if (unreadable_) throw Trouble(*unreadable_);
}

void BodyDecoder::read(const Head& head) {
    // These have no body, whatever else the header says (RFC 9112 section 6.3).
    if (head.status == 204 || head.status == 304 || head.status < 200) {
        kind_ = Kind::Length;
        state_ = State::Over;
        return;
    }
    // A length that can be read in two ways is refused: a proxy on the way may have read the other one,
    // and what is left of this body would be taken for the next answer.
    std::string length;
    bool chunked = false;
    for (const auto& [name, value] : head.fields) {
        if (ascii::same(name, "transfer-encoding")) {
            if (!ascii::same(value, "chunked") || chunked)
                refuse_body("a Transfer-Encoding that is not chunked");
            chunked = true;
        } else if (ascii::same(name, "content-length")) {
            if (!length.empty() && length != value)
                refuse_body("two different values of Content-Length");
            length = value;
            if (!read_number(value, left_, 10)) refuse_body("its Content-Length is not a number");
        }
    }
    if (chunked && !length.empty()) refuse_body("both Transfer-Encoding and Content-Length");
    if (chunked) {
        kind_ = Kind::Chunked;
        state_ = State::SizeLine;
        left_ = 0;
    } else if (!length.empty()) {
        kind_ = Kind::Length;
        if (left_ == 0) state_ = State::Over;
    }
    const auto encoding = head.value("content-encoding");
    if (ascii::same(encoding, "gzip") || ascii::same(encoding, "x-gzip"))
        gunzip_ = std::make_unique<Gunzip>();
    else if (!encoding.empty() && !ascii::same(encoding, "identity"))
        throw Trouble(PATCHBAY_E_PROTOCOL,
                      "the answer has a Content-Encoding that was not asked for");
}

BodyDecoder::~BodyDecoder() = default;

std::size_t BodyDecoder::feed(std::string_view bytes, std::string& into, std::size_t most,
                              std::size_t enough) {
    check();
    const auto all = bytes.size();
    while (!bytes.empty() && (into.size() < enough || state_ == State::Over)) {
        switch (state_) {
            case State::Data:
                take(bytes, into, most);
                break;
            case State::Over:
                surplus_ += bytes.size();
                return all;
            default:
                take_line(bytes.front());
                bytes.remove_prefix(1);
        }
    }
    return all - bytes.size();
}

void BodyDecoder::take(std::string_view& bytes, std::string& into, std::size_t most) {
    std::size_t size = bytes.size();
    if (kind_ != Kind::UntilClose)
        size = static_cast<std::size_t>(std::min<std::uint64_t>(size, left_));
    if (gunzip_) size = std::min(size, kInflatedAtOnce);
    if (kind_ == Kind::Length && into.empty())
        into.reserve(static_cast<std::size_t>(std::min<std::uint64_t>({left_, most, kRoom})));
    append(bytes.substr(0, size), into, most);
    bytes.remove_prefix(size);
    if (kind_ == Kind::UntilClose) return;
    left_ -= size;
    if (left_ > 0) return;
    state_ = kind_ == Kind::Chunked ? State::DataEnd : State::Over;
}

void BodyDecoder::take_line(char byte) {
    if (byte != '\n') {
        if (line_.size() >= kLineBytes) refuse_body("a line of a chunk is longer than 4096 bytes");
        line_ += byte;
        return;
    }
    const bool returned = !line_.empty() && line_.back() == '\r';
    if (returned) line_.pop_back();
    const auto line = std::exchange(line_, {});
    // Others may take it for the end of the line, and see another chunk behind it.
    if (line.find('\r') != line.npos) refuse_body("a control character in a line of a chunk");
    switch (state_) {
        case State::SizeLine: {
            auto size = std::string_view(line).substr(0, line.find(';'));
            while (!size.empty() && (size.back() == ' ' || size.back() == '\t'))
                size.remove_suffix(1);
            // 15 digits are far more than any chunk has, and fit into `left_`.
            if (size.size() > 15 || !read_number(size, left_, 16))
                refuse_body("a chunk without a size");
            state_ = left_ > 0 ? State::Data : State::Trailer;
            break;
        }
        case State::DataEnd:
            // A line feed alone may be what follows a carriage return of the data, one byte too late.
            if (!returned || !line.empty()) refuse_body("a chunk that is longer than its size");
            state_ = State::SizeLine;
            break;
        default:
            if (line.empty())
                state_ = State::Over;
            else if (++trailers_ > kTrailerLines)
                refuse_body("more than 100 trailers");
    }
}

void BodyDecoder::append(std::string_view data, std::string& into, std::size_t most) {
    const auto add = [&](std::string_view piece) {
        if (into.size() + piece.size() > most)
            throw Trouble(PATCHBAY_E_LIMIT, "the answer has more than " + std::to_string(most) +
                                                " bytes (limit message_bytes)");
        into += piece;
    };
    if (!gunzip_) return add(data);
    try {
        gunzip_->stream.write(data.data(), static_cast<std::streamsize>(data.size()));
        gunzip_->stream.flush();
    } catch (const Poco::Exception&) {
        gunzip_->stream.setstate(std::ios::badbit);
    }
    if (!gunzip_->stream) refuse_body("its gzip is broken");
    add(gunzip_->unpacked.str());
    gunzip_->unpacked.str({});
}

// Poco does not tell the end of a gzip. What stands behind one is passed over; where more is awaited
// it unpacks to something or is an error: ones are a block of no known type and a wrong checksum, and
// zeros end a name that the ones would go on with.
bool BodyDecoder::torn() {
    if (!gunzip_) return false;
    std::string rest;
    try {
        append(std::string(kProbe, '\xff') + std::string(kProbe, '\0'), rest, SIZE_MAX);
    } catch (const Trouble&) {
        return true;
    }
    return !rest.empty();
}

void BodyDecoder::finish() {
    check();
    if (state_ == State::Over) return;
    if (kind_ == Kind::UntilClose) {
        state_ = State::Over;
        return;
    }
    throw Trouble(PATCHBAY_E_CLOSED,
                  kind_ == Kind::Length
                      ? "the answer was cut off: " + std::to_string(left_) +
                            " bytes of its Content-Length are missing"
                      : std::string("the answer was cut off before its last chunk"));
}

}  // namespace patchbay::net
