// JSON with the place of each value. Boost.JSON's parser reports no offsets to its handler, and a
// message without a line is of little use to who wrote the file; so this is our own, strict but for
// comments and trailing commas, which VS Code's files have.
#include "config/reader.hpp"
#include "core/text.hpp"

#include <charconv>
#include <unordered_map>

namespace patchbay::config {

namespace {

void append_utf8(std::string& out, unsigned code) {
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | (code >> 6));
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0 | (code >> 12));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | (code >> 18));
        out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
        out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    }
}

// Recursive descent; the depth limit bounds the stack. Every function answers false after it has
// noted the problem, and the first problem is the one that is told.
class JsonReader {
public:
    JsonReader(std::string_view text, const Bounds& bounds) : text_(text), bounds_(bounds) {}

    Parsed read() {
        Parsed parsed;
        if (!skip_blank()) return failed();
        if (at_end()) {
            parsed.root = Node::of_map({1, 1});
            return parsed;
        }
        if (!value(parsed.root, 1) || !skip_blank()) return failed();
        if (!at_end()) {
            fail("expected the end of the file after the value");
            return failed();
        }
        if (!parsed.root.is(Node::Kind::Map)) parsed.problem = not_a_table(parsed.root);
        return parsed;
    }

private:
    bool at_end() const { return at_ >= text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[at_]; }

    void newline() {
        ++line_;
        column_ = 1;
        counted_ = at_;
    }
    // Counts on from the last mark: a file may be one line of a megabyte.
    Mark mark() {
        for (; counted_ < at_; ++counted_) column_ += (text_[counted_] & 0xc0) != 0x80;
        return {line_, column_};
    }

    bool fail(std::string message) {
        if (!problem_) problem_ = Problem{mark(), "not JSON: " + std::move(message)};
        return false;
    }
    Parsed failed() { return {{}, std::move(problem_)}; }

    bool skip_blank() {
        while (!at_end()) {
            const char c = text_[at_];
            if (c == '\n') {
                ++at_;
                newline();
            } else if (c == ' ' || c == '\t' || c == '\r') {
                ++at_;
            } else if (c == '/') {
                if (!comment()) return false;
            } else {
                break;
            }
        }
        return true;
    }

    bool comment() {
        const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        if (kind == '/') {
            at_ = std::min(text_.find('\n', at_), text_.size());
            return true;
        }
        if (kind != '*') return fail("a lone \"/\"");
        const auto end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return fail("a comment that is never closed");
        while (at_ < end + 2) {
            if (text_[at_++] == '\n') newline();
        }
        return true;
    }

    // Every value takes a Node of more than a hundred bytes: the bound on their number, not that of the file,
    // is what bounds the memory of `[[],[],...`.
    bool value(Node& out, std::size_t depth) {
        out.mark = mark();
        if (++nodes_ > bounds_.nodes) {
            problem_ = too_many_values(out.mark, bounds_);
            return false;
        }
        switch (peek()) {
            case '{':
            case '[':
                if (depth > kFileDepth) {
                    problem_ = too_deep(out.mark);
                    return false;
                }
                return peek() == '{' ? object(out, depth) : list(out, depth);
            case '"':
                out.kind = Node::Kind::Text;
                return string(out.text);
            case 't':
                out.flag = true;
                out.kind = Node::Kind::Flag;
                return word("true");
            case 'f':
                out.kind = Node::Kind::Flag;
                return word("false");
            case 'n':
                return word("null");
            default:
                return number(out);
        }
    }

    bool word(std::string_view wanted) {
        if (text_.substr(at_, wanted.size()) != wanted) return fail("expected a value");
        at_ += wanted.size();
        return true;
    }

    bool object(Node& out, std::size_t depth) {
        out.kind = Node::Kind::Map;
        std::unordered_map<std::string, Mark> seen;
        ++at_;
        while (true) {
            if (!skip_blank()) return false;
            if (peek() == '}') break;
            if (peek() != '"')
                return fail(at_end() ? "a { that is never closed"
                                     : "expected a key in double quotes");
            Member member;
            member.mark = mark();
            if (!string(member.key)) return false;
            // Of two equal keys readers disagree which one counts: a rule in the other would be lost.
            if (const auto [it, fresh] = seen.try_emplace(member.key, member.mark); !fresh) {
                problem_ = given_twice(member.key, it->second, member.mark);
                return false;
            }
            if (!skip_blank()) return false;
            if (peek() != ':') return fail("expected \":\" after the key");
            ++at_;
            if (!skip_blank()) return false;
            out.members.push_back(std::move(member));
            if (!value(out.members.back().value, depth + 1) || !skip_blank()) return false;
            if (peek() == ',') {
                ++at_;
            } else if (peek() != '}') {
                return fail("expected \",\" or \"}\"");
            }
        }
        ++at_;
        return true;
    }

