// Settings for channels to tests/servers/line_peer.c and hostile.c, and a look at what is running.
#pragma once

#include <arpa/inet.h>
#include <chrono>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace patchbay::test {

inline std::string peer_program() {
    return std::string(PATCHBAY_BUILD_DIR) + "/tests/peers/line_peer";
}
inline std::string hostile_program() {
    return std::string(PATCHBAY_BUILD_DIR) + "/tests/peers/hostile";
}

// A port of loopback that nobody listens on.
inline int free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(fd);
    return ntohs(address.sin_port);
}

inline std::string json_strings(const std::vector<std::string>& texts) {
    std::string json = "[";
    for (const auto& text : texts) json += (json.size() > 1 ? ",\"" : "\"") + text + "\"";
    return json + "]";
}

// {"command":["..", ...]} and whatever else; `more` begins with a comma.
inline std::string command_settings(const std::vector<std::string>& argv,
                                    const std::string& more = {}) {
    return "{\"command\":" + json_strings(argv) + more + "}";
}

// A server that behaves as `mode` says, over `transport`.
inline std::string peer_settings(const std::string& transport, std::vector<std::string> mode,
                                 const std::string& more = {}) {
    if (transport == "stdio") {
        mode.insert(mode.begin(), peer_program());
        return command_settings(mode, more);
    }
    const auto port = std::to_string(free_port());
    mode.insert(mode.begin(), {peer_program(), "--tcp", port});
    return command_settings(mode, ",\"port\":" + port + more);
}

// Processes, zombies not counted, with `token` on their command line.
inline std::vector<pid_t> processes_with(const std::string& token) {
    std::vector<pid_t> found;
    DIR* const directory = ::opendir("/proc");
    while (const auto* entry = ::readdir(directory)) {
        const auto pid = static_cast<pid_t>(std::atoi(entry->d_name));
        if (pid <= 0 || pid == ::getpid()) continue;
        const auto path = "/proc/" + std::string(entry->d_name) + "/cmdline";
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        char line[4096];
        const auto size = fd >= 0 ? ::read(fd, line, sizeof line) : 0;  // none: it has just ended
        if (fd >= 0) ::close(fd);
        const std::string_view seen(line, size > 0 ? static_cast<std::size_t>(size) : 0);
        if (seen.find(token) != std::string_view::npos) found.push_back(pid);
    }
    ::closedir(directory);
    return found;
}

// Waits for the end of all of them, also of those that they still start; false: `limit` is over.
inline bool none_left(const std::string& token, std::chrono::milliseconds limit) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + limit;
    for (auto pids = processes_with(token); !pids.empty(); pids = processes_with(token)) {
        const int process = static_cast<int>(::syscall(SYS_pidfd_open, pids.front(), 0));
        if (process < 0) continue;  // it has just ended
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd wait{process, POLLIN, 0};
        const bool ended = left >= 0 && ::poll(&wait, 1, static_cast<int>(left)) == 1;
        ::close(process);
        if (!ended) return false;
    }
    return true;
}

inline std::string unique_token() {
    static int counter = 0;
    return "patchbay-token-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
}

}  // namespace patchbay::test
