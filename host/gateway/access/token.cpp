#include "gateway/access/token.hpp"

#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/random.hpp"
#include "core/text.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>

namespace patchbay::gateway {
namespace json = boost::json;
using core::Calendar;

namespace {

constexpr int kVersion = 1;
// As many as the hash has: there is nothing to guess, so that a slow hash with a salt would protect nothing
// and cost at each request.
constexpr std::size_t kTokenBytes = 32;
constexpr std::chrono::hours kLongest{24 * 365 * 100};
constexpr std::string_view kHex = "0123456789abcdef";

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= Token::kNameBytes &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
           });
}

// Exact, or the beginning of names and a `*` behind it.
bool is_pattern(std::string_view text) {
    return text.starts_with("mcp__") && text.size() <= Token::kScopeBytes &&
           text.find('*') >= text.size() - 1 && core::valid_utf8(text);
}

bool is_server(std::string_view text) {
    return !text.empty() && text.size() <= Token::kScopeBytes && core::valid_utf8(text);
}

Error wrong_scope(const char* what, std::string_view text, const char* expected) {
    return {ErrorCode::Invalid,
            "\"" + core::printable(text, 80) + "\" is no " + what + "; expected " + expected};
}

Result<void> check_scopes(const Token& token) {
    if (token.servers.size() > Token::kMostScopes || token.tools.size() > Token::kMostScopes)
        return Error{ErrorCode::Limit, "a token has at most " + std::to_string(Token::kMostScopes) +
                                           " servers and as many patterns of tools"};
    for (const auto& each : token.servers)
        if (!is_server(each)) return wrong_scope("id of a server", each, "one of `mcp list`");
    for (const auto& each : token.tools)
        if (!is_pattern(each))
            return wrong_scope("pattern of tools", each,
                               "mcp__SERVER__TOOL or a beginning of that and *, as mcp__git__*");
    if (!token.bundle.empty() && !is_server(token.bundle))
        return wrong_scope("name of a bundle", token.bundle, "one of [bundles]");
    return {};
}

json::array list_of(const std::vector<std::string>& texts) {
    return json::array(texts.begin(), texts.end());
}

// Absent, or not empty: a list of nothing would have to mean nothing at all.
bool read_list(const json::object& object, const char* key, std::vector<std::string>& into) {
    if (!object.contains(key)) return true;
    const auto* list = core::array_in(&object, key);
    if (!list || list->empty()) return false;
    for (const auto& each : *list) {
        const auto text = core::text_of(each);
        if (!text) return false;
        into.emplace_back(*text);
    }
    return true;
}

std::int64_t seconds_of(Calendar::time_point time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// Nothing: it is no time that could have been written.
std::optional<Calendar::time_point> time_in(const json::object& object, std::string_view key) {
    const auto seconds = core::integer_in(&object, key);
    if (!seconds || *seconds < 0 || *seconds > 1'000 * std::chrono::seconds(kLongest).count())
        return {};
    return Calendar::time_point(std::chrono::seconds(
        std::min<std::int64_t>(*seconds, seconds_of(Calendar::time_point::max()))));
}

// A member that is not known may be a restriction: such a token is none.
std::optional<Token> read_token(const json::value& value) {
    const auto* object = value.if_object();
    if (!object) return {};
    Token token;
    token.name = core::text_in(object, "name").value_or("");
    token.sha256 = core::text_in(object, "sha256").value_or("");
    const auto created = time_in(*object, "created");
    if (!created || token.sha256.size() != core::kSha256Digits ||
        token.sha256.find_first_not_of(kHex) != std::string::npos)
        return {};
    token.created = *created;
    std::size_t known = 3;
    if (object->contains("expires")) {
        token.expires = time_in(*object, "expires");
        if (!token.expires) return {};
        ++known;
    }
    if (!read_list(*object, "servers", token.servers) || !read_list(*object, "tools", token.tools))
        return {};
    if (object->contains("bundle")) {
        token.bundle = core::text_in(object, "bundle").value_or("");
        if (token.bundle.empty()) return {};
    }
    known += object->contains("servers") + object->contains("tools") + object->contains("bundle");
    return object->size() == known ? std::optional(std::move(token)) : std::nullopt;
}

}  // namespace

View Token::scope() const {
    View view;
    if (!servers.empty()) view.picked.emplace(servers.begin(), servers.end());
    if (!tools.empty()) view.tools.push_back(tools);
    return view;
}

// Whole or not at all: of half a record nobody knows whose token is missing, or which was taken back.
Result<Tokens> Tokens::parse(std::string_view text) {
    const Error damaged{ErrorCode::Protocol, "is damaged, or of another patchbay"};
    const auto whole = core::parse_json_object(text, {.unique_keys = true});
    const auto* version = whole ? whole->if_contains("version") : nullptr;
    const auto* all = core::array_in(whole ? &*whole : nullptr, "tokens");
    if (!version || *version != kVersion || !all) return damaged;
    Tokens tokens;
    for (const auto& each : *all) {
        auto token = read_token(each);
        if (!token || !tokens.add(std::move(*token))) return damaged;
    }
    return tokens;
}

std::string Tokens::text() const {
    json::array all;
    for (const auto& each : all_) {
        json::object token{
            {"name", each.name}, {"sha256", each.sha256}, {"created", seconds_of(each.created)}};
        if (each.expires) token["expires"] = seconds_of(*each.expires);
        if (!each.servers.empty()) token["servers"] = list_of(each.servers);
        if (!each.tools.empty()) token["tools"] = list_of(each.tools);
        if (!each.bundle.empty()) token["bundle"] = each.bundle;
        all.push_back(std::move(token));
    }
    return json::serialize(json::object{{"version", kVersion}, {"tokens", std::move(all)}}) + "\n";
}

const Token* Tokens::find(std::string_view presented, Calendar::time_point now) const {
    // All are compared, and each to its end: how long it takes tells nothing.
    const auto sha256 = sha256_of_token(presented);
    const Token* found = nullptr;
    for (const auto& each : all_)
        if (core::same_secret(each.sha256, sha256)) found = &each;
    return found && !found->expired(now) ? found : nullptr;
}

bool Tokens::has(std::string_view id, Calendar::time_point now) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const Token& each) { return each.id() == id && !each.expired(now); });
}

