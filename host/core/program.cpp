#include "core/program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::core {

std::string trouble_with_program(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return std::strerror(errno);
    if (S_ISDIR(info.st_mode)) return "is a directory";
    if (!S_ISREG(info.st_mode) || ::access(path.c_str(), X_OK) != 0)
        return "is not executable (chmod +x?)";
    return {};
}

Result<std::string> find_on_path(const std::string& name, std::string_view path,
                                 const std::string& cwd) {
    std::string unusable;
    std::size_t folders = 0;
    for (std::size_t from = 0; from <= path.size();) {
        const auto to = std::min(path.find(':', from), path.size());
        std::string candidate(path.substr(from, to - from));
        candidate = (candidate.empty() ? "." : candidate) + "/" + name;
        from = to + 1;
        ++folders;
        const auto seen =
            candidate.front() == '/' || cwd.empty() ? candidate : cwd + "/" + candidate;
        // Of most folders that is all that is asked: a file of a checkout may name thousands.
        if (::access(seen.c_str(), F_OK) != 0) continue;
        const auto trouble = trouble_with_program(seen);
        if (trouble.empty()) return candidate;
        unusable += "; " + seen + " " + trouble;
    }
    return Error{ErrorCode::NotFound, "command \"" + name + "\" not found in the " +
                                          std::to_string(folders) +
                                          (folders == 1 ? " folder" : " folders") + " of PATH" +
                                          unusable + "; install it or give its full path"};
}

std::string behind_links(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
    return real ? std::string(real.get()) : std::string();
}

}  // namespace patchbay::core
