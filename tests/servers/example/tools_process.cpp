// Tools that look at this process: what a host handed to its child, for tests of exactly that.
#include "example/tools.hpp"
#include "example/wire.hpp"

#include <climits>

#include <cstring>
#include <dirent.h>
#include <fstream>
#include <unistd.h>

extern char** environ;  // NOLINT: the name is POSIX's

namespace example {
namespace json = boost::json;

namespace {

json::object environment() {
    json::object all;
    for (char** entry = environ; *entry; ++entry) {
        const char* const equals = std::strchr(*entry, '=');
        if (equals) all[std::string(static_cast<const char*>(*entry), equals)] = equals + 1;
    }
    return all;
}

json::object descriptors() {
    json::object all;
    DIR* folder = ::opendir("/proc/self/fd");
    if (!folder) return all;
    const std::string own = std::to_string(::dirfd(folder));
    while (const dirent* entry = ::readdir(folder)) {
        if (entry->d_name[0] == '.' || own == entry->d_name) continue;
        char target[PATH_MAX];
        const std::string path = std::string("/proc/self/fd/") + entry->d_name;
        const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
        all[entry->d_name] = std::string(target, static_cast<std::size_t>(size < 0 ? 0 : size));
    }
    ::closedir(folder);
    return all;
}

json::array arguments() {
    json::array all;
    std::ifstream file("/proc/self/cmdline");
    for (std::string one; std::getline(file, one, '\0');) all.emplace_back(one);
    return all;
}

void answer_structured(const Call& call, const json::object& told) {
    const std::string text = json::serialize(told);
    call.session.answer(call.ticket(), text_content(text) + ",\"structuredContent\":" + text);
}

}  // namespace

void run_env(const Call& call) {
    char folder[PATH_MAX] = "";
    if (!::getcwd(folder, sizeof folder)) folder[0] = '\0';
    answer_structured(call, {{"environment", environment()},
                             {"descriptors", descriptors()},
                             {"arguments", arguments()},
                             {"directory", folder}});
}

void run_pid(const Call& call) {
    answer_structured(call, {{"pid", ::getpid()},
                             {"parent", ::getppid()},
                             {"group", ::getpgrp()},
                             {"session", ::getsid(0)}});
}

}  // namespace example
