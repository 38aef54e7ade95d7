#include "config/secret_names.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace patchbay::config {

namespace {

constexpr std::size_t kLooksLikeAKey = 20;
constexpr std::size_t kToken = 16;
constexpr std::size_t kOddLetters = 10;  // of a token in small letters, in parts that are no words

bool is_letter(char letter) {
    return core::lower(letter) >= 'a' && core::lower(letter) <= 'z';
}
bool is_lower(char letter) {
    return letter >= 'a' && letter <= 'z';
}

bool is_uuid(std::string_view value) {
    if (value.size() != 36) return false;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? value[i] != '-' : !core::is_hex(value[i])) return false;
    }
    return true;
}

// `db-1.eu-west-1.example.com`: small letters, digits and dashes in labels, the last of them a word.
bool is_host_name(std::string_view value) {
    const auto dot = value.rfind('.');
    return dot != value.npos && value.size() - dot > 2 &&
           std::all_of(value.begin() + static_cast<std::ptrdiff_t>(dot) + 1, value.end(),
                       is_lower) &&
           std::all_of(value.begin(), value.end(), [](char letter) {
               return is_lower(letter) || core::is_digit(letter) || letter == '-' || letter == '.';
           });
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<const char*, N>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Letters alone, as people write them: small, capital, or words of three letters or more on average
// that begin with capitals.
bool is_made_of_words(std::string_view letters) {
    if (letters.size() >= kToken && std::all_of(letters.begin(), letters.end(), core::is_hex))
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
           std::all_of(number.begin(), number.end(), core::is_digit);
}

// Where, what or how much of it, not itself: --password-file, token_url, bearer_token_env_var.
constexpr std::array kAbout = {
    "file",   "path",    "dir",      "directory", "folder", "url",      "uri",     "endpoint",
    "server", "env",     "var",      "variable",  "name",   "type",     "kind",    "method",
    "format", "stdin",   "prompt",   "length",    "size",   "count",    "limit",   "ttl",
    "expiry", "expires", "lifetime", "timeout",   "sec",    "secs",     "seconds", "ms",
    "issuer", "store",   "helper",   "scope",     "scopes", "audience", "policy",  "mode",
};

}  // namespace

bool is_of_a_name(char letter) {
    return is_letter(letter) || core::is_digit(letter) || letter == '-' || letter == '_' ||
           letter == '.';
}

bool is_of_a_key(char letter) {
    return is_of_a_name(letter) || letter == '=' || letter == '+' || letter == '~';
}

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

bool looks_like_a_key(std::string_view value) {
    return value.size() >= kLooksLikeAKey && std::any_of(value.begin(), value.end(), is_letter) &&
           std::any_of(value.begin(), value.end(), core::is_digit) &&
           std::all_of(value.begin(), value.end(), is_of_a_key);
}

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

bool may_name_a_secret(std::string_view name) {
    if (name == "-p") return true;
    const auto words = words_of(name);
    return !words.empty() && is_one_of(words.back(), std::array{"key", "keys", "tokens"});
}

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
    constexpr std::array kCounted = {"max",    "min",     "total",      "num",      "input",
                                     "output", "context", "completion", "thinking", "new"};
    auto words = words_of(name);
    if (words.size() > 1 && words.back() == "pem") words.pop_back();  // only how it is written
    if (words.empty() || is_one_of(words.back(), kAbout)) return false;
    // max_tokens is how many; API_TOKENS are some.
    if (words.back() == "tokens")
        return words.size() > 1 && !is_one_of(words[words.size() - 2], kCounted);
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
    const bool mixed = std::any_of(value.begin(), value.end(), core::is_digit) &&
                       std::any_of(value.begin(), value.end(), is_lower) &&
                       std::any_of(value.begin(), value.end(),
                                   [](char c) { return is_letter(c) && !is_lower(c); });
    return odd >= kOddLetters || (mixed && odd > 0);
}

}  // namespace patchbay::config
