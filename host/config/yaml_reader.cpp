// The door to yaml-cpp. Its event interface rather than its node tree: events carry the mark of
// every value, tell plain scalars from quoted ones, and let aliases be counted as they expand, so a
// "billion laughs" file stops at the limit instead of in the allocator.
//
// Plain scalars are typed as YAML 1.2's core schema says: `yes`, `on` and `0755` are not special.
#include "config/reader.hpp"
#include "core/text.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <istream>
#include <map>
#include <streambuf>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace patchbay::config {

namespace {

// Reads the text where it lies; std::istringstream would copy it.
class ViewBuffer : public std::streambuf {
public:
    explicit ViewBuffer(std::string_view text) {
        auto* start =
            const_cast<char*>(text.data());  // never written: no overflow(), no pbackfail()
        setg(start, start, start + text.size());
    }
};

constexpr std::size_t kExpansion = 8;  // times the bytes of a file

struct Refused {  // thrown through yaml-cpp, caught in parse_yaml
    Problem problem;
};

Mark mark_of(const YAML::Mark& mark) {
    return {static_cast<unsigned>(mark.line + 1), static_cast<unsigned>(mark.column + 1)};
}

template <class Number>
bool whole(std::string_view text, Number& out, int base = 10) {
    const auto [end, error] = [&] {
        if constexpr (std::is_floating_point_v<Number>) {
            return std::from_chars(text.data(), text.data() + text.size(), out);
        } else {
            return std::from_chars(text.data(), text.data() + text.size(), out, base);
        }
    }();
    return error == std::errc() && end == text.data() + text.size();
}

// For YAML a line ends there, for its parser it goes on: what follows would be part of a remark.
std::optional<Mark> lone_return(std::string_view text) {
    for (auto at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
        if (at + 1 < text.size() && text[at + 1] == '\n') continue;
        const auto before = text.substr(0, at);
        const auto line = std::count(before.begin(), before.end(), '\n');
        const auto begin = before.rfind('\n') + 1;  // npos + 1 is 0
        return Mark{static_cast<unsigned>(line + 1), static_cast<unsigned>(at - begin + 1)};
    }
    return {};
}

// The tab that this line is indented by, which its parser refuses in words about something else.
std::optional<Mark> tab_before(std::string_view text, unsigned line) {
    for (unsigned above = 1; above < line; ++above) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    const auto tab = text.find_first_not_of(' ');
    if (tab == std::string_view::npos || text[tab] != '\t') return {};
    return Mark{line, static_cast<unsigned>(tab + 1)};
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool looks_like_number(std::string_view text) {
    bool digits = false;
    std::size_t i = text.starts_with('-') ? 1 : 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) digits = true;
    if (i < text.size() && text[i] == '.') ++i;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) digits = true;
    return digits && (i == text.size() || text[i] == 'e' || text[i] == 'E');
}

void type_plain(Node& node) {
    std::string_view text = node.text;
    node.kind = Node::Kind::Text;
    if (text == "true" || text == "True" || text == "TRUE") {
        node.kind = Node::Kind::Flag;
        node.flag = true;
    } else if (text == "false" || text == "False" || text == "FALSE") {
        node.kind = Node::Kind::Flag;
    } else if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
        node.kind = Node::Kind::Null;
    } else if (text.starts_with("0x") && whole(text.substr(2), node.integer, 16)) {
        node.kind = Node::Kind::Integer;
    } else if (text.starts_with("0o") && whole(text.substr(2), node.integer, 8)) {
        node.kind = Node::Kind::Integer;
    } else {
        if (text.starts_with('+')) text.remove_prefix(1);
        if (!looks_like_number(text)) return;
        if (whole(text, node.integer))
            node.kind = Node::Kind::Integer;
        else if (whole(text, node.real))
            node.kind = Node::Kind::Real;
    }
}

// The parser lets some documents pass that YAML refuses, a file that was cut off in a string among
// them; what an event and the text at its mark can tell of that is told here.
class TreeBuilder : public YAML::EventHandler {
public:
    TreeBuilder(std::string_view text, const Bounds& bounds) : text_(text), bounds_(bounds) {}

