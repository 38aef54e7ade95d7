#include "plugin/services/process_program.hpp"

#include "core/program.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::plugin {
namespace {

// Who and where the user is, how to speak to them, and what a program needs to reach the network and
// find its caches behind the user's proxy and authorities. Nothing that lets anybody in.
constexpr std::string_view kInherited[] = {"HOME",
                                           "LANG",
                                           "LANGUAGE",
                                           "LOGNAME",
                                           "PATH",
                                           "SHELL",
                                           "TERM",
                                           "TMPDIR",
                                           "TZ",
                                           "USER",
                                           "SSL_CERT_FILE",
                                           "SSL_CERT_DIR",
                                           "CURL_CA_BUNDLE",
                                           "REQUESTS_CA_BUNDLE",
                                           "NODE_EXTRA_CA_CERTS"};
constexpr std::string_view kInheritedPrefixes[] = {"LC_", "XDG_"};
constexpr std::string_view kProxies[] = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"};
// Settings of npm; of these those that are credentials stay here.
constexpr std::string_view kNpmPrefix = "npm_config_";
constexpr std::string_view kCredentialWords[] = {"auth", "token", "passw", "secret", "key",
                                                 "cert", "otp",   "user",  "email"};

// http://user:password@proxy:3128 without what stands before the @: a child that needs it is given
// the variable by name (pass_env).
std::string without_password(std::string_view url) {
    const auto scheme = url.find("://");
    const auto from = scheme == url.npos ? 0 : scheme + 3;
    const auto end = std::min(url.find_first_of("/?#", from), url.size());
    const auto at = url.substr(0, end).rfind('@');
    if (at == url.npos || at < from) return std::string(url);
    return std::string(url.substr(0, from)).append(url.substr(at + 1));
}

// What a child gets for `name`; nothing: not its affair.
std::optional<std::string> inherited(std::string_view name, std::string_view value) {
    const auto is = [&](std::string_view each) { return each == name; };
    const auto begins = [&](std::string_view each) { return name.starts_with(each); };
    if (std::any_of(std::begin(kInherited), std::end(kInherited), is) ||
        std::any_of(std::begin(kInheritedPrefixes), std::end(kInheritedPrefixes), begins))
        return std::string(value);
    const auto small = core::lower(name);
    if (std::find(std::begin(kProxies), std::end(kProxies), small) != std::end(kProxies))
        return without_password(value);
    if (!small.starts_with(kNpmPrefix)) return {};
    const auto setting = std::string_view(small).substr(kNpmPrefix.size());
    const auto in = [&](std::string_view word) { return setting.find(word) != setting.npos; };
    const bool proxy =
        setting == "proxy" || setting.ends_with("-proxy") || setting.ends_with("_proxy");
    if (std::any_of(std::begin(kCredentialWords), std::end(kCredentialWords), in)) {
        // `userconfig` is a file's name, and `always-auth` a switch; the rest may be a credential.
        return setting == "userconfig" ? std::optional(std::string(value)) : std::nullopt;
    }
    return proxy || setting == "registry" ? without_password(value) : std::string(value);
}

std::string_view path_of(const std::vector<std::string>& environment) {
    for (const std::string_view entry : environment) {
        if (entry.substr(0, 5) == "PATH=" && entry.size() > 5) return entry.substr(5);
    }
    return core::kDefaultPath;
}

// Seen from inside the working directory.
std::string seen_from_here(const std::string& path, const std::string& cwd) {
    return path.front() == '/' || cwd.empty() ? path : cwd + "/" + path;
}

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

}  // namespace

std::vector<std::string> child_environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
    std::map<std::string_view, std::string> merged;
    for (char** entry = environ; entry && *entry; ++entry) {
        const std::string_view whole = *entry;
        const auto name = whole.substr(0, whole.find('='));
        if (name.size() == whole.size()) continue;
        if (auto value = inherited(name, whole.substr(name.size() + 1))) merged[name] = *value;
    }
    for (const auto& [name, value] : added) merged[name] = value;
    std::vector<std::string> entries;
    entries.reserve(merged.size());
    for (const auto& [name, value] : merged) {
        entries.emplace_back(name) += '=';
        entries.back() += value;
    }
    return entries;
}

Result<std::string> find_program(const Program& program,
                                 const std::vector<std::string>& environment) {
    if (program.argv.empty() || program.argv.front().empty())
        return Error{ErrorCode::Invalid, "command is empty"};
    if (!program.cwd.empty()) {
        struct stat info {};
        if (::stat(program.cwd.c_str(), &info) != 0)
            return Error{ErrorCode::NotFound, "working directory (cwd) \"" + program.cwd +
                                                  "\": " + std::strerror(errno)};
        if (!S_ISDIR(info.st_mode))
            return Error{ErrorCode::NotFound,
                         "working directory (cwd) \"" + program.cwd + "\" is not a directory"};
    }
    const std::string& name = program.argv.front();
    if (name.find('/') == std::string::npos)
        return core::find_on_path(name, path_of(environment), program.cwd);
    const auto seen = seen_from_here(name, program.cwd);
    const auto trouble = core::trouble_with_program(seen);
    if (trouble.empty()) return name;
    return Error{ErrorCode::NotFound,
                 "command \"" + seen + "\"" + (exists(seen) ? " " : ": ") + trouble};
}

}  // namespace patchbay::plugin
