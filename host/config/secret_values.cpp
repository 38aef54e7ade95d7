#include "config/secret_values.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace patchbay::config {

namespace {

namespace json = boost::json;

constexpr std::size_t kLooksLikeAKey = 20;
constexpr std::size_t kToken = 16;
constexpr std::size_t kOddLetters = 10;  // of a token in small letters, in parts that are no words
constexpr std::size_t kEnoughToTell = 64;  // of a value: a longer look would be taken once per name
constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kPemBegins = "-----BEGIN";
constexpr std::string_view kPemEnds = "-----END";
constexpr std::string_view kAddressEnds = "?# \t\r\n\"'";  // its path, or all of it

bool is_letter(char letter) {
    return core::lower(letter) >= 'a' && core::lower(letter) <= 'z';
}
bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}
// Of the name of an option, a variable, a header or a parameter.
bool is_of_a_name(char letter) {
    return is_letter(letter) || is_digit(letter) || letter == '-' || letter == '_' || letter == '.';
}
bool is_of_a_key(char letter) {
    return is_of_a_name(letter) || letter == '=' || letter == '+' || letter == '~';
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<const char*, N>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// No path, no address, no sentence: sk-..., ghp_..., a JWT, hexadecimal digits.
bool looks_like_a_key(std::string_view value) {
    return value.size() >= kLooksLikeAKey && std::any_of(value.begin(), value.end(), is_letter) &&
           std::any_of(value.begin(), value.end(), is_digit) &&
           std::all_of(value.begin(), value.end(), is_of_a_key);
}

bool is_lower(char letter) {
    return letter >= 'a' && letter <= 'z';
}
bool is_hex(char letter) {
    return is_digit(letter) || (core::lower(letter) >= 'a' && core::lower(letter) <= 'f');
}

bool is_uuid(std::string_view value) {
    if (value.size() != 36) return false;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? value[i] != '-' : !is_hex(value[i])) return false;
    }
    return true;
}

// `db-1.eu-west-1.example.com`: small letters, digits and dashes in labels, the last of them a word.
bool is_host_name(std::string_view value) {
    const auto dot = value.rfind('.');
    return dot != kNone && value.size() - dot > 2 &&
           std::all_of(value.begin() + static_cast<std::ptrdiff_t>(dot) + 1, value.end(),
                       is_lower) &&
           std::all_of(value.begin(), value.end(), [](char letter) {
               return is_lower(letter) || is_digit(letter) || letter == '-' || letter == '.';
           });
}

std::string_view text_of(const json::value& value) {
    return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

// What the well-known services begin their keys with: in an argument a long word with digits may as
// well be the name of a package.
bool is_known_key(std::string_view text) {
    constexpr std::array kBeginnings = {
        "sk-",   "sk_live_",    "sk_test_", "rk_live_", "ghp_",  "gho_",  "ghu_",
        "ghs_",  "ghr_",        "glpat-",   "xoxb-",    "xoxp-", "xoxa-", "xapp-",
        "AKIA",  "github_pat_", "ASIA",     "AIza",     "eyJ",   "npm_",  "hf_",
        "ya29.", "SG.",         "dop_v1_",  "pypi-A",
    };
    return looks_like_a_key(text) &&
           std::any_of(kBeginnings.begin(), kBeginnings.end(),
                       [&](const char* beginning) { return text.starts_with(beginning); });
}

// "max", "tokens" of --max-tokens; "api", "key" of apiKey2.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words;
    const auto is_capital = [](char c) { return is_letter(c) && c != core::lower(c); };
    char before = '-';
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char letter = std::exchange(before, name[i]);
        if (!is_letter(name[i])) continue;
        const bool next_is_small =
            i + 1 < name.size() && is_letter(name[i + 1]) && !is_capital(name[i + 1]);
        if (!is_letter(letter) || (is_capital(name[i]) && (!is_capital(letter) || next_is_small)))
            words.emplace_back();
        words.back() += core::lower(name[i]);
    }
    return words;
}

// Letters alone, as people write them: small, capital, or words of three letters or more on average
// that begin with capitals.
bool is_made_of_words(std::string_view letters) {
    if (letters.size() >= kToken && std::all_of(letters.begin(), letters.end(), is_hex))
        return false;
    return letters.size() >= 3 * words_of(letters).size() || letters.size() <= 2;
}

// A part of a version or of a name with numbers: `production`, `4o`, `x64`, `northeast1`, `20240718`.
bool is_ordinary(std::string_view part) {
    const auto letters_of = [](std::string_view text) {
        const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
        return static_cast<std::size_t>(end - text.begin());
    };
    const auto digits = std::min(part.find_first_not_of("0123456789"), part.size());
    const auto behind = part.substr(digits);
    if (digits > 0) return letters_of(behind) == behind.size() && behind.size() <= 3;
    const auto letters = letters_of(part);
    const auto number = part.substr(letters);
    return is_made_of_words(part.substr(0, letters)) && number.size() <= 4 &&
           std::all_of(number.begin(), number.end(), is_digit);
}