    Node root;

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        Node node;
        node.mark = mark_of(mark);
        const bool in_flow_list =
            !stack_.empty() && stack_.back().flow && stack_.back().node.is(Node::Kind::List);
        if (in_flow_list && at(mark) != '~' && at(mark) != 'n' && at(mark) != 'N')
            throw Refused{{node.mark, "not YAML: a list with an empty place between its commas"}};
        // The value of a key stands behind it; where there is none, the parser marks the key itself.
        if (!stack_.empty() && awaits_value(stack_.back()) && at(mark) != '?' &&
            !is_behind(node.mark, stack_.back().node.members.back().mark))
            throw Refused{{node.mark, "not YAML: a key without its colon"}};
        add(std::move(node), anchor);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        Node node = Node::of_text(value, mark_of(mark));
        if (at(mark) == '"' || at(mark) == '\'') check_quotes(mark);
        // A NUL would be cut off silently wherever the text becomes an argument or a path.
        // Its parser makes one byte of "\_" and of other escapes.
        if (!core::valid_utf8(value))
            throw Refused{
                {node.mark, "not YAML: a string that is no UTF-8; write the character itself"}};
        if (value.find('\0') != std::string::npos) {
            throw Refused{{node.mark, "not YAML: a NUL character in a string"}};
        }
        if (tag == "?" || tag.empty()) {
            type_plain(node);
        } else if (tag != "!" && tag != "tag:yaml.org,2002:str") {
            type_plain(node);
            const bool fits = (tag == "tag:yaml.org,2002:int" && node.is(Node::Kind::Integer)) ||
                              (tag == "tag:yaml.org,2002:float" && node.is(Node::Kind::Real)) ||
                              (tag == "tag:yaml.org,2002:bool" && node.is(Node::Kind::Flag)) ||
                              (tag == "tag:yaml.org,2002:null" && node.is(Node::Kind::Null));
            if (!fits) refuse_tag(tag, node.mark);
        }
        add(std::move(node), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto it = anchored_.find(anchor);
        if (it == anchored_.end()) {
            throw Refused{{mark_of(mark), "not YAML: an alias inside the value it stands for"}};
        }
        count(it->second, mark_of(mark), stack_.size() + 1);
        Node copy = it->second;
        copy.mark = mark_of(mark);
        place(std::move(copy));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        if (tag != "?" && tag != "!" && !tag.empty() && tag != "tag:yaml.org,2002:seq") {
            refuse_tag(tag, mark_of(mark));
        }
        open(Node::of_list(mark_of(mark)), anchor, mark);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        if (tag != "?" && tag != "!" && !tag.empty() && tag != "tag:yaml.org,2002:map") {
            refuse_tag(tag, mark_of(mark));
        }
        open(Node::of_map(mark_of(mark)), anchor, mark);
    }
    void OnMapEnd() override { close(); }

private:
    char at(const YAML::Mark& mark) const {
        const auto place = static_cast<std::size_t>(mark.pos);
        return mark.pos >= 0 && place < text_.size() ? text_[place] : '\0';
    }

    static bool is_behind(Mark one, Mark other) {
        return std::tie(one.line, one.column) > std::tie(other.line, other.column);
    }

    // Where the content of a value begins: behind its anchor and its tag.
    std::size_t content_at(const YAML::Mark& mark) const {
        constexpr std::string_view kSpace = " \t\r\n";
        auto i = static_cast<std::size_t>(std::max(mark.pos, 0));
        while (i < text_.size() && (text_[i] == '&' || text_[i] == '!')) {
            i = text_.find_first_of(kSpace, i);
            i = std::min(text_.find_first_not_of(kSpace, i), text_.size());
        }
        return i;
    }

    unsigned column_of(std::size_t place) const {  // from 1
        const auto line = text_.substr(0, place).rfind('\n');
        return static_cast<unsigned>(place - (line == std::string_view::npos ? 0 : line + 1)) + 1;
    }

    [[noreturn]] void refuse_flow(std::size_t place, const char* why) const {
        const auto before = text_.substr(0, place);
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        throw Refused{{{static_cast<unsigned>(line), column_of(place)}, why}};
    }

