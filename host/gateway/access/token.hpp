// The tokens that were given out for `patchbay serve --http`, as values. A token is 256 random bits,
// told once; what is kept is its SHA-256. That takes no time to compare and none to guess more: slow
// hashes are for what people think of, and nobody tries 2^256 of anything.
//
// Threads: [value].
// Errors:  Protocol: it is no record of ours, and none of it counts. Invalid: a name, a time.
// Limits:  kMost tokens, names of kNameBytes, kMostScopes servers and patterns of each.
#pragma once

#include "core/result.hpp"
#include "core/time_source.hpp"
#include "gateway/view.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::gateway {

struct Token {
    static constexpr std::string_view kPrefix = "patchbay_";  // so that a leaked one is found
    static constexpr std::size_t kNameBytes = 64, kMostScopes = 100, kScopeBytes = 256;

    std::string name;
    std::string sha256;  // of the token, in hex
    core::Calendar::time_point created;
    std::optional<core::Calendar::time_point> expires{};  // from then on it is none
    // What it is shown of what there is: ids of servers, patterns of public names. Empty: all.
    std::vector<std::string> servers{}, tools{};
    // And of that no more than this bundle of the configuration holds; empty: it is of none.
    std::string bundle{};

    bool expired(core::Calendar::time_point now) const { return expires && *expires <= now; }
    View scope() const;  // but for the bundle, which only the configuration knows
    // Tells it from others of its name, before and after.
    std::string id() const { return "token/" + name + "/" + sha256.substr(0, 16); }
};

class Tokens {
public:
    static constexpr std::size_t kMost = 1'000;

    // {"version":1,"tokens":[{"name":"laptop","sha256":"...","created":1767225600,"expires":...,
    //                         "servers":["git"],"tools":["mcp__git__*"],"bundle":"review"}]}
    static Result<Tokens> parse(std::string_view text);
    std::string text() const;

    const std::vector<Token>& all() const { return all_; }
    // Takes as long wherever the hashes differ, and whether one is found or not.
    const Token* find(std::string_view presented, core::Calendar::time_point now) const;
    bool has(std::string_view id, core::Calendar::time_point now) const;

    // Invalid: that name is taken, or none; a scope that means nothing. Limit.
    Result<void> add(Token token);
    // NotFound names the others.
    Result<void> remove(const std::string& name);

private:
    std::vector<Token> all_;  // in the order they were given out in
};

// A new one, which nobody can tell from its record.
std::string make_token();
std::string sha256_of_token(std::string_view token);
// "30d", "12h", "90m", "45s".
Result<std::chrono::seconds> parse_lifetime(std::string_view text);

}  // namespace patchbay::gateway
