#include "policy/readings.hpp"

#include "config/ids.hpp"
#include "config/levels.hpp"
#include "config/rules.hpp"
#include "core/text.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <iterator>

namespace patchbay::policy {

namespace {

constexpr std::string_view kPrefix = "mcp__";

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// All that public names are made of.
bool is_plain(char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-';
}

// What all public names of a server begin with, and what is asked of it besides its tools is called.
std::string beginning_of(std::string_view server) {
    return std::string(kPrefix).append(server).append("__");
}

// Whether it holds what stands for several names elsewhere, or what nobody sees: no list of a server
// makes a name of that.
bool stands_for_more(std::string_view text, bool open) {
    return text.find_first_of("*?|\\[{^<%") != std::string_view::npos ||
           (open && text.ends_with('.')) || core::printable(text, 3 * text.size()) != text ||
           std::none_of(text.begin(), text.end(), is_letter_or_digit);
}

struct Pattern {
    explicit Pattern(std::string_view written)
        : text(core::trimmed(written)),
          open(text.ends_with('*')),
          begin(text.substr(0, text.size() - (open ? 1 : 0))) {}
    std::string_view text;
    bool open;               // anything may follow
    std::string_view begin;  // without the `*`
};

// More names than anybody writes into one text: what they forbid is then all.
constexpr std::size_t kMostInOneText = 16;

// Its runs of plain letters, each with a `*` that follows it: the names where several stand in one text.
std::vector<std::string_view> plain_runs(std::string_view text) {
    std::vector<std::string_view> runs;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = at + plain_length(text.substr(at));
        const bool open = end < text.size() && text[end] == '*';
        if (end > at) runs.push_back(text.substr(at, end - at + (open ? 1 : 0)));
        at = end + 1;
    }
    return runs;
}

// Its runs of letters and digits, in small letters, with a blank between two.
std::string words_of(std::string_view text) {
    std::string words;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!is_letter_or_digit(text[at])) continue;
        if (at > 0 && !is_letter_or_digit(text[at - 1]) && !words.empty()) words += ' ';
        words += text[at];
    }
    return core::lower(words);
}

// Whether a name in the rules of a server may be that server's own, alone or before a tool's: `e`,
// `e__x`, `mcp_e_x`; `e_x` is a tool.
bool may_name(const config::Server& server, const Pattern& name) {
    const auto words = words_of(name.begin);
    if (words == "mcp" || (name.open && !name.begin.empty() && kPrefix.starts_with(name.begin)))
        return true;
    for (const auto& own : {server.id, server.written}) {
        const auto own_words = words_of(own);
        if (own_words.empty()) continue;
        if (words == own_words || name.begin.starts_with(own + "__") ||
            (words + " ").starts_with("mcp " + own_words + " "))
            return true;
    }
    return false;
}

// `ns.delete`, as tools are called: each dot stands for itself. Not where the first word is a server's.
bool is_dotted_name(std::string_view server, std::string_view name) {
    const auto first = name.substr(0, name.find('.'));
    for (std::size_t at = 0; at < name.size(); ++at) {
        const bool ends_in_dot = at + 1 == name.size() || !is_letter_or_digit(name[at + 1]);
        if (name[at] == '.' ? at == 0 || ends_in_dot : !is_plain(name[at])) return false;
    }
    return first.size() < name.size() && first != "mcp" && first != server;
}

// A cut public name ends before what all names of a long id begin with.
void forbid_beginning(std::string_view server, std::string_view beginning, Forbidden& meant) {
    const auto plain = beginning_of(server).append(beginning);
    const auto cut = protocol::public_beginning(server, beginning);
    meant.patterns.push_back(plain + "*");
    if (cut != plain) meant.patterns.push_back(cut + "*");
}

void forbid_tools(std::string_view server, std::string_view rest, bool open, Forbidden& meant) {
    if (open || rest.empty()) {
        forbid_beginning(server, rest, meant);
    } else {
        meant.patterns.push_back(protocol::public_name(server, rest));
        meant.patterns.push_back(protocol::name_told_apart(server, rest));
    }
    const auto plain = rest.substr(0, plain_length(rest));
    if (plain.size() == rest.size()) return;
    if (!open && is_dotted_name(server, rest)) {
        // As a regular expression has it too.
        for (const char letter : {'_', '-'}) {
            auto other = std::string(rest);
            std::replace(other.begin(), other.end(), '.', letter);
            meant.patterns.push_back(protocol::public_name(server, other));
        }
        meant.doubts.push_back({std::string(server), std::string(rest), false, true});
        return;
    }
    const auto runs = plain_runs(rest);
    const bool too_many = runs.size() > kMostInOneText;
    if (!too_many)
        for (const auto run : runs) {
            const Pattern name(run);
            forbid_tools(server, name.begin, name.open, meant);
        }
    // In a script that public names lack each letter is such a one, and a tool may be called so.
    if (plain.empty() && !too_many && !stands_for_more(rest, open)) {
        meant.doubts.push_back({std::string(server), std::string(rest), open});
        return;
    }
    const auto beginning = too_many ? std::string_view() : plain;
    forbid_beginning(server, beginning, meant);
    meant.cut = beginning_of(server).append(beginning);
}

