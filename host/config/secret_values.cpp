#include "config/secret_values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace patchbay::config {

namespace {

namespace json = boost::json;

constexpr std::size_t kLooksLikeAKey = 20;
constexpr auto kNone = std::string_view::npos;

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
bool is_letter(char letter) {
    return lower(letter) >= 'a' && lower(letter) <= 'z';
}
bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

// No path, no address, no sentence: sk-..., ghp_..., a JWT, hexadecimal digits.
bool looks_like_a_key(std::string_view value) {
    return value.size() >= kLooksLikeAKey && std::any_of(value.begin(), value.end(), is_letter) &&
           std::any_of(value.begin(), value.end(), is_digit) &&
           std::all_of(value.begin(), value.end(), [](char c) {
               return is_letter(c) || is_digit(c) ||
                      std::string_view("-_.=+~").find(c) != std::string_view::npos;
           });
}

// The name of an option, a variable or a header.
bool is_word(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
    });
}

std::string_view text_of(const json::value& value) {
    return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

// What the well-known services begin their keys with: alone in a list of arguments a long word with
// digits may as well be the name of a package.
bool is_known_key(std::string_view text) {
    constexpr std::array kBeginnings = {"sk-",   "ghp_",  "gho_", "ghs_", "github_pat_", "glpat-",
                                        "xoxb-", "xoxp-", "AKIA", "eyJ",  "npm_"};
    return looks_like_a_key(text) &&
           std::any_of(kBeginnings.begin(), kBeginnings.end(),
                       [&](const char* beginning) { return text.starts_with(beginning); });
}

// Where the value begins that a name tells to be a secret: --token=x, API_KEY=x, Authorization: x,
// and the same behind other names: --env=API_KEY=x, --header=Authorization: x.
std::size_t secret_behind_names(std::string_view text) {
    std::size_t begin = 0;
    for (auto mark = text.find_first_of("=:"); mark != kNone;
         mark = text.find_first_of("=:", begin)) {
        if (text.substr(mark).starts_with("://")) return kNone;
        auto name = text.substr(begin, mark - begin);
        name = name.substr(0, name.find_last_not_of(' ') + 1);
        if (!is_word(name)) return kNone;
        if (names_a_secret(name))
            return std::min(text.find_first_not_of(' ', mark + 1), text.size());
        begin = mark + 1;
    }
    return kNone;
}

class Finder {
public:
    void pairs(const json::value* table) {
        if (!table || !table->is_object()) return;
        for (const auto& member : table->get_object()) {
            const auto value = text_of(member.value());
            if (is_secret(member.key(), last_words(value))) keep_with_scheme(value);
        }
    }

    void args(const json::value* list) {
        if (!list || !list->is_array()) return;
        const auto parts = secret_parts(list->get_array());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (parts[i] != kNone) keep_with_scheme(text_of(list->get_array()[i]).substr(parts[i]));
            url(&list->get_array()[i]);  // the parts of it, where the rest of the address is none
        }
    }

    void url(const json::value* value) {
        if (!value) return;
        const auto text = text_of(*value);
        const auto scheme = text.find("://");
        if (scheme == text.npos) return;
        const auto host =
            text.substr(scheme + 3, text.find_first_of("/?#", scheme + 3) - scheme - 3);
        const auto at = host.rfind('@');
        const auto colon = host.find(':');
        if (at != host.npos && colon < at) keep(host.substr(colon + 1, at - colon - 1));
        const auto whole = text.substr(0, text.find('#'));
        auto query = whole.substr(std::min(whole.find('?'), whole.size()));
        while (!query.empty()) {
            query.remove_prefix(1);  // the mark before the pair
            const auto pair = query.substr(0, query.find('&'));
            query.remove_prefix(pair.size());
            const auto equals = std::min(pair.find('='), pair.size());
            const auto parameter = pair.substr(std::min(equals + 1, pair.size()));
            if (names_a_secret(pair.substr(0, equals)) || looks_like_a_key(parameter))
                keep(parameter);
        }
    }

    std::vector<std::string> found;

private:
    void keep(std::string_view value) {
        if (!value.empty()) found.emplace_back(value);
    }
    // `Bearer abc` and `abc`
    void keep_with_scheme(std::string_view value) {
        keep(value);
        if (const auto word = last_words(value); word.size() != value.size()) keep(word);
    }
    static std::string_view last_words(std::string_view value) {
        const auto space = value.find(' ');
        return space == value.npos ? value : value.substr(space + 1);
    }
};

// Where the first secret of an address begins: its password, or a parameter of its query.
std::size_t secret_in_address(std::string_view text) {
    Finder finder;
    const json::value value(text);
    finder.url(&value);
    // They are found in the order of the text, and there may be thousands.
    return finder.found.empty() ? kNone : text.find(finder.found.front(), text.find("://"));
}

}  // namespace

bool names_a_secret(std::string_view name) {
    constexpr std::array kWords = {"token",      "secret",     "password",      "passwd", "apikey",
                                   "passphrase", "credential", "authorization", "cookie", "bearer"};
    constexpr std::array kLastWords = {"key", "pwd", "pat", "auth", "jwt", "dsn", "pass"};
    std::string joined;
    std::string last;  // since the last mark: KEY of API_KEY, but nothing of MONKEY
    for (const char letter : name) {
        if (!is_letter(letter) && !is_digit(letter)) {
            last.clear();
            continue;
        }
        joined += lower(letter);
        last += lower(letter);
    }
    const auto in = [&](const char* word) { return joined.find(word) != std::string::npos; };
    return std::any_of(kWords.begin(), kWords.end(), in) ||
           std::find(kLastWords.begin(), kLastWords.end(), last) != kLastWords.end();
}

bool is_secret(std::string_view name, std::string_view value) {
    return names_a_secret(name) || looks_like_a_key(value);
}

std::vector<std::size_t> secret_parts(const json::array& args) {
    std::vector<std::size_t> parts;
    parts.reserve(args.size());
    bool asked = false;  // the one before is an option whose value is a secret
    for (const auto& arg : args) {
        const auto text = text_of(arg);
        const bool option = text.starts_with('-');
        if (std::exchange(asked, false) && !option) {
            parts.push_back(0);
            continue;
        }
        parts.push_back(std::min(secret_in_address(text), secret_behind_names(text)));
        if (parts.back() == kNone && is_known_key(text)) parts.back() = 0;
        asked = option && is_word(text) && names_a_secret(text);
    }
    return parts;
}

std::vector<std::string> secret_values(const json::object& settings) {
    Finder finder;
    finder.pairs(settings.if_contains("env"));
    finder.pairs(settings.if_contains("headers"));
    finder.args(settings.if_contains("args"));
    finder.url(settings.if_contains("url"));
    finder.url(settings.if_contains("proxy"));
    return std::move(finder.found);
}

}  // namespace patchbay::config
