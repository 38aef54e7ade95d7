#include "app/terminal_person.hpp"

#include "app/output.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <vector>

extern char** environ;

namespace patchbay::app {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

// Empty: there is no screen that a browser could appear on.
std::vector<std::string> browser_command(const std::string& url) {
    std::string wanted = variable("BROWSER");
    wanted.resize(std::min(wanted.find(':'), wanted.size()));  // a list: its first
    if (wanted.empty()) {
        if (variable("DISPLAY").empty() && variable("WAYLAND_DISPLAY").empty()) return {};
        return {"xdg-open", url};
    }
    std::vector<std::string> words;
    bool placed = false;
    for (std::size_t at = 0; at < wanted.size();) {
        const auto end = std::min(wanted.find(' ', at), wanted.size());
        if (end > at) words.push_back(wanted.substr(at, end - at));
        if (!words.empty() && words.back() == "%s") {
            words.back() = url;
            placed = true;
        }
        at = end + 1;
    }
    if (!placed) words.push_back(url);
    return words;
}

}  // namespace

void TerminalPerson::tell(const std::string& text) {
    say_whole(text);
}

std::uint64_t TerminalPerson::ask(const std::string& heading, const std::string& prompt,
                                  Line line) {
    return asker_->ask_line(heading, prompt, std::move(line));
}

void TerminalPerson::withdraw(std::uint64_t id) {
    asker_->withdraw(id);
}

Result<void> TerminalPerson::open_browser(const std::string& url) {
    auto words = browser_command(url);
    if (words.empty())
        return Error{ErrorCode::Unavailable, "there is no display here, and BROWSER is not set"};
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawnattr_t how;
    ::posix_spawnattr_init(&how);
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int ignored : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, ignored);
    ::posix_spawnattr_setsigmask(&how, &none);
    ::posix_spawnattr_setsigdefault(&how, &usual);
    ::posix_spawnattr_setflags(&how,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    const int wrong = ::posix_spawnp(&pid, argv[0], &actions, &how, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&how);
    if (wrong) return Error{ErrorCode::Unavailable, words.front() + ": " + std::strerror(wrong)};
    return {};
}

}  // namespace patchbay::app
