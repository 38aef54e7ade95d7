#include "config/secret_values.hpp"

#include "config/secret_names.hpp"
#include "core/json.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace patchbay::config {

namespace {

namespace json = boost::json;

constexpr std::size_t kEnoughToTell = 64;  // of a value: a longer look would be taken once per name
constexpr const char* kMask = "***";
constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kPemBegins = "-----BEGIN";
constexpr std::string_view kPemEnds = "-----END";
constexpr std::string_view kAddressEnds = "?# \t\r\n\"'";  // its path, or all of it

std::string_view text_of(const json::value& value) {
    return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

// The next option, not the value of the one before: a value may begin with a dash, and with two, but
// all of an option, up to its own value, is a name.
bool is_option(std::string_view text) {
    const auto name = text.substr(0, text.find('='));
    return name.starts_with("--") && std::all_of(name.begin(), name.end(), is_of_a_name);
}

// The letter that `%5F` stands for; 0: `text` begins with no such thing.
char percent_encoded(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (text.size() < 3 || text[0] != '%') return 0;
    const auto high = kDigits.find(core::lower(text[1])), low = kDigits.find(core::lower(text[2]));
    return high == kNone || low == kNone ? '\0' : static_cast<char>(high * 16 + low);
}

// Of an argument the name whose value is the next one: `--token`, what ends in `=` or `:`
// (`--token=`, `X-Api-Key:`), and behind `--header` the name alone. `before`: what the one before
// names so.
std::string_view name_asking(std::string_view text, std::string_view before) {
    const bool open = text.ends_with('=') || text.ends_with(':');
    if (open) text.remove_suffix(1);
    auto begin = text.size();
    while (begin > 0 && is_of_a_name(text[begin - 1])) --begin;
    if (open) return text.substr(begin);
    const bool header = before == "--header" || before == "-H";
    return begin == 0 && (text.starts_with('-') || header) ? text : std::string_view();
}

// Finds what is secret in a text, in one pass: no place is looked at twice but by a bounded look.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    std::vector<Part> run() {
        while (at_ < text_.size()) {
            if (name_letter()) {
                word();
            } else {
                in_path_ = in_path_ && kAddressEnds.find(text_[at_]) == kNone;
                ++at_;
            }
        }
        return std::move(parts_);
    }

private:
    // The next letter of a name, which an address may have percent-encoded; 0: another character.
    char name_letter() const {
        const char letter = text_[at_] == '%' ? percent_encoded(text_.substr(at_, 3)) : text_[at_];
        return is_of_a_name(letter) ? letter : '\0';
    }

    void word() {
        const auto begin = at_;
        if (in_path_ && text_[begin - 1] == '/') {
            const auto end = end_of_key();
            const bool whole = text_.substr(end, 1).find_first_not_of(kAddressEnds) == kNone ||
                               text_.substr(end, 1) == "/";
            if (whole && looks_like_a_key(text_.substr(begin, end - begin)))
                return keep(begin, end);
        }
        std::string word;
        while (at_ < text_.size()) {
            const char letter = name_letter();
            if (!letter) break;
            word += letter;
            at_ += text_[at_] == '%' ? 3 : 1;
        }
        if (const auto pem = text_.substr(begin, at_ - begin).find(kPemBegins); pem != kNone)
            return keep(begin + pem, end_of_pem(at_));
        if (text_.substr(at_).starts_with("://")) return authority(word);
        if (core::lower(word).ends_with("jdbc") && text_.substr(at_, 1) == ":") return oracle();
        if (is_known_key(word)) return keep(begin, end_of_key());
        const char before = begin == 0 ? ' ' : text_[begin - 1];
        if (std::string_view(" \t\r\n,;=:\"'{([<>|?&#").find(before) == kNone) return;
        if (const auto value = value_of(word); value != kNone)
            named(word, before, value);
        else
            scheme(word);
    }

    // Where the value of a name begins, which ends here: behind `=` or `:`, and of an option also
    // behind a space. With the quotes of JSON, even of JSON in JSON.
    std::size_t value_of(std::string_view name) const {
        const auto mark = text_.find_first_not_of("\\\"' ", at_);
        if (mark == kNone) return kNone;
        if (text_[mark] == '=' || text_[mark] == ':') return text_.find_first_not_of(' ', mark + 1);
        return name.starts_with('-') && text_[at_] == ' ' ? mark : kNone;
    }

