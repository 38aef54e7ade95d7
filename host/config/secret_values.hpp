// Which texts of a server's settings are secrets though nobody said so: what a child may print, or a
// server send back, and no log may keep.
//
// Threads: [any]. Pure.
#pragma once

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

// True of GITHUB_TOKEN, api-key, DB_PASSWORD, Authorization, Cookie and their like.
bool names_a_secret(std::string_view name);

// Whether `value`, which `name` stands for, is one: by its name, or as it looks like a key (long, one
// word, letters and digits).
bool is_secret(std::string_view name, std::string_view value);

// In expanded settings: values of `env` and `headers` that are secrets, those of secret_parts() in
// `args`, the password and such parameters of a URL. Headers with their scheme.
std::vector<std::string> secret_values(const boost::json::object& settings);

// What of each of `args` is secret, from a place in it to its end: all behind `--api-key`; the rest of
// `--token=abc`, `--env=API_TOKEN=abc` and `Authorization: abc`; an address from its password or such a
// parameter on; a key as well-known services make them. npos: nothing.
std::vector<std::size_t> secret_parts(const boost::json::array& args);

}  // namespace patchbay::config
