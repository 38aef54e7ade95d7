// Which texts of a server's settings are secrets though nobody said so: what a child may print, a
// server send back or `config show` print, and no log may keep.
//
// One rule for all of them. A name says that its value is a secret (secret_names.hpp). Without such a
// name a value is one by its shape: the password in an address, `Bearer x`, a key as well-known services
// make them.
//
// Threads: [any]. Pure; linear in the text.
#pragma once

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

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

// A text with each secret in it masked: by its shape, and what is known to be one.
std::string without_secrets(std::string_view text);
// `value` of that name with each secret in it masked, at any depth: as in a text, and by its name. Of two names that are
// masked both are there.
boost::json::value without_secrets(std::string_view name, const boost::json::value& value);

// In expanded settings, of a server or of an [auth.*] table: values of `env` and `headers` that are
// secrets or have such parts, and those parts of `command`, `args` and addresses. `Bearer abc` with
// and without its scheme, and `user:word` of a login with and without its user.
std::vector<std::string> secret_values(const boost::json::object& settings);

}  // namespace patchbay::config