// Where `mcp_e_x` may be a public name, some end of it is the tool.
void forbid_ends(std::string_view server, std::string_view text, Forbidden& meant) {
    std::size_t ends = 0;
    for (const auto run : plain_runs(text)) {
        const Pattern name(run);
        for (std::size_t at = 1; at < name.begin.size(); ++at) {
            if (!is_letter_or_digit(name.begin[at]) || is_letter_or_digit(name.begin[at - 1]))
                continue;
            if (++ends > kMostInOneText) return forbid_beginning(server, {}, meant);
            forbid_tools(server, name.begin.substr(at), name.open, meant);
        }
    }
}

}  // namespace

std::size_t plain_length(std::string_view text) {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) -
                                    text.begin());
}

void Forbidden::add(Forbidden more) {
    std::move(more.patterns.begin(), more.patterns.end(), std::back_inserter(patterns));
    std::move(more.doubts.begin(), more.doubts.end(), std::back_inserter(doubts));
    if (cut.empty()) cut = std::move(more.cut);
}

Readings::Readings(std::span<const config::Server> servers) {
    for (const auto& server : servers) {
        ids_.insert(server.id);
        if (!server.written.empty()) renamed_.push_back({beginning_of(server.written), server.id});
    }
}

// A tool's name may hold `__` too, so each of them may be where the server ends.
std::vector<Readings::Tools> Readings::by_id(std::string_view begin) const {
    std::vector<Tools> found;
    if (!begin.starts_with(kPrefix)) return found;
    for (auto end = begin.find("__", kPrefix.size());
         end != std::string_view::npos && end <= kPrefix.size() + config::kIdBytes;
         end = begin.find("__", end + 1)) {
        const auto id = ids_.find(begin.substr(kPrefix.size(), end - kPrefix.size()));
        if (id != ids_.end()) found.push_back({*id, begin.substr(end + 2)});
    }
    return found;
}

std::vector<Readings::Tools> Readings::by_written_name(std::string_view begin) const {
    std::vector<Tools> found;
    for (const auto& [own, id] : renamed_)
        if (begin.starts_with(own)) found.push_back({id, begin.substr(own.size())});
    return found;
}

// Of several names in one text each is read.
Forbidden Readings::of_deny(std::string_view pattern) const {
    auto meant = of_one(pattern);
    const auto next = [&](std::size_t from) {
        auto at = pattern.find(kPrefix, from);
        while (at != std::string_view::npos && is_plain(pattern[at - 1]))
            at = pattern.find(kPrefix, at + 1);
        return at;
    };
    for (auto at = next(1); at != std::string_view::npos;) {
        const auto end = next(at + 1);
        meant.add(of_one(pattern.substr(at, end - at)));
        at = end;
    }
    const auto text = core::trimmed(pattern);
    if (text.starts_with(kPrefix) && by_written_name(text).empty())
        read_without_prefix(text, meant);
    return meant;
}

// `e__x`, wherever it stands.
void Readings::read_without_prefix(std::string_view text, Forbidden& meant) const {
    std::size_t found = 0;
    for (auto run : plain_runs(text)) {
        while (!run.empty() && !is_letter_or_digit(run.front())) run.remove_prefix(1);
        const auto name = std::string(kPrefix).append(run);
        if (run.starts_with(kPrefix) || by_id(name).empty()) continue;
        if (++found > kMostInOneText) return meant.patterns.push_back(std::string(kPrefix) + "*");
        meant.add(of_one(name));
    }
}