Result<void> Tokens::add(Token token) {
    if (!is_name(token.name))
        return Error{ErrorCode::Invalid, "\"" + core::printable(token.name, 80) +
                                             "\" is no name of a token; expected 1 to " +
                                             std::to_string(Token::kNameBytes) +
                                             " letters, digits, '-', '_' or '.'"};
    if (auto fine = check_scopes(token); !fine) return fine;
    for (const auto& each : all_)
        if (each.name == token.name)
            return Error{ErrorCode::Invalid, "there is a token \"" + token.name +
                                                 "\" already; take another name, or `patchbay "
                                                 "token rm " +
                                                 token.name + "` first"};
    if (all_.size() >= kMost)
        return Error{ErrorCode::Limit, "there are " + std::to_string(kMost) +
                                           " tokens already; `patchbay token rm` those that are "
                                           "not needed any more"};
    all_.push_back(std::move(token));
    return {};
}

Result<void> Tokens::remove(const std::string& name) {
    if (std::erase_if(all_, [&](const Token& each) { return each.name == name; }) != 0) return {};
    std::vector<std::string> known;
    for (const auto& each : all_) known.push_back(each.name);
    return Error{
        ErrorCode::NotFound,
        core::behind_hint("there is no token \"" + core::printable(name, 80) + "\"" +
                              core::did_you_mean(name, known),
                          "there are: " + (known.empty() ? "none" : core::join(known, ", ")))};
}

std::string make_token() {
    return std::string(Token::kPrefix) + core::random_hex(kTokenBytes);
}

std::string sha256_of_token(std::string_view token) {
    return core::sha256_hex(token);
}

Result<std::chrono::seconds> parse_lifetime(std::string_view text) {
    const Error no_time{ErrorCode::Invalid, "\"" + core::printable(text, 40) +
                                                "\" is no time; expected a number with its unit, "
                                                "as 30d, 12h, 90m or 45s, of at most 100 years"};
    if (text.empty()) return no_time;
    const auto* const end = text.data() + text.size() - 1;
    std::uint32_t count = 0;
    const auto read = std::from_chars(text.data(), end, count);
    if (read.ec != std::errc() || read.ptr != end || count == 0) return no_time;
    std::int64_t unit = 0;
    switch (text.back()) {
        case 'd':
            unit = 86'400;
            break;
        case 'h':
            unit = 3'600;
            break;
        case 'm':
            unit = 60;
            break;
        case 's':
            unit = 1;
            break;
        default:
            return no_time;
    }
    const std::chrono::seconds lifetime(count * unit);
    if (lifetime > kLongest) return no_time;
    return lifetime;
}

}  // namespace patchbay::gateway
