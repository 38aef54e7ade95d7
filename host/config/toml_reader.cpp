// The door to toml++. Its own nesting limit covers values but not dotted keys, so the text is
// scanned first: a megabyte of "a.a.a.a" must not become a tree whose destructor overflows the
// stack.
#include "config/reader.hpp"
#include "core/text.hpp"
#include "core/toml.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

namespace patchbay::config {

namespace {

// Brackets and dots of keys, outside of strings and comments, and the comments. May be wrong about text that is not
// TOML, but only from the byte on where the parser stops too.
class Scan {
public:
    explicit Scan(std::string_view text) : text_(text) {}

    // The first place that nests too deep.
    std::optional<Mark> find() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"' || c == '\'') {
                if (!skip_string(c)) return {};
                continue;
            }
            if (c == '#') {
                skip_comment();
                continue;
            }
            step(c);
            if (brackets_ > kFileDepth || dots_ >= kFileDepth) return mark();
            ++at_;
        }
        return {};
    }

    // A file that has grown for years is comments for the most part, and the library takes as long for a byte of one
    // as for any other: what it gets is without them, with each line and column of the rest as it was.
    std::string without_comments() const {
        std::string out;
        out.reserve(text_.size());
        std::size_t done = 0;
        for (const auto& [begin, end] : comments_) {
            out.append(text_, done, begin - done);
            done = end;
        }
        return out.append(text_, done);
    }

private:
    // Up to the end of its line. One with a control character is no TOML, which the library is to say.
    void skip_comment() {
        const auto begin = at_;
        at_ = std::min(text_.find('\n', at_), text_.size());
        const auto end = at_ < text_.size() && text_[at_ - 1] == '\r' ? at_ - 1 : at_;
        const bool plain =
            std::none_of(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                         text_.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
                             const auto byte = static_cast<unsigned char>(c);
                             return (byte < 0x20 && c != '\t') || byte == 0x7f;
                         });
        if (plain) comments_.emplace_back(begin, end);
    }

    void step(char c) {
        switch (c) {
            case '.':
                ++dots_;
                break;
            case '[':
            case '{':
                ++brackets_;
                dots_ = 0;
                break;
            case ']':
            case '}':
                brackets_ -= brackets_ > 0;
                dots_ = 0;
                break;
            case '\n':
            case ',':
            case '=':
                dots_ = 0;
                break;
            default:
                break;
        }
    }

    bool skip_string(char quote) {
        const std::string triple(3, quote);
        const bool many_lines = text_.substr(at_, 3) == triple;
        at_ += many_lines ? 3 : 1;
        while (at_ < text_.size()) {
            if (quote == '"' && text_[at_] == '\\') {
                at_ += 2;
            } else if (many_lines ? text_.substr(at_, 3) == triple : text_[at_] == quote) {
                at_ += many_lines ? 3 : 1;
                while (many_lines && at_ < text_.size() && text_[at_] == quote) ++at_;  // """a"""""
                return true;
            } else if (!many_lines && text_[at_] == '\n') {
                return false;
            } else {
                ++at_;
            }
        }
        return false;
    }

    Mark mark() const {
        const auto before = text_.substr(0, at_);
        const auto newline = before.rfind('\n');
        return {static_cast<unsigned>(1 + std::count(before.begin(), before.end(), '\n')),
                static_cast<unsigned>(newline == std::string_view::npos ? at_ + 1 : at_ - newline)};
    }

    std::string_view text_;
    std::vector<std::pair<std::size_t, std::size_t>> comments_;
    std::size_t at_ = 0;
    std::size_t brackets_ = 0;
    std::size_t dots_ = 0;
};

Mark mark_of(const toml::source_position& position) {
    return {static_cast<unsigned>(position.line), static_cast<unsigned>(position.column)};
}

class Converter {
public:
    explicit Converter(const Bounds& bounds) : bounds_(bounds) {}

    std::optional<Problem> problem;