Forbidden Readings::of_one(std::string_view written) const {
    const Pattern pattern(written);
    Forbidden meant;
    meant.patterns.emplace_back(pattern.text);
    if (!pattern.begin.starts_with(kPrefix)) return meant;
    auto tools = by_id(pattern.begin);
    const auto more = by_written_name(pattern.begin);
    tools.insert(tools.end(), more.begin(), more.end());
    for (const auto& [server, rest] : tools) forbid_tools(server, rest, pattern.open, meant);
    const auto server = pattern.begin.substr(kPrefix.size());
    bool is_of_a_server = !tools.empty();
    // A server alone, and the beginning of what some are called.
    if (!pattern.open && ids_.contains(server)) {
        forbid_beginning(server, {}, meant);
        is_of_a_server = true;
    }
    for (const auto& [own, id] : renamed_) {
        const bool whole = own.starts_with(pattern.begin) &&
                           (pattern.open || own.size() == pattern.begin.size() + 2);
        if (whole) forbid_beginning(id, {}, meant);
        is_of_a_server = is_of_a_server || whole;
    }
    const auto plain = pattern.begin.substr(0, plain_length(pattern.begin));
    if (!meant.cut.empty() && more.empty()) forbid_all_that_begins(plain, meant);
    if (is_of_a_server) return meant;
    if (plain.size() < std::min(pattern.begin.find("__", kPrefix.size()), pattern.begin.size()))
        read_odd_server(pattern.begin, pattern.open, meant);
    // `mcp__git_log`, where no other server can be meant.
    const auto longer = ids_.lower_bound(server);
    const bool begins_one = pattern.open && longer != ids_.end() && longer->starts_with(server);
    if (!begins_one && server.find("__") == std::string_view::npos)
        for (auto end = server.find('_'); end < config::kIdBytes; end = server.find('_', end + 1))
            if (const auto id = ids_.find(server.substr(0, end)); id != ids_.end())
                forbid_tools(*id, server.substr(end + 1), pattern.open, meant);
    return meant;
}

// What stands where a server should and cannot be an id: `mcp__e/*`, `mcp__?__x`, `mcp__@org/x__y` of a
// server that is not here.
void Readings::read_odd_server(std::string_view begin, bool open, Forbidden& meant) const {
    const auto from = kPrefix.size();
    const auto end = begin.find("__", from);
    const auto name = begin.substr(from, end - from);
    const auto plain = begin.substr(0, plain_length(begin));
    if (stands_for_more(name, open && end == std::string_view::npos)) {
        forbid_all_that_begins(plain, meant);
        meant.cut = plain;
        return;
    }
    const auto first = std::find_if(name.begin(), name.end(), is_letter_or_digit);
    const auto last = std::find_if(name.rbegin(), name.rend(), is_plain).base();
    auto before = plain.substr(from);
    while (before.ends_with('_')) before.remove_suffix(1);
    std::set<std::string_view> meant_ids{std::string_view(first, last), before};
    for (const auto run : plain_runs(name)) meant_ids.insert(run);
    for (const auto id : meant_ids) {
        if (!ids_.contains(id)) continue;
        forbid_beginning(id, {}, meant);
        meant.cut = beginning_of(id);
    }
}

void Readings::forbid_all_that_begins(std::string_view begin, Forbidden& meant) const {
    meant.patterns.push_back(std::string(begin) + "*");
    for (const auto& [own, id] : renamed_)
        if (own.starts_with(begin)) forbid_beginning(id, {}, meant);
}

std::vector<std::string> Readings::of_allow(std::string_view written) const {
    const Pattern pattern(written);
    std::vector<std::string> readings;
    auto meant = by_id(pattern.begin);
    for (const auto& tools : by_written_name(pattern.begin))
        if (std::find(meant.begin(), meant.end(), tools) == meant.end()) meant.push_back(tools);
    if (meant.size() > 1) return readings;
    readings.emplace_back(pattern.text);
    if (meant.empty()) return readings;
    const auto& [server, rest] = meant.front();
    auto reading = pattern.open   ? beginning_of(server).append(rest) + "*"
                   : rest.empty() ? beginning_of(server)
                                  : protocol::public_name(server, rest);
    if (reading != pattern.text) readings.push_back(std::move(reading));
    return readings;
}

Forbidden forbidden_by(const config::Server& server, std::string_view written) {
    const Pattern name(written);
    const bool is_plain = plain_length(name.begin) == name.begin.size();
    const bool names_server = may_name(server, name);
    if (is_plain && !name.open && !names_server && !name.text.empty()) return {};
    const Readings readings({&server, 1});
    const bool is_public = name.begin.starts_with(kPrefix) && config::can_be_denied(name.text);
    auto meant = is_public ? readings.of_deny(name.text) : Forbidden();
    meant.add(readings.of_deny(beginning_of(server.id).append(name.text)));
    const bool sure = is_plain || (!name.open && is_dotted_name(server.id, name.begin));
    if (is_public || (sure && !names_server)) return meant;
    meant.doubts.push_back({server.id, std::string(name.begin), name.open});
    forbid_ends(server.id, name.text, meant);
    return meant;
}

bool is_plain_beginning(const config::Server& server, std::string_view name) {
    if (!config::is_beginning(name) || name.starts_with(kPrefix)) return false;
    const auto begin = config::beginning_in(name);
    const auto meant = forbidden_by(server, name);
    return plain_length(begin) == begin.size() && meant.doubts.empty() && meant.cut.empty();
}

}  // namespace patchbay::policy
