// Whether a name, or one word alone, tells that something is a secret.
//
// A name says that its value is one: by one of its whole words (token, password, api-key), unless the
// last one says that it is about a secret (password-file, token_url).
//
// Threads: [any]. Pure; linear in the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

// True of GITHUB_TOKEN, api-key, DB_PASSWORD, Authorization, Cookie and their like.
bool names_a_secret(std::string_view name);

// Names that may be those of secrets, which the value has to tell: --key, --tokens, --sort-key, and
// the -p of a password or a port.
bool may_name_a_secret(std::string_view name);

// Whether a variable by that name says where or what something is, and so holds no secret: PATH, LANG,
// TOKEN_FILE, AWS_REGION. Of others nobody can tell.
bool says_what_it_is(std::string_view name);

// Whether `value`, which `name` stands for, is one: by its name, or as it looks like a key (long, one
// word, letters and digits).
bool is_secret(std::string_view name, std::string_view value);

// No path, no address, no sentence: sk-..., ghp_..., a JWT, hexadecimal digits.
bool looks_like_a_key(std::string_view value);

// One that begins as the well-known services have it: in an argument a long word with digits may as
// well be the name of a package.
bool is_known_key(std::string_view text);

// Whether a value of which only that is known that a variable holds it looks like a token: one word of
// 16 bytes or more that no person would think up, like letters and digits mixed. Not a version, the
// name of a host, a model or a region, a UUID, nor words.
bool looks_like_a_token(std::string_view value);

// "max", "tokens" of --max-tokens; "api", "key" of apiKey2.
std::vector<std::string> words_of(std::string_view name);

// A letter of the name of an option, a variable, a header or a parameter; of a key.
bool is_of_a_name(char letter);
bool is_of_a_key(char letter);

}  // namespace patchbay::config