    bool convert(const toml::node& from, Node& to, std::size_t depth) {
        to.mark = mark_of(from.source().begin);
        if (++nodes_ > bounds_.nodes) return fail(too_many_values(to.mark, bounds_));
        if ((from.is_table() || from.is_array()) && depth > kFileDepth)
            return fail(too_deep(to.mark));
        switch (from.type()) {
            case toml::node_type::table:
                return table(*from.as_table(), to, depth);
            case toml::node_type::array:
                return list(*from.as_array(), to, depth);
            case toml::node_type::string:
                to.kind = Node::Kind::Text;
                to.text = from.as_string()->get();
                if (to.text.find('\0') != std::string::npos) {
                    return fail({to.mark, "not TOML: a NUL character in a string"});
                }
                return true;
            case toml::node_type::integer:
                to.kind = Node::Kind::Integer;
                to.integer = from.as_integer()->get();
                return true;
            case toml::node_type::floating_point:
                to.kind = Node::Kind::Real;
                to.real = from.as_floating_point()->get();
                if (!std::isfinite(to.real))
                    return fail({to.mark, "inf and nan are no numbers that a setting may have"});
                return true;
            case toml::node_type::boolean:
                to.kind = Node::Kind::Flag;
                to.flag = from.as_boolean()->get();
                return true;
            default:
                return date(from, to);
        }
    }

private:
    bool fail(Problem found) {
        problem = std::move(found);
        return false;
    }

    // Dates mean nothing to a host; they are the text they were written as.
    bool date(const toml::node& from, Node& to) {
        std::ostringstream text;
        if (const auto* day = from.as_date())
            text << day->get();
        else if (const auto* hour = from.as_time())
            text << hour->get();
        else if (const auto* both = from.as_date_time())
            text << both->get();
        to.kind = Node::Kind::Text;
        to.text = text.str();
        return true;
    }

    bool list(const toml::array& from, Node& to, std::size_t depth) {
        to.kind = Node::Kind::List;
        to.items.resize(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
            if (!convert(*from.get(i), to.items[i], depth + 1)) return false;
        }
        return true;
    }

    bool table(const toml::table& from, Node& to, std::size_t depth) {
        to.kind = Node::Kind::Map;
        to.members.reserve(from.size());
        for (auto&& [key, value] : from) {
            Member member{std::string(key.str()), mark_of(key.source().begin), {}};
            if (member.key.find('\0') != std::string::npos) {
                return fail({member.mark, "not TOML: a NUL character in a key"});
            }
            if (!convert(value, member.value, depth + 1)) return false;
            to.members.push_back(std::move(member));
        }
        // toml++ sorts by key; the order of the file reads better in messages.
        std::stable_sort(to.members.begin(), to.members.end(), [](const auto& a, const auto& b) {
            return std::pair(a.mark.line, a.mark.column) < std::pair(b.mark.line, b.mark.column);
        });
        return true;
    }

    const Bounds bounds_;
    std::size_t nodes_ = 0;
};

// `command = node`: what the library expected there helps nobody.
bool is_bare_text(std::string_view text, Mark mark) {
    for (unsigned line = 1; line < mark.line && !text.empty(); ++line)
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    text = text.substr(0, text.find('\n'));
    const auto equals = text.find('=');
    if (equals == text.npos || mark.column <= equals + 1) return false;
    const auto start = text.find_first_not_of(" \t", equals + 1);
    if (start == text.npos) return false;
    const auto value = text.substr(start);
    const auto first = static_cast<unsigned char>(value.front());
    if (value.starts_with("true") || value.starts_with("false")) return false;
    return std::isalpha(first) || std::string_view("/.~@$").find(value.front()) != text.npos;
}

}  // namespace

Parsed parse_toml(std::string_view text, const Bounds& bounds) {
    Parsed parsed;
    Scan scan(text);
    if (const auto deep = scan.find()) {
        parsed.problem = too_deep(*deep);
        return parsed;
    }
    const auto result = toml::parse(scan.without_comments());
    if (!result) {
        const auto& error = result.error();
        const auto mark = mark_of(error.source().begin);
        const bool again = error.description().find("redefine") != std::string_view::npos;
        parsed.problem = Problem{
            mark,
            "not TOML: " + (is_bare_text(text, mark) ? "text needs quotes around it"
                                                     : core::printable(error.description(), 200)),
            again ? RuleId::DuplicateKey : RuleId::SyntaxError};
        return parsed;
    }
    Converter converter(bounds);
    if (!converter.convert(result.table(), parsed.root, 1)) parsed.problem = converter.problem;
    return parsed;
}

}  // namespace patchbay::config
