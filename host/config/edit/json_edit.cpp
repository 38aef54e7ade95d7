#include "config/edit/json_edit.hpp"

#include "config/edit/render.hpp"

#include <algorithm>
#include <optional>

namespace patchbay::config::edit {
namespace json = boost::json;

namespace {

struct MemberSpan {
    std::size_t key, value, end;  // `end`: behind the value
    std::size_t comma = npos;     // behind it
};

struct ObjectSpan {
    std::size_t open, close;  // of the braces themselves
    std::vector<MemberSpan> members;
};

// Finds its way in a text that was parsed before, so it looks for nothing that is wrong; it ends at the
// end of the text whatever that holds.
class JsonScan {
public:
    explicit JsonScan(std::string_view text) : text_(text) {}

    std::size_t skip_space(std::size_t at) const {  // and comments
        while (at < text_.size()) {
            if (text_[at] == '/')
                at = skip_comment(at);
            else if (std::string_view(" \t\r\n").find(text_[at]) != npos)
                ++at;
            else
                break;
        }
        return std::min(at, text_.size());
    }

    ObjectSpan object(std::size_t open) const {
        ObjectSpan object{open, text_.size(), {}};
        for (auto at = skip_space(open + 1); at < text_.size(); at = skip_space(at)) {
            if (text_[at] == '}') {
                object.close = at;
                break;
            }
            MemberSpan member{at, 0, 0, npos};
            const auto colon = skip_space(skip_string(at));
            member.value = skip_space(colon + 1);
            member.end = skip_value(member.value);
            at = skip_space(member.end);
            if (at < text_.size() && text_[at] == ',') member.comma = at++;
            object.members.push_back(member);
        }
        return object;
    }

    // Behind the last comment, comma or value between `from` and `close`; whether that is a comment
    // which only a line's end ends.
    std::pair<std::size_t, bool> tail(std::size_t from, std::size_t close) const {
        bool open_comment = false;
        auto end = from;
        for (auto at = from; at < close;) {
            if (text_[at] == '/') {
                open_comment = text_.substr(at, 2) == "//";
                end = at = std::min(skip_comment(at), close);
            } else if (text_[at] == ',') {
                end = ++at;
                open_comment = false;
            } else {
                ++at;
            }
        }
        return {end, open_comment};
    }

private:
    std::size_t skip_comment(std::size_t at) const {
        if (text_.substr(at, 2) == "//") return line_end(text_, at);
        const auto end = text_.find("*/", at + 2);
        return end == npos ? text_.size() : end + 2;
    }

    std::size_t skip_string(std::size_t at) const {
        for (++at; at < text_.size() && text_[at] != '"'; ++at)
            if (text_[at] == '\\') ++at;
        return std::min(at + 1, text_.size());
    }

    std::size_t skip_value(std::size_t at) const {
        std::size_t depth = 0;
        while (at < text_.size()) {
            const char c = text_[at];
            if (c == '"') {
                at = skip_string(at);
            } else if (c == '{' || c == '[') {
                ++depth;
                ++at;
                continue;
            } else if (c == '}' || c == ']') {
                if (depth == 0) return at;
                --depth;
                ++at;
            } else if (depth > 0) {
                at = c == '/' ? skip_comment(at) : at + 1;
                continue;
            } else {
                return std::min(text_.find_first_of(" \t\r\n,]}/", at), text_.size());
            }
            if (depth == 0) return at;
        }
        return at;
    }

    std::string_view text_;
};

std::optional<std::size_t> index_of(const Node& table, const std::string& key) {
    for (std::size_t i = 0; i < table.members.size(); ++i)
        if (table.members[i].key == key) return i;
    return {};
}

// How the file is laid out.
struct Style {
    std::string newline, unit;
    bool one_line;             // all of it
    std::string colon, comma;  // on one line
};

Style style_of(std::string_view text, const JsonScan& scan) {
    Style style{newline_of(text), "  ", true, ": ", ", "};
    const auto open = scan.skip_space(0);
    const auto root = scan.object(open);
    style.one_line = text.substr(open, root.close - open).find('\n') == npos;
    if (root.members.empty()) {
        style.one_line = false;  // nothing says that it wants to be
        return style;
    }
    const auto& first = root.members.front();
    const auto indent = indent_of(text, first.key);
    if (!style.one_line && first_in_line(text, first.key) && !indent.empty())
        style.unit = std::string(indent);
    if (text[first.value - 1] == ':') style.colon = ":", style.comma = ",";
    return style;
}

class JsonEditor {
public:
    explicit JsonEditor(std::string_view text)
        : text_(text), scan_(text), style_(style_of(text, scan_)) {}