    void named(std::string_view name, char before, std::size_t value) {
        const bool in_query = before == '?' || before == '&' || before == '#';
        const bool quoted = text_[at_] == '"' || text_[at_] == '\'' || text_[at_] == '\\';
        const bool behind_space = text_.substr(at_, value - at_).find_first_of("=:") == kNone;
        const char* ends = in_query       ? "&# \t\r\n\"'"
                           : quoted       ? ",}] \t\r\n"
                           : behind_space ? " \t\r\n"
                                          : "";
        const auto look = text_.substr(value, kEnoughToTell);
        const auto looked_at = look.substr(0, look.find_first_of(in_query ? ends : " \t\r\n,;\"'"));
        const bool secret =
            names_a_secret(name) ||
            ((in_query || may_name_a_secret(name)) && looks_like_a_key(looked_at)) ||
            (in_query && is_key_of_a_query(name));
        if (!secret || (behind_space && is_option(looked_at))) return;
        if (look.starts_with(kPemBegins)) return keep(value, end_of_pem(value));
        const auto opening = text_.find_first_not_of('\\', value);
        if (opening != kNone && (text_[opening] == '"' || text_[opening] == '\''))
            keep(opening + 1, closing(text_.substr(value, opening + 1 - value), opening + 1));
        else if (text_[value] == '{' || text_[value] == '[')
            keep(value, text_.size());
        else
            keep(value, std::min(text_.find_first_of(ends, value), text_.size()));
    }

    // `key`, `sig`, `X-Amz-Signature`
    static bool is_key_of_a_query(std::string_view name) {
        const auto words = words_of(name);
        return !words.empty() && (words.back() == "sig" || words.back() == "signature" ||
                                  (words.size() == 1 && words.back() == "key"));
    }

    // Of all its lines, and of one that has no end the rest.
    std::size_t end_of_pem(std::size_t from) const {
        const auto last = text_.find(kPemEnds, from);
        if (last == kNone) return text_.size();
        const auto end = text_.find("-----", last + kPemEnds.size());
        return end == kNone ? text_.size() : end + 5;
    }

    // The place of the next `quote`, which may have backslashes before it itself.
    std::size_t closing(std::string_view quote, std::size_t from) const {
        for (auto end = text_.find(quote, from); end != kNone; end = text_.find(quote, end + 1)) {
            const auto escapes = end - 1 - text_.find_last_not_of('\\', end - 1);
            if (quote.size() > 1 || escapes % 2 == 0) return end;
        }
        return text_.size();
    }

    // `Bearer abc`, and nothing behind it: of a sentence it would be a word.
    void scheme(std::string_view word) {
        if (word.size() != 6 && word.size() != 5) return;
        const auto small = core::lower(word);
        if ((small != "bearer" && small != "basic") || text_.substr(at_, 1) != " ") return;
        const auto value = text_.find_first_not_of(' ', at_);
        const auto end = std::min(text_.find_first_of(" \"'", value), text_.size());
        if (value != kNone && text_.find_first_not_of("\"'", end) == kNone) keep(value, end);
    }

    // The password of user:password@; without one the user where that is how keys are written. Then
    // the path begins, whose segments may be keys: hosted servers give such addresses.
    void authority(std::string_view written) {
        const auto scheme = core::lower(written);
        const auto begin = at_ + 3;
        in_path_ = true;
        at_ = std::min(text_.find_first_of("/?# \t\r\n\"'", begin), text_.size());
        const auto whole = text_.substr(begin, at_ - begin);
        const auto user = whole.substr(0, std::min(whole.rfind('@'), whole.size()));
        if (user.size() == whole.size()) return;
        const auto colon = std::min(user.find(':'), user.size());
        const bool has_password = colon + 1 < user.size();
        const bool http = scheme.ends_with("http") || scheme.ends_with("https") || scheme == "ws" ||
                          scheme == "wss";
        const auto end = at_;
        if (looks_like_a_key(user.substr(0, colon)) || (http && !has_password))
            keep(begin, begin + user.size());
        else if (has_password)
            keep(begin + colon + 1, begin + user.size());
        at_ = end;
    }

