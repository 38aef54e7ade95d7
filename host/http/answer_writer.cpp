#include "http/answer_writer.hpp"

#include <boost/beast/http/status.hpp>

#include <cstdio>
#include <utility>

namespace patchbay::http {
namespace beast = boost::beast::http;

namespace {

constexpr std::size_t kPieceBytes = 16u << 10;  // what is smaller is joined with what follows
constexpr std::size_t kHeadBytes = 256;         // of most answers

std::string_view reason_of(unsigned status) {
    const auto reason = beast::obsolete_reason(static_cast<beast::status>(status));
    return {reason.data(), reason.size()};
}

// `behind`: bytes that will follow it in the same string.
std::string head(unsigned status, const Headers& headers, bool keep, std::size_t behind = 0) {
    std::string head;
    head.reserve(kHeadBytes + behind);
    head.append("HTTP/1.1 ").append(std::to_string(status)).append(" ");
    head.append(reason_of(status)).append("\r\n");
    for (const auto& [name, value] : headers)
        head.append(name).append(": ").append(value).append("\r\n");
    if (!keep) head += "Connection: close\r\n";
    return head;
}

}  // namespace

void AnswerWriter::answer(unsigned status, const Headers& headers, bool keep, std::string body) {
    const bool joined = body.size() <= kPieceBytes;
    auto first = head(status, headers, keep, joined ? body.size() : 0);
    // Neither has one, and neither says that it is empty.
    if (status != 204 && status != 304)
        first.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    first.append("\r\n");
    if (head_only_) body.clear();
    if (joined) first.append(body);
    put(std::move(first));
    if (!joined && !body.empty()) put(std::move(body));
}

void AnswerWriter::begin(const Headers& headers, bool keep) {
    put(head(200, headers, keep) + (chunked_ ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n"));
}

void AnswerWriter::write(std::string_view bytes) {
    if (bytes.empty()) return;
    if (!chunked_) return put(std::string(bytes));
    char size[2 * sizeof(std::size_t) + 3];
    const int digits = std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    std::string chunk;
    chunk.reserve(static_cast<std::size_t>(digits) + bytes.size() + 2);
    put(std::move(
        chunk.append(size, static_cast<std::size_t>(digits)).append(bytes).append("\r\n")));
}

void AnswerWriter::end() {
    if (chunked_) put("0\r\n\r\n");
}

void AnswerWriter::put(std::string bytes) {
    bytes_ += bytes.size();
    if (!out_.empty() && out_.back().size() + bytes.size() <= kPieceBytes)
        out_.back() += bytes;
    else
        out_.push_back(std::move(bytes));
}

std::span<const std::string_view> AnswerWriter::pieces(Pieces& room) const {
    std::size_t count = 0;
    for (const auto& each : out_) {
        if (count == room.size()) break;
        room[count] = each;
        if (count == 0) room[count].remove_prefix(begin_);
        ++count;
    }
    return {room.data(), count};
}

void AnswerWriter::taken(std::size_t count) {
    begin_ += count;
    auto left = out_.begin();
    for (; left != out_.end() && begin_ >= left->size(); ++left) {
        begin_ -= left->size();
        bytes_ -= left->size();
    }
    out_.erase(out_.begin(), left);
}

void AnswerWriter::clear() {
    out_.clear();
    bytes_ = begin_ = 0;
}

}  // namespace patchbay::http
