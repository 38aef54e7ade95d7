#include "config/edit/yaml_edit.hpp"

#include "config/edit/render.hpp"

#include <algorithm>
#include <optional>

namespace patchbay::config::edit {
namespace json = boost::json;

namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::size_t end_of_quotes(std::string_view text, std::size_t at) {  // behind them
    const char quote = text[at];
    for (++at; at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\') {
            ++at;
        } else if (text[at] == quote) {
            if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return at + 1;
            ++at;  // '' stands for '
        }
    }
    return text.size();
}

struct FlowItem {
    std::size_t begin, end;
    std::size_t comma = npos;
};

// What is between the braces at `open`, as far as commas part it.
std::vector<FlowItem> flow_items(std::string_view text, std::size_t open) {
    std::vector<FlowItem> items;
    FlowItem item{npos, npos, npos};
    std::size_t depth = 0;
    const auto note = [&](std::size_t from, std::size_t to) {
        if (item.begin == npos) item.begin = from;
        item.end = to;
    };
    for (auto at = open + 1; at < text.size();) {
        const char c = text[at];
        if (kSpace.find(c) != npos) {
            ++at;
        } else if (c == '#' && kSpace.find(text[at - 1]) != npos) {
            at = line_end(text, at);
        } else if (c == '"' ||
                   (c == '\'' && std::string_view(" \t\r\n,:[{").find(text[at - 1]) != npos)) {
            const auto end = end_of_quotes(text, at);
            note(at, end);
            at = end;
        } else if (depth == 0 && (c == ',' || c == '}')) {
            item.comma = c == ',' ? at : npos;
            if (item.begin != npos) items.push_back(item);
            item = {npos, npos, npos};
            if (c == '}') break;
            ++at;
        } else {
            depth += c == '{' || c == '[';
            depth -= (c == '}' || c == ']') && depth > 0;
            note(at, at + 1);
            ++at;
        }
    }
    return items;
}

class YamlEditor {
public:
    YamlEditor(std::string_view text, const Node& root)
        : text_(text), root_(root), newline_(newline_of(text)) {
        for (std::size_t at = 0; at < text_.size(); at = line_after(text_, at))
            lines_.push_back(at);
    }

    Changes set(const Path& path, const json::value& value) const {
        Place place{&root_, document_end(), {}};
        for (std::size_t i = 0;; ++i) {
            const auto index = index_of(*place.table, path[i]);
            if (!index) return insert(place, path[i], nested(path, i + 1, value));
            const auto* next = &place.table->members[*index].value;
            if (i + 1 == path.size() || !next->is(Node::Kind::Map) || is_alias(*next))
                return replace(place, *index, nested(path, i + 1, value));
            if (next->members.empty()) return empty(place, *index, path, i + 1, value);
            place = below(place, *index);
        }
    }

    Changes remove(const Path& path) const {
        Place place{&root_, document_end(), {}};
        for (std::size_t i = 0;; ++i) {
            const auto index = index_of(*place.table, path[i]);
            if (!index) return {};
            if (i + 1 == path.size()) return {take_out(place, *index)};
            place = below(place, *index);
        }
    }

private:
    // A table, and where the text that can belong to it ends.
    struct Place {
        const Node* table;
        std::size_t end;
        std::string unit;  // that it is indented by, below what holds it
    };

    static std::optional<std::size_t> index_of(const Node& table, const std::string& key) {
        for (std::size_t i = 0; i < table.members.size(); ++i)
            if (table.members[i].key == key) return i;
        return {};
    }

    std::size_t offset(Mark mark) const {
        if (mark.line == 0 || mark.line > lines_.size()) return text_.size();
        return std::min(lines_[mark.line - 1] + mark.column - 1, text_.size());
    }