    // The word of jdbc:oracle:thin:user/word@host; the rest of such an address is as of others.
    void oracle() {
        const auto end = std::min(text_.find_first_of(kAddressEnds, at_), text_.size());
        const auto address = text_.substr(at_, end - at_);
        const auto user = address.substr(0, std::min(address.find('@'), address.size()));
        const auto slash = user.find('/');
        if (user.size() == address.size() || slash == kNone || slash + 1 == user.size()) return;
        if (user.substr(slash).starts_with("//")) return;  // authority() is asked for that
        keep(at_ + slash + 1, at_ + user.size());
    }

    std::size_t end_of_key() const {
        auto end = at_;
        while (end < text_.size() && is_of_a_key(text_[end])) ++end;
        return end;
    }

    void keep(std::size_t begin, std::size_t end) {
        if (begin < end) parts_.push_back({begin, end});
        at_ = std::max(at_, end);
    }

    const std::string_view text_;
    std::size_t at_ = 0;
    bool in_path_ = false;  // of an address
    std::vector<Part> parts_;
};

class Finder {
public:
    void pairs(const json::value* table) {
        if (!table || !table->is_object()) return;
        for (const auto& member : table->get_object()) {
            const auto value = text_of(member.value());
            const auto word = word_of_login(member.key(), value);
            if (!word.empty())
                found.insert(found.end(), {std::string(value), std::string(word)});
            else if (is_secret(member.key(), last_words(value)))
                keep_with_scheme(value);
            else
                text(&member.value());
        }
    }

    // A program's arguments: a list, or one text with all of them.
    void args(const json::value* list) {
        if (!list || !list->is_array()) return text(list);
        const auto parts = secret_parts(list->get_array());
        for (std::size_t i = 0; i < parts.size(); ++i)
            keep_parts(text_of(list->get_array()[i]), parts[i]);
    }

    void text(const json::value* value) {
        if (value) keep_parts(text_of(*value), secret_parts(text_of(*value)));
    }

    std::vector<std::string> found;

private:
    // Of `user:word`; empty: it is none.
    static std::string_view word_of_login(std::string_view name, std::string_view value) {
        const auto words = words_of(name);
        const auto colon = value.find(':');
        const bool login = !words.empty() &&
                           (words.back().ends_with("login") || words.back().ends_with("userpwd"));
        return login && colon != value.npos && value.find("://") == value.npos
                   ? value.substr(colon + 1)
                   : std::string_view();
    }
    void keep_parts(std::string_view text, std::span<const Part> parts) {
        for (const auto& part : parts)
            keep_with_scheme(text.substr(part.begin, part.end - part.begin));
    }
    // `Bearer abc` and `abc`
    void keep_with_scheme(std::string_view value) {
        if (!value.empty()) found.emplace_back(value);
        if (const auto word = last_words(value); word.size() != value.size() && !word.empty())
            found.emplace_back(word);
        if (value.starts_with(kPemBegins) && value.find("\\n") != value.npos)
            found.push_back(with_newlines(value));
    }
    // A PEM in one line, as variables have it: who uses it shows it in lines.
    static std::string with_newlines(std::string_view value) {
        std::string lines;
        for (auto at = value.find("\\n"); at != value.npos; at = value.find("\\n")) {
            lines.append(value.substr(0, at)).append("\n");
            value.remove_prefix(at + 2);
        }
        return lines.append(value);
    }
    static std::string_view last_words(std::string_view value) {
        const auto space = value.starts_with(kPemBegins) ? value.npos : value.find(' ');
        return space == value.npos ? value : value.substr(space + 1);
    }
};

bool names_a_pair(std::string_view key) {
    const auto plain = core::lower(key);
    return plain == "name" || plain == "key";
}

// {"name": "password", "value": ...}, as many APIs have what others write as a member.
bool is_pair_of_a_secret(const json::object& object) {
    return std::any_of(object.begin(), object.end(), [](const auto& member) {
        return names_a_pair(member.key()) && names_a_secret(text_of(member.value()));
    });
}