    // From `[` or `{` to its end, what is in between included. `outer`: the column, from 1, of the
    // key or dash that it belongs to.
    void check_flow(std::size_t start, unsigned outer) const {
        constexpr std::string_view kEnds = " \t\r\n,[]{}";
        std::size_t depth = 0;
        bool spaced = true, first_in_line = false;  // of what comes next
        bool plain = false, quoted = false;         // what came last: text, perhaps unfinished
        for (auto i = start; i < text_.size(); ++i) {
            const char c = text_[i];
            const char next = i + 1 < text_.size() ? text_[i + 1] : '\n';
            if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
                spaced = true;
                first_in_line = first_in_line || c == '\n';
                continue;
            }
            if (std::exchange(first_in_line, false) && c != '#' && c != ']' && c != '}' &&
                column_of(i) <= outer)
                refuse_flow(i,
                            "not YAML: what is between brackets must be indented deeper than "
                            "the key or dash it belongs to");
            const bool after_space = std::exchange(spaced, false);
            const bool after_quotes = std::exchange(quoted, false);
            if (c == '#' && after_space) {
                i = std::min(text_.find('\n', i), text_.size()) - 1;
                plain = false;
            } else if (c == '#' && !plain) {
                refuse_flow(i, "not YAML: a remark needs a space before its #");
            } else if (c == '[' || c == '{') {
                ++depth;
                plain = false;
            } else if (c == ']' || c == '}') {
                plain = false;
                if (--depth > 0) continue;
                if (next == '#')
                    refuse_flow(i + 1, "not YAML: a remark needs a space before its #");
                return;
            } else if (c == ',') {
                plain = false;
            } else if (c == ':' && (after_quotes || kEnds.find(next) != std::string_view::npos)) {
                plain = false;
            } else if (plain) {
                continue;
            } else if (c == '"' || c == '\'') {
                i = end_of_quotes(i);
                quoted = true;
            } else if (c == '-' && kEnds.find(next) != std::string_view::npos) {
                refuse_flow(i, "not YAML: a dash alone between brackets; put it in quotes");
            } else {
                plain = true;
            }
        }
    }

    // The closing quote; the end of the text when there is none.
    std::size_t end_of_quotes(std::size_t start) const {
        const char quote = text_[start];
        for (auto i = start + 1; i < text_.size(); ++i) {
            if (quote == '"' && text_[i] == '\\') {
                ++i;
            } else if (text_[i] == quote) {
                if (quote == '"' || i + 1 >= text_.size() || text_[i + 1] != quote) return i;
                ++i;  // '' stands for '
            }
        }
        return text_.size();
    }

    // A quoted text ends with its quote, and nothing but space, a colon, a comma or a bracket is
    // next to it.
    void check_quotes(const YAML::Mark& mark) const {
        const auto end = end_of_quotes(static_cast<std::size_t>(mark.pos));
        if (end >= text_.size())
            throw Refused{{mark_of(mark), "not YAML: a quote that is never closed"}};
        const char next = end + 1 < text_.size() ? text_[end + 1] : '\n';
        if (std::string_view(" \t\r\n:,]}").find(next) == std::string_view::npos)
            throw Refused{{mark_of(mark),
                           "not YAML: something stands right behind this text's "
                           "closing quote; put a space between them"}};
    }

    struct Open {
        Node node;
        YAML::anchor_t anchor;
        std::unordered_map<std::string, Mark> keys;
        bool key_is_next = true;  // of a map: the next scalar is a key
        bool flow = false;        // written with brackets, or inside of such
        unsigned column = 0;      // of the outermost brackets and what is in lines, from 1
    };

    // Of a map that is written in lines: the next event is the value of its last key.
    static bool awaits_value(const Open& open) {
        return open.node.is(Node::Kind::Map) && !open.key_is_next && !open.flow;
    }

    [[noreturn]] static void refuse_tag(const std::string& tag, Mark mark) {
        throw Refused{{mark, "the tag \"" + core::printable(tag, 80) + "\" is not supported here"}};
    }

    void open(Node node, YAML::anchor_t anchor, const YAML::Mark& mark) {
        if (stack_.size() >= kFileDepth) throw Refused{too_deep(node.mark)};
        if (!stack_.empty() && expects_key())
            throw Refused{{node.mark, "not YAML: a key must be plain text"}};
        count_one(node.mark, 0);
        Open opened{std::move(node), anchor, {}, true, true, 0};
        if (stack_.empty() || !stack_.back().flow) {
            const auto begin = content_at(mark);
            opened.column = column_of(begin);
            opened.flow = begin < text_.size() && (text_[begin] == '[' || text_[begin] == '{');
            if (opened.flow) check_flow(begin, stack_.empty() ? 0 : stack_.back().column);
        }
        stack_.push_back(std::move(opened));
    }

    void close() {
        auto done = std::move(stack_.back());
        stack_.pop_back();
        remember(done.anchor, done.node);
        place(std::move(done.node));
    }

    void add(Node node, YAML::anchor_t anchor) {
        count_one(node.mark, node.text.size());
        remember(anchor, node);
        place(std::move(node));
    }

    bool expects_key() const {
        return stack_.back().node.is(Node::Kind::Map) && stack_.back().key_is_next;
    }

    void place(Node node) {
        if (stack_.empty()) {
            root = std::move(node);
            return;
        }
        auto& top = stack_.back();
        if (top.node.is(Node::Kind::List)) {
            top.node.items.push_back(std::move(node));
            return;
        }
        if (!top.key_is_next) {
            top.node.members.back().value = std::move(node);
            top.key_is_next = true;
            return;
        }
        key(top, std::move(node));
    }

    void key(Open& top, Node node) {
        if (node.is(Node::Kind::List) || node.is(Node::Kind::Map) || node.text.empty()) {
            throw Refused{{node.mark, "not YAML: a key must be plain text"}};
        }
        if (node.text == "<<") {
            throw Refused{
                {node.mark, "merge keys (<<) are YAML 1.1 and not supported; write the keys out"}};
        }
        if (const auto [it, fresh] = top.keys.try_emplace(node.text, node.mark); !fresh) {
            throw Refused{given_twice(node.text, it->second, node.mark)};
        }
        top.node.members.push_back({std::move(node.text), node.mark, {}});
        top.key_is_next = false;
    }

    void remember(YAML::anchor_t anchor, const Node& node) {
        if (!anchor) return;
        count(node, node.mark, stack_.size() + 1);  // the copy costs memory like any other value
        anchored_[anchor] = node;
    }

    void count_one(Mark mark, std::size_t bytes) {
        bytes_ += bytes;  // or one long text and 1e5 aliases of it would fill the memory
        if (++nodes_ > bounds_.nodes || bytes_ > kExpansion * bounds_.bytes)
            throw Refused{too_many_values(mark, bounds_)};
    }
    void count(const Node& node, Mark mark, std::size_t depth) {
        count_one(mark, node.text.size());
        const bool nests = node.is(Node::Kind::List) || node.is(Node::Kind::Map);
        if (nests && depth > kFileDepth) throw Refused{too_deep(mark)};
        for (const auto& item : node.items) count(item, mark, depth + 1);
        for (const auto& member : node.members) {
            bytes_ += member.key.size();
            count(member.value, mark, depth + 1);
        }
    }

    const std::string_view text_;
    const Bounds bounds_;
    std::vector<Open> stack_;
    std::map<YAML::anchor_t, Node> anchored_;
    std::size_t nodes_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace

