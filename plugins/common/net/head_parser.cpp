#include "net/head_parser.hpp"

#include "ascii.hpp"
#include "net/trouble.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace patchbay::net {
namespace {

constexpr std::string_view kVersion = "HTTP/1.";

[[noreturn]] void refuse_head(const char* why) {
    throw Trouble(PATCHBAY_E_CLOSED, std::string("the answer is not HTTP: ") + why);
}

bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

}  // namespace

// ---- Head

std::string_view Head::value(std::string_view name) const {
    for (const auto& field : fields)
        if (ascii::same(field.first, name)) return field.second;
    return {};
}

std::string Head::media_type() const {
    const auto type = value("content-type");
    return ascii::lower(trimmed(type.substr(0, type.find(';'))));
}

bool Head::keeps() const {
    bool kept = persistent;
    for (const auto& [name, value] : fields) {
        if (!ascii::same(name, "connection")) continue;
        const auto options = ascii::lower(value);
        if (options.find("close") != options.npos) return false;
        if (options.find("keep-alive") != options.npos) kept = true;
    }
    return kept && status != 101;
}

std::optional<std::chrono::seconds> Head::keep_alive() const {
    const auto said = ascii::lower(value("keep-alive"));
    constexpr std::string_view kTimeout = "timeout=";
    const auto at = said.find(kTimeout);
    if (at == said.npos) return {};
    unsigned seconds = 0;
    const auto* const begin = said.data() + at + kTimeout.size();
    const auto read = std::from_chars(begin, said.data() + said.size(), seconds);
    if (read.ec != std::errc()) return {};
    return std::chrono::seconds(seconds);
}

// ---- HeadParser

bool HeadParser::feed(std::string_view& bytes) {
    begun_ = begun_ || !bytes.empty();
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        const auto piece = bytes.substr(0, end);
        if (line_.size() + piece.size() > kLineBytes)
            refuse_head("a line of its header is too long");
        bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
        if (end == std::string_view::npos) {
            line_ += piece;
        } else if (line_.empty()) {
            if (take_line(piece)) return true;
        } else {
            line_ += piece;
            if (take_line(std::exchange(line_, {}))) return true;
        }
    }
    return false;
}

void HeadParser::finish() const {
    if (begun_) refuse_head("it ends within its header");
}

Head HeadParser::take() {
    begun_ = false;
    interim_ = 0;
    return std::exchange(head_, {});
}

bool HeadParser::take_line(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (std::any_of(line.begin(), line.end(), [](char byte) { return !byte || byte == '\r'; }))
        refuse_head("a control character in its header");
    if (head_.status == 0) return take_status(line), false;
    if (!line.empty()) return is_blank(line.front()) ? unfold(line) : take_field(line), false;
    if (head_.status >= 200 || head_.status == 101) return true;
    if (++interim_ > kMostInterim) refuse_head("interim answers without end");
    head_ = {};
    return false;
}

void HeadParser::take_status(std::string_view line) {
    // HTTP/1.1 200 OK
    if (line.substr(0, kVersion.size()) != kVersion) refuse_head("it does not begin with HTTP/1.");
    line.remove_prefix(kVersion.size());
    if (line.size() < 5 || !is_digit(line[0]) || line[1] != ' ' ||
        !std::all_of(line.begin() + 2, line.begin() + 5, is_digit) || line[2] == '0' ||
        (line.size() > 5 && line[5] != ' '))
        refuse_head("its first line has no status");
    head_.persistent = line[0] != '0';
    head_.status = (line[2] - '0') * 100 + (line[3] - '0') * 10 + (line[4] - '0');
    head_.reason = trimmed(line.substr(5));
}

void HeadParser::take_field(std::string_view line) {
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    if (colon == line.npos || !is_token(name)) refuse_head("a header field without a name");
    if (head_.fields.size() == kMostFields) refuse_head("more than 100 header fields");
    const auto value = trimmed(line.substr(colon + 1));
    if (value.size() > kValueBytes) refuse_head("a header field is too long");
    head_.fields.emplace_back(name, value);
}

// A line that goes on with the field before it, as once was allowed.
void HeadParser::unfold(std::string_view line) {
    if (head_.fields.empty()) refuse_head("a header field without a name");
    auto& value = head_.fields.back().second;
    const auto more = trimmed(line);
    if (value.size() + more.size() >= kValueBytes) refuse_head("a header field is too long");
    if (!value.empty() && !more.empty()) value += ' ';
    value += more;
}

}  // namespace patchbay::net