// The same in a text that holds JSON, or nearly: within an argument, or with keys that are there twice. All values
// behind "value" where some name is one of a secret. Each byte is looked at once.
std::string without_pairs(std::string_view text) {
    const auto behind_blanks = [&](std::size_t at) {
        return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    };
    const auto end_of_text = [&](std::size_t at) {  // `at`: behind its quote; its closing one
        while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
        return std::min(at, text.size());
    };
    std::vector<Part> values;
    bool secret = false;
    for (auto at = text.find('"'); at < text.size(); at = text.find('"', at)) {
        const auto end = end_of_text(at + 1);
        const auto key = text.substr(at + 1, end - at - 1);
        const auto colon = behind_blanks(std::min(end + 1, text.size()));
        at = std::min(end + 1, text.size());
        if (colon >= text.size() || text[colon] != ':') continue;
        at = behind_blanks(colon + 1);
        const bool quoted = at < text.size() && text[at] == '"';
        const auto begin = at + (quoted ? 1 : 0);
        if (quoted && names_a_pair(key))
            secret = secret || names_a_secret(text.substr(begin, end_of_text(begin) - begin));
        const bool number = at < text.size() && (core::is_digit(text[at]) || text[at] == '-');
        if (core::lower(key) != "value" || (!quoted && !number)) continue;
        at = quoted ? end_of_text(begin)
                    : std::min(text.find_first_of(",}] \t\r\n\"", at), text.size());
        values.push_back({begin, at});
        if (quoted) at = std::min(at + 1, text.size());
    }
    if (!secret) return std::string(text);
    std::string shown;
    std::size_t from = 0;
    for (const auto& part : values) {
        shown.append(text.substr(from, part.begin - from)).append(kMask);
        from = part.end;
    }
    return shown.append(text.substr(from));
}

}  // namespace

std::vector<Part> secret_parts(std::string_view text) {
    return Scanner(text).run();
}

std::vector<std::vector<Part>> secret_parts(const json::array& args) {
    std::vector<std::vector<Part>> parts;
    parts.reserve(args.size());
    std::string_view asking;  // what the one before names, where it has no value itself
    for (const auto& arg : args) {
        const auto text = text_of(arg);
        const auto name = std::exchange(asking, name_asking(text, asking));
        const bool whole =
            !text.empty() && !is_option(text) &&
            (names_a_secret(name) || (may_name_a_secret(name) && looks_like_a_key(text)));
        if (whole) asking = {};
        parts.push_back(whole ? std::vector<Part>{{0, text.size()}} : secret_parts(text));
    }
    return parts;
}

std::string without_secrets(std::string_view given) {
    const auto text = without_pairs(given);
    std::string shown;
    std::size_t at = 0;
    for (const auto& part : secret_parts(text)) {
        shown.append(text, at, part.begin - at).append(kMask);
        at = part.end;
    }
    return core::masked(shown.append(text, at));
}

json::value without_secrets(std::string_view name, const json::value& value) {
    if (const auto text = core::text_of(value))
        return is_secret(name, *text) ? json::value(kMask) : json::string(without_secrets(*text));
    if (names_a_secret(name) && !value.is_bool() && !value.is_null()) return kMask;
    if (value.is_number()) {  // a secret may be one
        const auto digits = json::serialize(value);
        return core::masked(digits) == digits ? value : json::value(kMask);
    }
    if (const auto* list = value.if_array()) {
        const auto parts = secret_parts(*list);  // the word after `--token` is one
        json::array shown;
        for (std::size_t i = 0; i < list->size(); ++i) {
            const auto text = core::text_of((*list)[i]);
            const bool whole = text && parts[i].size() == 1 && parts[i][0] == Part{0, text->size()};
            shown.push_back(whole ? json::value(kMask) : without_secrets(name, (*list)[i]));
        }
        return shown;
    }
    const auto* object = value.if_object();
    if (!object) return value;
    json::object shown;
    const bool pair = is_pair_of_a_secret(*object);
    std::size_t number = 0;
    for (const auto& member : *object) {
        ++number;
        auto key = without_secrets(std::string_view(member.key()));
        // Two that are masked are two still.
        if (shown.contains(key)) key += " (" + std::to_string(number) + ")";
        const bool whole = pair && core::lower(member.key()) == "value" &&
                           (member.value().is_string() || member.value().is_number());
        shown[key] = whole ? json::value(kMask) : without_secrets(member.key(), member.value());
    }
    return shown;
}

std::vector<std::string> secret_values(const json::object& settings) {
    Finder finder;
    finder.pairs(settings.if_contains("env"));
    finder.pairs(settings.if_contains("headers"));
    finder.args(settings.if_contains("command"));
    finder.args(settings.if_contains("args"));
    finder.text(settings.if_contains("url"));
    finder.text(settings.if_contains("proxy"));
    return std::move(finder.found);
}

}  // namespace patchbay::config