Parsed parse_yaml(std::string_view text, const Bounds& bounds) {
    Parsed parsed;
    try {
        ViewBuffer buffer(text);
        std::istream stream(&buffer);
        YAML::Parser parser(stream);
        if (text.starts_with('%') && text.find("\n---") == std::string_view::npos) {
            parsed.problem =
                Problem{{1, 1}, "not YAML: a directive (%) needs a line \"---\" below"};
            return parsed;
        }
        if (const auto lone = lone_return(text)) {
            parsed.problem =
                Problem{*lone,
                        "not YAML: a carriage return without a line feed; lines end in "
                        "\\n or \\r\\n"};
            return parsed;
        }
        TreeBuilder builder(text, bounds);
        if (parser.HandleNextDocument(builder)) {
            TreeBuilder second(text, bounds);
            if (parser.HandleNextDocument(second)) {
                parsed.problem =
                    Problem{second.root.mark, "a second YAML document; expected one in a file"};
                return parsed;
            }
        }
        parsed.root = std::move(builder.root);
        if (parsed.root.is(Node::Kind::Null)) parsed.root.kind = Node::Kind::Map;
        if (!parsed.root.is(Node::Kind::Map)) parsed.problem = not_a_table(parsed.root);
    } catch (const Refused& refused) {
        parsed.problem = refused.problem;
    } catch (const YAML::Exception& error) {
        const auto tab = tab_before(text, mark_of(error.mark).line);
        parsed.problem =
            tab ? Problem{*tab, "not YAML: a tab in the indentation; write spaces"}
                : Problem{mark_of(error.mark), "not YAML: " + core::printable(error.msg, 200)};
    } catch (const std::exception& error) {
        parsed.problem =
            Problem{{}, std::string("not YAML: ") + core::printable(error.what(), 200)};
    }
    return parsed;
}

}  // namespace patchbay::config
