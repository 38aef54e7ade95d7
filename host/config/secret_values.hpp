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

// In expanded settings: values of `env` and `headers` whose name says so or that look like keys
// (long, one word, letters and digits), what follows `--api-key` or `--token=` in `args`, the
// password and such parameters of a URL. Headers with their scheme.
std::vector<std::string> secret_values(const boost::json::object& settings);

}  // namespace patchbay::config