    // Behind an anchor and a tag.
    std::size_t content(Mark mark) const {
        auto at = offset(mark);
        while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {
            at = text_.find_first_of(kSpace, at);
            at = std::min(text_.find_first_not_of(kSpace, at), text_.size());
        }
        return at;
    }
    bool starts(const Node& node, char letter) const {
        const auto at = content(node.mark);
        return at < text_.size() && text_[at] == letter;
    }
    bool is_alias(const Node& node) const { return starts(node, '*'); }
    bool in_flow(const Node& table) const { return starts(table, '{'); }

    std::size_t document_end() const {
        for (const auto line : lines_)
            if (text_.substr(line, 3) == "...") return line;
        return text_.size();
    }

    std::size_t member_end(const Place& place, std::size_t index) const {
        const auto& members = place.table->members;
        return index + 1 < members.size() ? line_begin(text_, offset(members[index + 1].mark))
                                          : place.end;
    }

    Place below(const Place& place, std::size_t index) const {
        const auto& member = place.table->members[index];
        Place inner{&member.value, member_end(place, index), {}};
        if (!member.value.members.empty() && !in_flow(member.value)) {
            const auto column = member.value.members.front().mark.column;
            if (column > member.mark.column)
                inner.unit = std::string(column - member.mark.column, ' ');
        }
        return inner;
    }

    // One level of indentation, as the file has it.
    std::string unit(const Place& place) const {
        if (!place.unit.empty()) return place.unit;
        for (std::size_t i = 0; i < root_.members.size(); ++i) {
            const auto inner = below({&root_, document_end(), {}}, i);
            if (!inner.unit.empty()) return inner.unit;
        }
        return "  ";
    }

    // Where the last line ends that belongs to what is indented by `indent`: comments that stand
    // further left, and blank lines, are those of what follows.
    std::size_t owned_end(std::size_t begin, std::size_t end, std::size_t indent) const {
        auto at = end;
        while (at > begin) {
            const auto line = line_begin(text_, at - 1);
            if (line < begin) break;
            const auto first = skip_blanks(text_, line);
            const bool blank = first >= line_end(text_, line);
            const bool foreign =
                first < text_.size() && text_[first] == '#' && first - line < indent;
            if (!blank && !foreign) return line_end(text_, line);
            at = line;
        }
        return begin;
    }

    // Where the lines of a key and its value end.
    std::size_t last_of(const Place& place, std::size_t index) const {
        const auto key = offset(place.table->members[index].mark);
        const auto begin = line_begin(text_, key);
        return owned_end(begin, member_end(place, index), key - begin + 1);
    }

    std::string block(const std::string& key, const json::value& value, const std::string& indent,
                      const std::string& unit) const {
        return yaml_key(key) + ":" + yaml_value(value, {newline_, unit, indent});
    }

    Changes insert(const Place& place, const std::string& key, const json::value& value) const {
        const auto& table = *place.table;
        if (table.members.empty()) {
            if (in_flow(table)) return {into_braces(table, key, value)};
            return {at_end(place.end, block(key, value, {}, unit(place)))};
        }
        if (in_flow(table)) return {into_braces(table, key, value)};
        const auto first = offset(table.members.front().mark);
        const std::string indent(first - line_begin(text_, first), ' ');
        const auto added = indent + block(key, value, indent, unit(place));
        const auto end = owned_end(line_begin(text_, first), place.end, indent.size());
        return {{{end, 0, newline_ + added}}, at_end(place.end, added)};
    }

    // Before the line that begins at `at`, or at the end of the text.
    Change at_end(std::size_t at, const std::string& added) const {
        const bool open_line = at > 0 && text_[at - 1] != '\n';
        return {{at, 0, (open_line ? newline_ : "") + added + (open_line ? "" : newline_)}};
    }

    Change into_braces(const Node& table, const std::string& key, const json::value& value) const {
        const auto open = content(table.mark);
        const auto items = flow_items(text_, open);
        const auto added = json_text(key) + ": " + json_inline(value);
        if (items.empty()) return {{open + 1, 0, added}};
        if (items.back().comma != npos) return {{items.back().comma + 1, 0, " " + added + ","}};
        return {{items.back().end, 0, ", " + added}};
    }