// Names that may be those of secrets, which the value has to tell: --key, --tokens, --sort-key, and
// the -p of a password or a port.
bool may_name_a_secret(std::string_view name) {
    if (name == "-p") return true;
    const auto words = words_of(name);
    return !words.empty() && is_one_of(words.back(), std::array{"key", "keys", "tokens"});
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
        return !words.empty() && (is_one_of(words.back(), std::array{"sig", "signature"}) ||
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

// Where, what or how much of it, not itself: --password-file, token_url, bearer_token_env_var.
constexpr std::array kAbout = {
    "file",   "path",    "dir",      "directory", "folder", "url",      "uri",     "endpoint",
    "server", "env",     "var",      "variable",  "name",   "type",     "kind",    "method",
    "format", "stdin",   "prompt",   "length",    "size",   "count",    "limit",   "ttl",
    "expiry", "expires", "lifetime", "timeout",   "sec",    "secs",     "seconds", "ms",
    "issuer", "store",   "helper",   "scope",     "scopes", "audience", "policy",  "mode",
};

}  // namespace

bool says_what_it_is(std::string_view name) {
    // At the end of the name of a variable: what the system and the usual programs have there.
    constexpr std::array kPlain = {
        "home",    "user",     "logname", "shell",   "term",     "lang",        "language",
        "display", "editor",   "visual",  "pager",   "browser",  "tz",          "email",
        "tmpdir",  "temp",     "tmp",     "root",    "prefix",   "host",        "hostname",
        "port",    "address",  "addr",    "proxy",   "region",   "zone",        "locale",
        "color",   "colors",   "colour",  "colours", "level",    "log",         "debug",
        "verbose", "version",  "profile", "config",  "project",  "workspace",   "namespace",
        "cluster", "context",  "bucket",  "branch",  "stage",    "environment", "options",
        "flags",   "opts",     "id",      "arch",    "platform", "desktop",     "all",
        "ctype",   "messages", "collate", "time",    "numeric",  "monetary",    "sock",
        "socket",  "socks",    "enabled", "retries", "threads",  "workers",     "interval",
        "columns", "lines",    "ca",      "cert",    "bundle",   "certs"};
    const auto words = words_of(name);
    if (words.empty() || names_a_secret(name)) return false;
    const auto& last = words.back();
    return is_one_of(last, kAbout) || is_one_of(last, kPlain) || last.ends_with("path") ||
           last.ends_with("home") || words.front() == "xdg" || words.front() == "lc";
}

bool names_a_secret(std::string_view name) {
    // At the end of a word of it: PGPASSWORD, accesstoken.
    constexpr std::array kSecrets = {
        "token",         "secret",     "secrets",    "password",  "passwords",   "passwd",
        "apikey",        "passphrase", "credential", "assertion", "credentials", "authorization",
        "cookie",        "cookies",    "bearer",     "authkey",   "accesskey",   "secretkey",
        "encryptionkey", "creds",      "passcode",   "userpwd",   "cred"};
    constexpr std::array kLastWords = {"pwd", "pat", "auth", "jwt", "dsn", "pass", "pw", "pin"};
    // What has a key that opens nothing.
    constexpr std::array kPlainKeys = {"sort",   "order",     "group", "primary", "foreign",
                                       "public", "partition", "cache", "index",   "row",
                                       "map",    "object",    "item",  "hot",     "idempotency"};
    auto words = words_of(name);
    if (words.size() > 1 && words.back() == "pem") words.pop_back();  // only how it is written
    if (words.empty() || is_one_of(words.back(), kAbout)) return false;
    if (words.back() == "key" || words.back() == "keys")
        return words.size() > 1 && !is_one_of(words[words.size() - 2], kPlainKeys);
    return is_one_of(words.back(), kLastWords) ||
           std::any_of(words.begin(), words.end(), [&](const std::string& word) {
               return std::any_of(kSecrets.begin(), kSecrets.end(),
                                  [&](const char* secret) { return word.ends_with(secret); });
           });
}

bool is_secret(std::string_view name, std::string_view value) {
    return names_a_secret(name) || looks_like_a_key(value);
}

bool looks_like_a_token(std::string_view value) {
    if (value.size() < kToken || !std::all_of(value.begin(), value.end(), is_of_a_key))
        return false;
    if (is_known_key(value)) return true;
    if (is_uuid(value) || is_host_name(value)) return false;
    std::size_t odd = 0;
    for (auto rest = value; !rest.empty();) {
        const auto part = rest.substr(0, rest.find_first_of("-_.=+~"));
        if (!is_ordinary(part)) odd += part.size();
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
    const bool mixed = std::any_of(value.begin(), value.end(), is_digit) &&
                       std::any_of(value.begin(), value.end(), is_lower) &&
                       std::any_of(value.begin(), value.end(),
                                   [](char c) { return is_letter(c) && !is_lower(c); });
    return odd >= kOddLetters || (mixed && odd > 0);
}

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