    Changes set(const Node& root, const Path& path, const json::value& value) const {
        auto at = scan_.skip_space(0);
        if (at >= text_.size()) return {whole_file(nested(path, 0, value))};
        const auto* node = &root;
        for (std::size_t i = 0;; ++i) {
            const auto object = scan_.object(at);
            const auto index = index_of(*node, path[i]);
            if (!index) return {insert(object, path[i], nested(path, i + 1, value))};
            if (*index >= object.members.size()) return {};
            const auto& member = object.members[*index];
            node = &node->members[*index].value;
            const bool last = i + 1 == path.size();
            if (last || !node->is(Node::Kind::Map))
                return {replace(member, nested(path, i + 1, value))};
            at = member.value;
        }
    }

    Changes remove(const Node& root, const Path& path) const {
        auto at = scan_.skip_space(0);
        const auto* node = &root;
        for (std::size_t i = 0;; ++i) {
            const auto object = scan_.object(at);
            const auto index = index_of(*node, path[i]);
            if (!index || *index >= object.members.size()) return {};
            if (i + 1 == path.size()) return {take_out(object, *index)};
            at = object.members[*index].value;
            node = &node->members[*index].value;
        }
    }

private:
    Layout layout(std::string_view indent) const {
        return {style_.newline, style_.unit, std::string(indent)};
    }

    Change whole_file(const json::value& value) const {
        const bool open_line = !text_.empty() && text_.back() != '\n';
        return {
            {text_.size(), 0,
             (open_line ? style_.newline : "") + json_block(value, layout("")) + style_.newline}};
    }

    Change replace(const MemberSpan& member, const json::value& value) const {
        const auto text = first_in_line(text_, member.key) && !style_.one_line
                              ? json_block(value, layout(indent_of(text_, member.key)))
                              : json_inline(value, style_.colon, style_.comma);
        return {{member.value, member.end - member.value, text}};
    }

    Change insert(const ObjectSpan& object, const std::string& key,
                  const json::value& value) const {
        const auto& members = object.members;
        const bool in_lines =
            members.empty() ? !style_.one_line : first_in_line(text_, members.back().key);
        const auto [end, open_comment] =
            scan_.tail(members.empty() ? object.open + 1 : members.back().end, object.close);
        const auto indent = members.empty()
                                ? std::string(indent_of(text_, object.open)) + style_.unit
                                : std::string(indent_of(text_, members.back().key));
        const auto line = style_.newline + indent;
        const bool comma_wanted = !members.empty() && members.back().comma == npos;
        const bool comma_kept = !members.empty() && members.back().comma != npos;
        std::string added;
        if (in_lines) {
            added = line + json_text(key) + ": " + json_block(value, layout(indent));
        } else {
            added = open_comment ? line : members.empty() ? "" : style_.comma == "," ? "" : " ";
            added += json_text(key) + style_.colon + json_inline(value, style_.colon, style_.comma);
        }
        if (comma_kept) added += ",";
        const bool closes_here = text_.substr(end, object.close - end).find('\n') == npos;
        if (in_lines && members.empty() && closes_here)
            added += style_.newline + std::string(indent_of(text_, object.open));
        Change change;
        if (comma_wanted) change.push_back({members.back().end, 0, ","});
        change.push_back({end, 0, std::move(added)});
        return change;
    }

    Change take_out(const ObjectSpan& object, std::size_t index) const {
        const auto& member = object.members[index];
        Change change;
        // What stands before it ends the list now.
        if (member.comma == npos && index > 0)
            change.push_back({object.members[index - 1].comma, 1, {}});
        auto begin = member.key, end = member.end;
        if (member.comma == end)
            ++end;
        else if (member.comma != npos)
            change.push_back({member.comma, 1, {}});  // on a line below
        // What is said of it on its line goes with it.
        if (const auto behind = skip_blanks(text_, end);
            first_in_line(text_, begin) && text_.substr(behind, 2) == "//")
            end = line_end(text_, behind);
        const bool own_line = first_in_line(text_, begin) && last_in_line(text_, end) &&
                              line_after(text_, end) < text_.size();
        if (own_line) {
            // With the line's end before it: that is what was put in.
            begin = line_begin(text_, begin);
            begin -= begin > 0;
            begin -= begin > 0 && text_[begin] == '\n' && text_[begin - 1] == '\r';
        } else if (member.comma != npos) {
            end = skip_blanks(text_, end);
        } else if (!first_in_line(text_, begin)) {
            begin = back_over_blanks(text_, begin);
        }
        change.push_back({begin, end - begin, {}});
        return change;
    }

    std::string_view text_;
    JsonScan scan_;
    Style style_;
};

}  // namespace

Changes json_set(std::string_view text, const Node& root, const Path& path,
                 const json::value& value) {
    return JsonEditor(text).set(root, path, value);
}

Changes json_remove(std::string_view text, const Node& root, const Path& path) {
    return JsonEditor(text).remove(root, path);
}

}  // namespace patchbay::config::edit