    bool list(Node& out, std::size_t depth) {
        out.kind = Node::Kind::List;
        ++at_;
        while (true) {
            if (!skip_blank()) return false;
            if (peek() == ']') break;
            if (at_end()) return fail("a [ that is never closed");
            out.items.emplace_back();
            if (!value(out.items.back(), depth + 1) || !skip_blank()) return false;
            if (peek() == ',') {
                ++at_;
            } else if (peek() != ']') {
                return fail("expected \",\" or \"]\"");
            }
        }
        ++at_;
        return true;
    }

    bool string(std::string& out) {
        ++at_;
        while (!at_end()) {
            const auto run = text_.find_first_of(std::string_view("\"\\\n", 3), at_);
            const auto end = std::min(run, text_.size());
            for (auto i = at_; i < end; ++i) {
                if (static_cast<unsigned char>(text_[i]) < 0x20) {
                    at_ = i;
                    return fail("a control character in a string; write a tab as \\t");
                }
            }
            out.append(text_, at_, end - at_);
            at_ = end;
            if (at_end() || peek() == '\n') break;
            if (text_[at_++] == '"') return true;
            if (!escape(out)) return false;
        }
        return fail("a string that is not closed on its line");
    }

    bool escape(std::string& out) {
        const char kind = peek();
        ++at_;
        switch (kind) {
            case '"':
            case '\\':
            case '/':
                out += kind;
                return true;
            case 'b':
                out += '\b';
                return true;
            case 'f':
                out += '\f';
                return true;
            case 'n':
                out += '\n';
                return true;
            case 'r':
                out += '\r';
                return true;
            case 't':
                out += '\t';
                return true;
            case 'u':
                return unicode(out);
            default:
                --at_;
                return fail("an unknown escape in a string");
        }
    }

    bool hex(unsigned& code) {
        const auto digits = text_.substr(at_, 4);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (error != std::errc() || end != digits.data() + 4)
            return fail("expected four hex digits after \\u");
        at_ += 4;
        return true;
    }

    bool unicode(std::string& out) {
        unsigned code = 0;
        if (!hex(code)) return false;
        // Words and paths become C strings further on, where it would be their end.
        if (code == 0) return fail("a NUL character in a string");
        if (code >= 0xdc00 && code < 0xe000) return fail("half of a surrogate pair");
        if (code >= 0xd800 && code < 0xdc00) {
            unsigned low = 0;
            if (text_.substr(at_, 2) != "\\u") return fail("half of a surrogate pair");
            at_ += 2;
            if (!hex(low)) return false;
            if (low < 0xdc00 || low >= 0xe000) return fail("half of a surrogate pair");
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        append_utf8(out, code);
        return true;
    }

    // from_chars takes more than JSON has, as "1." and "01".
    // -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
    static bool well_formed(std::string_view text) {
        const auto skip_digits = [&] {
            const auto count = std::min(text.find_first_not_of("0123456789"), text.size());
            text.remove_prefix(count);
            return count;
        };
        const auto skip = [&](std::string_view one_of) {
            if (text.empty() || one_of.find(text.front()) == std::string_view::npos) return false;
            text.remove_prefix(1);
            return true;
        };
        skip("-");
        const bool zero = text.starts_with('0');
        const auto whole = skip_digits();
        if (whole == 0 || (zero && whole > 1)) return false;
        if (skip(".") && skip_digits() == 0) return false;
        if (skip("eE")) {
            skip("+-");
            if (skip_digits() == 0) return false;
        }
        return text.empty();
    }

    bool number(Node& out) {
        const auto end = std::min(text_.find_first_not_of("+-0123456789.eE", at_), text_.size());
        const auto digits = text_.substr(at_, end - at_);
        if (digits.empty()) return fail(at_end() ? "the file ends early" : "expected a value");
        if (!well_formed(digits)) return fail("a malformed number");
        const char* stop = digits.data() + digits.size();
        if (const auto [at, error] = std::from_chars(digits.data(), stop, out.integer);
            error == std::errc() && at == stop) {
            out.kind = Node::Kind::Integer;
        } else {
            const auto [real_end, real_error] = std::from_chars(digits.data(), stop, out.real);
            if (real_error != std::errc() || real_end != stop) return fail("a number out of range");
            out.kind = Node::Kind::Real;
        }
        at_ = end;
        return true;
    }

    std::string_view text_;
    const Bounds bounds_;
    std::size_t at_ = 0;
    std::size_t counted_ = 0;  // column_ is that of this byte
    unsigned column_ = 1;      // in characters, as editors count
    unsigned line_ = 1;
    std::size_t nodes_ = 0;
    std::optional<Problem> problem_;
};

}  // namespace

Parsed parse_json(std::string_view text, const Bounds& bounds) {
    return JsonReader(text, bounds).read();
}

}  // namespace patchbay::config
