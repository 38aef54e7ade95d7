// Who uses patchbay.host.process/1 in tests: a shell script plays the supervisor, the test plays the plugin.
#pragma once

#include "plugin/services/process_service.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::test {

using namespace patchbay::plugin;
using namespace std::chrono_literals;

// What a supervisor says, as a shell writes it: kind and value, four bytes each. The program is
// one that the shell has started, or the shell: the host may kill what it is told.
inline constexpr const char* kSay =
    "byte() { printf '\\\\%03o' $(($1 >> $2 & 255)); }\n"
    "say() { printf \"\\\\00$1\\\\0\\\\0\\\\0$(byte $2 0)$(byte $2 8)$(byte $2 16)\\\\0\" >&3; }\n";
inline constexpr const char* kSaysStarted = "say 1 $$\n";
inline constexpr const char* kSaysExited5 = "say 2 5\n";

struct Told {
    std::vector<std::string> lines;
    std::int64_t pid = 0;
    bool throws = false;
    std::function<void()> on_exit = [] {};
    static void started(void* ctx, std::int64_t pid) {
        auto& self = *static_cast<Told*>(ctx);
        self.pid = pid;
        self.lines.emplace_back("started");
        if (self.throws) throw std::runtime_error("no more children");
    }
    static void exited(void* ctx, std::int32_t code) {
        auto& self = *static_cast<Told*>(ctx);
        self.lines.push_back("exited " + std::to_string(code));
        self.on_exit();
        if (self.throws) throw std::runtime_error("no end");
    }
};

// The plugin's ends of a child's pipes.
struct Ends {
    explicit Ends(const patchbay_process& process)
        : in(static_cast<int>(process.stdin_fd)),
          out(static_cast<int>(process.stdout_fd)),
          err(static_cast<int>(process.stderr_fd)) {}
    Ends(const Ends&) = delete;
    ~Ends() {
        close_input();
        ::close(out);
        ::close(err);
    }
    void close_input() {
        if (in >= 0) ::close(std::exchange(in, -1));
    }
    // All up to its end.
    static std::string read_all(int fd) {
        std::string text;
        char part[512];
        for (pollfd wanted{fd, POLLIN, 0}; ::poll(&wanted, 1, 20'000) > 0;) {
            const auto got = ::read(fd, part, sizeof part);
            if (got <= 0) return text;
            text.append(part, static_cast<std::size_t>(got));
        }
        return text + "(and no end)";
    }
    int in, out, err;
};

class ProcessServiceTest : public testing::Test {
protected:
    ProcessServiceTest() { supervise("exit 0\n"); }
    ~ProcessServiceTest() override {
        service_.reset();
        restore_supervisor();
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    }

    // From now on this shell text is the supervisor.
    void supervise(const std::string& script) {
        const auto path = folder_.write("supervisor", "#!/bin/sh\n" + (kSay + script));
        ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
        use_supervisor(path);
    }
    void use_supervisor(const std::string& path) {
        service_.reset();
        ASSERT_EQ(::setenv("PATCHBAY_SUPERVISOR", path.c_str(), 1), 0);
        service_.emplace(loop_, "test", [this](std::string what) { blamed_.push_back(what); });
    }
    Result<patchbay_process> try_spawn(Program program = {}) {
        if (program.argv.empty()) program.argv = {"/bin/true"};
        return service_->spawn(program, &told_, Told::started, Told::exited);
    }
    std::unique_ptr<Ends> spawn(Program program = {}) {
        const auto process = try_spawn(std::move(program));
        if (!process) {
            ADD_FAILURE() << process.error().message;
            return nullptr;
        }
        op_ = process->op;
        return std::make_unique<Ends>(*process);
    }
    bool until(const std::function<bool()>& done) {
        return loop_.run_until(done, core::Clock::now() + 20s);
    }
    bool told(std::size_t lines) {
        return until([&] { return told_.lines.size() >= lines; });
    }

private:
    void restore_supervisor() {
        if (former_)
            ::setenv("PATCHBAY_SUPERVISOR", former_->c_str(), 1);
        else
            ::unsetenv("PATCHBAY_SUPERVISOR");
    }
    const std::optional<std::string> former_ = [] {
        const char* given = ::getenv("PATCHBAY_SUPERVISOR");
        return given ? std::optional<std::string>(given) : std::nullopt;
    }();

protected:
    PluginFolder folder_;
    core::Loop loop_;
    Told told_;
    std::vector<std::string> blamed_;
    std::optional<ProcessService> service_;
    patchbay_op op_ = 0;
};

}  // namespace patchbay::test
