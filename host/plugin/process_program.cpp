#include "plugin/process_program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::plugin {
namespace {

constexpr const char* kShortList[] = {"HOME",  "LANG", "LC_ALL", "LOGNAME", "PATH",
                                      "SHELL", "TERM", "TMPDIR", "TZ",      "USER"};
constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

std::string_view path_of(const std::vector<std::string>& environment) {
    for (const std::string_view entry : environment) {
        if (entry.substr(0, 5) == "PATH=" && entry.size() > 5) return entry.substr(5);
    }
    return kDefaultPath;
}

// Seen from inside the working directory.
std::string seen_from_here(const std::string& path, const std::string& cwd) {
    return path.front() == '/' || cwd.empty() ? path : cwd + "/" + path;
}

// Empty: it can be executed.
std::string trouble_with(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return std::strerror(errno);
    if (S_ISDIR(info.st_mode)) return "is a directory";
    if (!S_ISREG(info.st_mode) || ::access(path.c_str(), X_OK) != 0)
        return "is not executable (chmod +x?)";
    return {};
}

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

Result<std::string> search_path(const Program& program, std::string_view path) {
    const std::string& name = program.argv.front();
    std::string unusable;
    for (std::size_t from = 0; from <= path.size();) {
        const auto to = std::min(path.find(':', from), path.size());
        std::string candidate(path.substr(from, to - from));
        candidate = (candidate.empty() ? "." : candidate) + "/" + name;
        from = to + 1;
        const auto seen = seen_from_here(candidate, program.cwd);
        const auto trouble = trouble_with(seen);
        if (trouble.empty()) return candidate;
        if (exists(seen)) unusable += "; " + seen + " " + trouble;
    }
    return Error{ErrorCode::NotFound, "command \"" + name + "\" not found in PATH (" +
                                          std::string(path) + ")" + unusable +
                                          "; install it or give its full path"};
}

}  // namespace

std::vector<std::string> child_environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
    std::map<std::string_view, std::string_view> merged;
    for (const char* name : kShortList) {
        if (const char* value = std::getenv(name)) merged[name] = value;
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
    if (name.find('/') == std::string::npos) return search_path(program, path_of(environment));
    const auto seen = seen_from_here(name, program.cwd);
    const auto trouble = trouble_with(seen);
    if (trouble.empty()) return name;
    return Error{ErrorCode::NotFound,
                 "command \"" + seen + "\"" + (exists(seen) ? " " : ": ") + trouble};
}

}  // namespace patchbay::plugin