    // A table without members: braces, or nothing at all.
    Changes empty(const Place& place, std::size_t index, const Path& path, std::size_t depth,
                  const json::value& value) const {
        const auto& table = place.table->members[index].value;
        if (in_flow(table))
            return {into_braces(table, path[depth], nested(path, depth + 1, value))};
        return replace(place, index, nested(path, depth, value));
    }

    Changes replace(const Place& place, std::size_t index, const json::value& value) const {
        const auto& member = place.table->members[index];
        const auto key = offset(member.mark);
        if (in_flow(*place.table)) {
            const auto items = flow_items(text_, content(place.table->mark));
            if (index >= items.size()) return {};
            const auto at = offset(member.value.mark);
            const auto& item = items[index];
            if (at <= item.begin || at >= item.end) return {};
            return {{{at, item.end - at, json_inline(value)}}};
        }
        Changes changes;
        if (member.value.is(Node::Kind::Null)) changes.push_back(fill(place, index, value));
        const auto scalar = scalar_end(member);
        if (scalar > 0 && !value.is_object()) {
            const auto at = offset(member.value.mark);
            changes.push_back({{at, scalar - at, yaml_value(value, {}).substr(1)}});
        }
        const std::string indent(key - line_begin(text_, key), ' ');
        changes.push_back({{key, last_of(place, index) - key,
                            block(member.key, value, indent, unit_of(place, index))}});
        return changes;
    }

    std::string unit_of(const Place& place, std::size_t index) const {
        const auto inner = below(place, index);
        return inner.unit.empty() ? unit(place) : inner.unit;
    }

    // Below a key that has no value so far.
    Change fill(const Place& place, std::size_t index, const json::value& value) const {
        const auto& member = place.table->members[index];
        const auto key = offset(member.mark);
        const std::string indent(key - line_begin(text_, key), ' ');
        const auto text = yaml_value(value, {newline_, unit(place), indent});
        return {{line_end(text_, key), 0, text}};
    }

    // Of one that is written in the line of its key; 0: it is not.
    std::size_t scalar_end(const Member& member) const {
        const auto& node = member.value;
        const auto at = offset(node.mark);
        if (node.is(Node::Kind::Map) || node.is(Node::Kind::List) || at >= text_.size() ||
            node.mark.line != member.mark.line || std::string_view("|>&!*").find(text_[at]) != npos)
            return 0;
        const auto end = line_end(text_, at);
        if (text_[at] == '"' || text_[at] == '\'') {
            const auto quoted = end_of_quotes(text_, at);
            return quoted <= end ? quoted : 0;
        }
        const auto remark = text_.substr(0, end).find(" #", at);
        return back_over_blanks(text_, std::min(remark, end));
    }

    Change take_out(const Place& place, std::size_t index) const {
        const auto key = offset(place.table->members[index].mark);
        if (in_flow(*place.table)) {
            const auto items = flow_items(text_, content(place.table->mark));
            if (index >= items.size()) return {};
            const auto& item = items[index];
            if (item.comma != npos) {
                const auto end = skip_blanks(text_, item.comma + 1);
                return {{item.begin, end - item.begin, {}}};
            }
            const auto begin = index > 0 ? items[index - 1].comma : item.begin;
            return {{begin, item.end - begin, {}}};
        }
        const auto begin = line_begin(text_, key);
        return {{begin, line_after(text_, last_of(place, index)) - begin, {}}};
    }

    std::string_view text_;
    const Node& root_;
    std::string newline_;
    std::vector<std::size_t> lines_;
};

}  // namespace

Changes yaml_set(std::string_view text, const Node& root, const Path& path,
                 const json::value& value) {
    return YamlEditor(text, root).set(path, value);
}

Changes yaml_remove(std::string_view text, const Node& root, const Path& path) {
    return YamlEditor(text, root).remove(path);
}

}  // namespace patchbay::config::edit
