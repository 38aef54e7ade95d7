#include "plugin/loading/trust.hpp"

#include "core/shell_word.hpp"

#include <sys/auxv.h>
#include <unistd.h>

namespace patchbay::plugin {

std::string why_untrusted(const struct stat& status, const std::string& path) {
    if (status.st_uid != 0 && status.st_uid != geteuid())
        return "owned by user " + std::to_string(status.st_uid) + ", not by root or user " +
               std::to_string(geteuid());
    if (status.st_mode & S_IWOTH)
        return "writable by everyone; run: chmod o-w " + core::shell_word(path);
    if ((status.st_mode & S_IWGRP) && status.st_gid != status.st_uid)
        return "writable by group " + std::to_string(status.st_gid) + "; run: chmod g-w " +
               core::shell_word(path);
    return {};
}

bool raised_privileges() {
    return getauxval(AT_SECURE) != 0;
}

}  // namespace patchbay::plugin
