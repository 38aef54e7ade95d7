#include "http/request_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <cstdint>
#include <utility>

namespace patchbay::http {
namespace beast = boost::beast::http;

namespace {

constexpr std::size_t kKeptBytes = 1u << 10;  // of room, by a connection at rest
constexpr std::size_t kUsualHeaders = 12;     // of a request

std::string lower(std::string_view text) {
    std::string result(text);
    for (auto& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

// A field that goes on in another line: what one reader joins is to another a field of its own (RFC
// 9112 section 5.2). `in` begins with a whole head, of which Beast has taken every line.
bool is_folded(std::string_view in) {
    for (auto end = in.find('\n'); end != in.npos && end + 1 < in.size();
         end = in.find('\n', end + 1)) {
        const char next = in[end + 1];
        if (next == '\r') return false;  // the empty line behind it
        if (next == ' ' || next == '\t') return true;
    }
    return false;
}

// Beast looks for the end of a line that is one here, and would wait for more of it.
bool has_bare_line_feed(std::string_view in) {
    for (auto at = in.find('\n'); at != in.npos; at = in.find('\n', at + 1))
        if (at == 0 || in[at - 1] != '\r') return true;
    return false;
}

// A proxy's form of a target says the host itself.
void split_absolute_target(Request& request) {
    const auto scheme = lower(std::string_view(request.target).substr(0, 7));
    if (scheme != "http://") return;
    const auto slash = request.target.find('/', scheme.size());
    const auto host = request.target.substr(scheme.size(), slash - scheme.size());
    for (auto& [name, value] : request.headers)
        if (name == "host") value = host;
    request.target = slash == std::string::npos ? "/" : request.target.substr(slash);
}

}  // namespace

// What Beast finds goes straight into the request that is handed on.
class RequestReader::Parser final : public beast::basic_parser<true> {
public:
    Request request;
    int version = 0;
    bool head_judged = false;

private:
    using Code = boost::beast::error_code;
    using Text = boost::beast::string_view;

    static std::string_view view(Text text) { return {text.data(), text.size()}; }

    void on_request_impl(beast::verb, Text method, Text target, int spoken, Code&) override {
        request.method = view(method);
        request.target = view(target);
        request.headers.reserve(kUsualHeaders);
        version = spoken;
    }
    void on_response_impl(int, Text, int, Code&) override {}
    // A trailer is nothing of the head: what stands in front of us looks for it there alone, and we
    // would take for a header what it has taken away or set itself (RFC 9110 section 6.5.1).
    void on_field_impl(beast::field, Text name, Text value, Code&) override {
        if (!head_done_) request.headers.emplace_back(lower(view(name)), view(value));
    }
    void on_header_impl(Code&) override { head_done_ = true; }
    void on_body_init_impl(const boost::optional<std::uint64_t>& length, Code&) override {
        request.body.reserve(static_cast<std::size_t>(length.value_or(0)));
    }
    std::size_t on_body_impl(Text part, Code&) override {
        request.body.append(part.data(), part.size());
        return part.size();
    }
    // Beast takes a line feed within quotes; to others a line ends there.
    void on_chunk_header_impl(std::uint64_t, Text extension, Code& failed) override {
        if (extension.find('\n') != Text::npos) failed = beast::error::bad_chunk_extension;
    }
    std::size_t on_chunk_body_impl(std::uint64_t, Text part, Code&) override {
        request.body.append(part.data(), part.size());
        return part.size();
    }
    void on_finish_impl(Code&) override {}

    bool head_done_ = false;
};

RequestReader::RequestReader(const Limits& limits) : limits_(limits) {}
RequestReader::~RequestReader() = default;

void RequestReader::begin() {
    parser_ = std::make_unique<Parser>();
    parser_->header_limit(static_cast<std::uint32_t>(limits_.head_bytes));
    parser_->body_limit(limits_.body_bytes);
    head_only_ = false;
}

RequestReader::Step RequestReader::next() {
    if (parser_) return parse();
    // Empty lines before a request are passed over.
    in_.erase(0, in_.find_first_not_of("\r\n"));
    if (in_.empty()) return Step::Nothing;
    begin();
    return Step::Begun;
}

RequestReader::Step RequestReader::parse() {
    // Each step but Nothing is looked at before what follows it: here goes on what was left then.
    while (!parser_->is_done() && !in_.empty()) {
        boost::beast::error_code failed;
        const auto taken = parser_->put(boost::asio::buffer(in_), failed);
        const bool head_is_new = parser_->is_header_done() && !parser_->head_judged;
        const bool folded = head_is_new && is_folded(in_);
        in_.erase(0, taken);
        if (folded) return refuse(400, "a field of the head goes on in another line");
        if (failed == beast::error::header_limit)
            return refuse(431, "the head of the request is over " +
                                   std::to_string(limits_.head_bytes) + " bytes");
        if (failed == beast::error::body_limit)
            return refuse(413, "the body of the request is over " +
                                   std::to_string(limits_.body_bytes) + " bytes");
        if (failed && failed != beast::error::need_more)
            return refuse(400, "this is no HTTP/1.1 request: " + failed.message());
        if (head_is_new) return judge_head();
        if (parser_->is_done()) break;
        // The parser has no limit for a line between two chunks, nor for what stands behind the last.
        if (in_.size() > limits_.head_bytes)
            return refuse(431,
                          "a line between the chunks of a body, or what stands behind them, is "
                          "over " +
                              std::to_string(limits_.head_bytes) + " bytes");
        if (failed == beast::error::need_more || taken == 0) {
            const bool lines = !parser_->is_header_done() || parser_->chunked();
            if (lines && has_bare_line_feed(in_))
                return refuse(400, "a line ends with CR and LF, and here one ends with LF alone");
            return Step::Nothing;
        }
    }
    return parser_->is_done() ? Step::Whole : Step::Nothing;
}

RequestReader::Step RequestReader::refuse(unsigned status, std::string why) {
    refusal_ = {status, std::move(why)};
    parser_.reset();
    return Step::Refused;
}

RequestReader::Step RequestReader::judge_head() {
    parser_->head_judged = true;
    parser_->eager(true);
    const auto& request = parser_->request;
    version_ = parser_->version;
    head_only_ = request.method == "HEAD";
    keeps_alive_ = parser_->keep_alive();
    // Whoever speaks HTTP/1.0 would take it for the answer (RFC 9110, 10.1.1).
    waits_to_send_ = !parser_->is_done() && version_ == 11 && request.header("expect");
    if (full_) return refuse(429, "too many connections; try again later");
    if (version_ != 11 && version_ != 10) return refuse(505, "HTTP/1.1 is spoken here");
    return judge_fields(request);
}

RequestReader::Step RequestReader::judge_fields(const Request& request) {
    const auto codings = request.count("transfer-encoding");
    const auto lengths = request.count("content-length");
    if (codings > 0) {
        if (codings > 1 || lower(*request.header("transfer-encoding")) != "chunked")
            return refuse(501, "no transfer coding but chunked is known");
        if (version_ == 10)
            return refuse(400, "HTTP/1.0 has no Transfer-Encoding; say Content-Length there");
        if (lengths > 0) return refuse(400, "the length of the body is said twice");
    }
    // "2, 2" is a length to some.
    const auto* length = request.header("content-length");
    if (lengths > 1 || (length && length->find_first_not_of("0123456789") != length->npos))
        return refuse(400, "the length of the body is said twice");
    const auto hosts = request.count("host");
    if (hosts > 1 || (version_ == 11 && hosts == 0))
        return refuse(400, "a request has one Host header");
    if (request.method == "POST" && codings == 0 && lengths == 0)
        return refuse(411, "a POST says how long its body is");
    const auto* expected = request.header("expect");
    if (expected && version_ == 11 && lower(*expected) != "100-continue")
        return refuse(417, "only 100-continue can be expected");
    return Step::Head;
}

Request RequestReader::take_head() {
    auto& read = parser_->request;
    Request request{std::move(read.method), std::move(read.target), std::move(read.headers), {}};
    split_absolute_target(request);
    return request;
}

std::string RequestReader::take_body() {
    auto body = std::move(parser_->request.body);
    parser_.reset();
    return body;
}

void RequestReader::drop() {
    parser_.reset();
}

void RequestReader::rest() {
    if (in_.empty() && in_.capacity() > kKeptBytes) in_ = {};
}

std::size_t RequestReader::body_bytes() const {
    return parser_ ? parser_->request.body.size() : 0;
}

}  // namespace patchbay::http
