// Which texts of a server's settings are secrets though nobody said so: what a child may print, a
// server send back or `config show` print, and no log may keep.
//
// One rule for all of them. A name says that its value is a secret: by one of its whole words (token,
// password, api-key), unless the last one says that it is about a secret (password-file, token_url).
// Without such a name a value is one by its shape: the password in an address, `Bearer x`, a key as
// well-known services make them.
//
// Threads: [any]. Pure; linear in the text.
#pragma once

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

// True of GITHUB_TOKEN, api-key, DB_PASSWORD, Authorization, Cookie and their like.
bool names_a_secret(std::string_view name);

// Whether a variable by that name says where or what something is, and so holds no secret: PATH, LANG,
// TOKEN_FILE, AWS_REGION. Of others nobody can tell.
bool says_what_it_is(std::string_view name);

// Whether `value`, which `name` stands for, is one: by its name, or as it looks like a key (long, one
// word, letters and digits).
bool is_secret(std::string_view name, std::string_view value);

// Whether a value of which only that is known that a variable holds it looks like a token: one word of
// 16 bytes or more that no person would think up, like letters and digits mixed. Not a version, the
// name of a host, a model or a region, a UUID, nor words.
bool looks_like_a_token(std::string_view value);

// From `begin` to before `end`.
struct Part {
    std::size_t begin;
    std::size_t end;
    bool operator==(const Part&) const = default;
};

// What is secret in a text, in its order: behind NAME=, NAME: and --NAME, as a member of JSON, in an
// address (password, a key in its path, parameters, fragment), in user/word@ of a jdbc: address, behind
// Bearer, a known key.
std::vector<Part> secret_parts(std::string_view text);

// The same of each of `args`; and all of what follows an option that names a secret.
std::vector<std::vector<Part>> secret_parts(const boost::json::array& args);

// In expanded settings, of a server or of an [auth.*] table: values of `env` and `headers` that are
// secrets or have such parts, and those parts of `command`, `args` and addresses. `Bearer abc` with
// and without its scheme, and `user:word` of a login with and without its user.
std::vector<std::string> secret_values(const boost::json::object& settings);

}  // namespace patchbay::config
