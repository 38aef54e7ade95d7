#include "config/edit/toml_edit.hpp"

#include "config/edit/render.hpp"

#include <algorithm>
#include <optional>

namespace patchbay::config::edit {
namespace json = boost::json;

namespace {

// A key with its value, or a header in brackets.
struct Statement {
    bool header = false;
    Path whole;               // from the top of the file
    std::size_t written = 0;  // how many of those keys stand here; the others are the header's
    std::size_t begin = 0, value = 0, end = 0;
};

struct Pair {  // between braces
    Path keys;
    std::size_t begin, value, end;
    std::size_t comma = npos;
};

bool starts_with(const Path& path, const Path& beginning) {
    return path.size() >= beginning.size() &&
           std::equal(beginning.begin(), beginning.end(), path.begin());
}

Path joined(Path path, const Path& more) {
    path.insert(path.end(), more.begin(), more.end());
    return path;
}

std::string written(const Path& path, std::size_t from = 0) {
    std::string out;
    for (auto i = from; i < path.size(); ++i) out += (out.empty() ? "" : ".") + toml_key(path[i]);
    return out;
}

// Finds its way in a text that toml++ has parsed before: it looks for nothing that is wrong, and ends at
// the end of the text whatever that holds.
class TomlScan {
public:
    explicit TomlScan(std::string_view text) : text_(text) {}

    std::vector<Statement> statements() const {
        std::vector<Statement> all;
        Path header;
        for (auto at = skip_space(0); at < text_.size(); at = skip_space(at)) {
            const auto begin = at;
            Statement one;
            one.begin = begin;
            one.header = text_[at] == '[';
            if (one.header) {
                const std::size_t brackets = text_.substr(at, 2) == "[[" ? 2 : 1;
                header = keys(at += brackets);
                one.whole = header;
                one.written = header.size();
                at = std::min(at + brackets, text_.size());
            } else {
                const auto own = keys(at);
                one.whole = joined(header, own);
                one.written = own.size();
                one.value = skip_blanks(text_, std::min(at + 1, text_.size()));
                at = skip_value(one.value);
            }
            one.end = at;
            all.push_back(std::move(one));
            if (at <= begin) break;
        }
        return all;
    }

    // Of an inline table whose brace is at `open`; `close`: of its other one.
    std::vector<Pair> pairs(std::size_t open, std::size_t& close) const {
        std::vector<Pair> all;
        auto at = skip_space(open + 1);
        while (at < text_.size() && text_[at] != '}') {
            Pair pair{{}, at, 0, 0, npos};
            pair.keys = keys(at);
            pair.value = skip_blanks(text_, std::min(at + 1, text_.size()));
            pair.end = skip_value(pair.value);
            at = skip_space(pair.end);
            if (at < text_.size() && text_[at] == ',') pair.comma = at++;
            if (at <= pair.begin) break;
            at = skip_space(at);
            all.push_back(std::move(pair));
        }
        close = std::min(at, text_.size());
        return all;
    }

private:
    std::size_t skip_space(std::size_t at) const {  // and comments
        while (at < text_.size()) {
            if (text_[at] == '#')
                at = line_end(text_, at);
            else if (std::string_view(" \t\r\n").find(text_[at]) != npos)
                ++at;
            else
                break;
        }
        return std::min(at, text_.size());
    }

    std::size_t skip_string(std::size_t at) const {
        const char quote = text_[at];
        const std::string triple(3, quote);
        const bool lines = text_.substr(at, 3) == triple;
        at += lines ? 3 : 1;
        while (at < text_.size()) {
            if (quote == '"' && text_[at] == '\\') {
                at += 2;
            } else if (!lines && text_[at] == quote) {
                return at + 1;
            } else if (lines && text_.substr(at, 3) == triple) {
                at += 3;  // and up to two more that belong to the text
                for (int i = 0; i < 2 && at < text_.size() && text_[at] == quote; ++i) ++at;
                return at;
            } else {
                ++at;
            }
        }
        return text_.size();
    }

    std::size_t skip_value(std::size_t at) const {
        std::size_t depth = 0;
        const auto begin = at;
        while (at < text_.size()) {
            const char c = text_[at];
            if (c == '"' || c == '\'') {
                at = skip_string(at);
                if (depth == 0) return at;
            } else if (c == '[' || c == '{') {
                ++depth;
                ++at;
            } else if (c == ']' || c == '}') {
                if (depth == 0) break;
                ++at;
                if (--depth == 0) return at;
            } else if (depth == 0 && (c == ',' || c == '#' || c == '\n' || c == '\r')) {
                break;
            } else if (c == '#') {
                at = line_end(text_, at);
            } else {
                ++at;
            }
        }
        at = std::min(at, text_.size());
        const auto end = back_over_blanks(text_, at);
        return std::max(begin, end);
    }

    std::string one_key(std::size_t& at) const {
        const auto begin = at;
        if (at < text_.size() && (text_[at] == '"' || text_[at] == '\'')) {
            at = skip_string(at);
            const auto raw = text_.substr(begin, at - begin);
            // An escape is for the reader to decode.
            const auto read = parse_toml(std::string(raw) + " = 0");
            return read.root.members.empty() ? std::string() : read.root.members.front().key;
        }
        at = std::min(text_.find_first_of(" \t\r\n.=]", at), text_.size());
        return std::string(text_.substr(begin, at - begin));
    }

    // Leaves `at` at what ends them: an equals sign or a bracket.
    Path keys(std::size_t& at) const {
        Path keys;
        while (at < text_.size()) {
            at = skip_blanks(text_, at);
            keys.push_back(one_key(at));
            at = skip_blanks(text_, at);
            if (at >= text_.size() || text_[at] != '.') break;
            ++at;
        }
        return keys;
    }

    std::string_view text_;
};

class TomlEditor {
public:
    explicit TomlEditor(std::string_view text)
        : text_(text), scan_(text), all_(scan_.statements()), newline_(newline_of(text)) {}

    Changes set(const Path& path, const json::value& value) const {
        if (const auto own = runs_of(path); !own.empty()) return {replace(own, path, value)};
        if (const auto* pair = inline_on(path)) return in_braces(*pair, path, value);
        const Path parent(path.begin(), path.end() - 1);
        if (value.is_object()) return {append(path, value), beside(parent, path, value)};
        return {beside(parent, path, value), append(parent, json::object{{path.back(), value}})};
    }

    Changes remove(const Path& path) const {
        const auto own = runs_of(path);
        if (own.empty()) {
            const auto* pair = inline_on(path);
            return pair ? Changes{out_of_braces(*pair, path)} : Changes{};
        }
        Change change;
        for (const auto& run : own) take_out(run, change);
        return {std::move(change)};
    }

private:
    struct Run {  // of statements that belong to one key, by their places in `all_`
        std::size_t first, last;
    };

    std::vector<Run> runs_of(const Path& path) const {
        std::vector<Run> runs;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!starts_with(all_[i].whole, path)) continue;
            if (!runs.empty() && runs.back().last + 1 == i)
                runs.back().last = i;
            else
                runs.push_back({i, i});
        }
        return runs;
    }

    // The statement whose value holds what would be at `path`.
    const Statement* inline_on(const Path& path) const {
        for (const auto& one : all_)
            if (!one.header && one.whole.size() < path.size() && starts_with(path, one.whole) &&
                one.value < text_.size() && text_[one.value] == '{')
                return &one;
        return nullptr;
    }

    std::string section(const Path& path, const json::object& table) const {
        auto out = "[" + written(path) + "]";
        for (const auto& member : table)
            out += newline_ + toml_key(member.key()) + " = " + toml_inline(member.value());
        return out;
    }

    Change replace(const std::vector<Run>& runs, const Path& path, const json::value& value) const {
        const auto& first = all_[runs.front().first];
        const auto& last = all_[runs.front().last];
        Change change;
        if (!first.header && first.whole.size() == path.size()) {
            change.push_back({first.value, first.end - first.value, toml_inline(value)});
        } else if (first.header && value.is_object()) {
            change.push_back(
                {first.begin, last.end - first.begin, section(path, value.get_object())});
        } else {
            const auto above = first.whole.size() - first.written;
            if (first.header || above >= path.size()) return {};
            change.push_back({first.begin, last.end - first.begin,
                              written(path, above) + " = " + toml_inline(value)});
        }
        for (std::size_t i = 1; i < runs.size(); ++i) take_out(runs[i], change);
        return change;
    }

    // At the end, where a header may always stand.
    Change append(const Path& path, const json::value& value) const {
        if (path.empty()) return {};
        const bool open_line = !text_.empty() && text_.back() != '\n';
        const bool below_blank = text_.empty() || text_.ends_with("\n\n") ||
                                 text_.ends_with("\n\r\n") || text_ == "\n" || text_ == "\r\n";
        return {{text_.size(), 0,
                 (open_line ? newline_ : "") + (below_blank ? "" : newline_) +
                     section(path, value.get_object()) + (open_line ? "" : newline_)}};
    }

    // Behind the last key of its table, or below its header.
    Change beside(const Path& parent, const Path& path, const json::value& value) const {
        const Statement* found = nullptr;
        for (const auto& one : all_) {
            const auto above = one.header ? one.whole.size() : one.whole.size() - one.written;
            const bool of_table = one.header ? one.whole == parent
                                             : above <= parent.size() &&
                                                   one.whole.size() > parent.size() &&
                                                   starts_with(one.whole, parent);
            if (of_table) found = &one;
        }
        const auto assigned = [&](std::size_t above) {
            return written(path, above) + " = " + toml_inline(value);
        };
        if (found) {
            const auto above = found->whole.size() - (found->header ? 0 : found->written);
            return {{line_end(text_, found->end), 0,
                     newline_ + std::string(indent_of(text_, found->begin)) + assigned(above)}};
        }
        if (!parent.empty()) return {};
        const bool more = !text_.empty();
        return {{0, 0, assigned(0) + newline_ + (more ? newline_ : "")}};
    }

    Changes in_braces(const Statement& statement, const Path& path,
                      const json::value& value) const {
        Path rest(path.begin() + static_cast<std::ptrdiff_t>(statement.whole.size()), path.end());
        for (auto open = statement.value;;) {
            std::size_t close = 0;
            const auto pairs = scan_.pairs(open, close);
            const Pair* way = nullptr;
            for (const auto& pair : pairs)
                if (starts_with(rest, pair.keys)) way = &pair;
            if (way && way->keys.size() == rest.size())
                return {{{way->value, way->end - way->value, toml_inline(value)}}};
            if (way && way->value < text_.size() && text_[way->value] == '{') {
                rest.erase(rest.begin(),
                           rest.begin() + static_cast<std::ptrdiff_t>(way->keys.size()));
                open = way->value;
                continue;
            }
            const auto assigned = written(rest) + " = " + toml_inline(value);
            if (!pairs.empty()) return {{{pairs.back().end, 0, ", " + assigned}}};
            const bool spaced = close > open + 1;
            return {{{open + 1, 0, " " + assigned + (spaced ? "" : " ")}}};
        }
    }

    Change out_of_braces(const Statement& statement, const Path& path) const {
        Path rest(path.begin() + static_cast<std::ptrdiff_t>(statement.whole.size()), path.end());
        for (auto open = statement.value;;) {
            std::size_t close = 0;
            const auto pairs = scan_.pairs(open, close);
            Change change;
            for (std::size_t i = 0; i < pairs.size(); ++i)
                if (starts_with(pairs[i].keys, rest)) take_out(pairs, i, change);
            if (!change.empty()) return change;
            const auto way = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) {
                return starts_with(rest, pair.keys) && pair.value < text_.size() &&
                       text_[pair.value] == '{';
            });
            if (way == pairs.end()) return {};
            rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(way->keys.size()));
            open = way->value;
        }
    }

    void take_out(const std::vector<Pair>& pairs, std::size_t i, Change& change) const {
        const auto& pair = pairs[i];
        if (pair.comma != npos) {
            const auto end = skip_blanks(text_, pair.comma + 1);
            change.push_back({pair.begin, end - pair.begin, {}});
        } else {
            const auto begin = i > 0 ? pairs[i - 1].comma : pair.begin;
            change.push_back({begin, pair.end - begin, {}});
        }
    }

    // Whole lines, what is said of them behind a # too, with a blank one above that nothing needs any more.
    void take_out(const Run& run, Change& change) const {
        auto begin = all_[run.first].begin, end = all_[run.last].end;
        const auto behind = skip_blanks(text_, end);
        const bool commented = behind < text_.size() && text_[behind] == '#';
        if (first_in_line(text_, begin) && (commented || last_in_line(text_, end))) {
            begin = line_begin(text_, begin);
            end = line_after(text_, end);
            const bool blank_below = end >= text_.size() || last_in_line(text_, end);
            if (begin > 0 && blank_below) {
                const auto above = line_begin(text_, begin - 1);
                if (last_in_line(text_, above)) begin = above;
            }
        }
        change.push_back({begin, end - begin, {}});
    }

    std::string_view text_;
    TomlScan scan_;
    std::vector<Statement> all_;
    std::string newline_;
};

}  // namespace

bool toml_can_say(const json::value& value) {
    if (const auto* list = value.if_array())
        return std::all_of(list->begin(), list->end(), toml_can_say);
    if (const auto* table = value.if_object())
        return std::all_of(table->begin(), table->end(),
                           [](const auto& member) { return toml_can_say(member.value()); });
    return !value.is_null();
}

Changes toml_set(std::string_view text, const Node&, const Path& path, const json::value& value) {
    return TomlEditor(text).set(path, value);
}

Changes toml_remove(std::string_view text, const Node&, const Path& path) {
    return TomlEditor(text).remove(path);
}

}  // namespace patchbay::config::edit
