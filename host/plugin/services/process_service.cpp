#include "plugin/services/process_service.hpp"

#include "core/descriptor.hpp"
#include "core/log.hpp"
#include "core/worker.hpp"
#include "plugin/slow_call.hpp"
#include "supervisor/wire.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <unordered_map>

namespace patchbay::plugin {
namespace {

constexpr std::uint32_t kMostGraceMs = 60'000;
constexpr std::int32_t kNotStarted = 127;         // as a shell says it
constexpr std::int32_t kStopped = 256 + SIGTERM;  // as one that has heard the signal
constexpr std::chrono::seconds kFarewell{6};      // a supervisor gives a tree 5 s to die

using core::Descriptor;

Error system_error(const std::string& what, int code = errno) {
    return {ErrorCode::Io, what + ": " + std::strerror(code)};
}

// Out of the way of the numbers that the child's descriptors get.
bool lift(Descriptor& descriptor) {
    if (descriptor.get() > PATCHBAY_SUPERVISOR_CONTROL_FD) return true;
    const int lifted =
        ::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, PATCHBAY_SUPERVISOR_CONTROL_FD + 1);
    if (lifted < 0) return false;
    descriptor = Descriptor(lifted);
    return true;
}

// Both sides of descriptors 0, 1, 2 and of the control socket.
struct Pipes {
    std::array<Descriptor, 3> ours, childs;
    Descriptor control, childs_control;

    bool open() {
        for (int fd = 0; fd < 3; ++fd) {
            int ends[2];
            if (::pipe2(ends, O_CLOEXEC) != 0) return false;
            Descriptor reading(ends[0]), writing(ends[1]);
            ours[fd] = std::move(fd == 0 ? writing : reading);
            childs[fd] = std::move(fd == 0 ? reading : writing);
            if (!lift(ours[fd]) || !lift(childs[fd])) return false;
            if (::fcntl(ours[fd].get(), F_SETFL, O_NONBLOCK) != 0) return false;
        }
        int sockets[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return false;
        control = Descriptor(sockets[0]);
        childs_control = Descriptor(sockets[1]);
        return lift(control) && lift(childs_control);
    }
};

// The supervisor's first argument: supervisor/main.c.
std::string mode_of(const Program& program) {
    std::string mode = program.own_pids ? "namespace" : "shared";
    const auto bound = [&](const char* name, std::uint64_t value) {
        if (value > 0) mode += "," + std::string(name) + "=" + std::to_string(value);
    };
    bound("memory", program.limits.memory_bytes);
    bound("cpu", program.limits.cpu_seconds);
    bound("processes", program.limits.processes);
    bound("files", program.limits.files);
    return mode;
}

// All that a supervisor and its program are given.
struct Start {
    const std::string supervisor;
    const std::string path;
    const Program program;
    const std::vector<std::string> environment;
    Pipes pipes;  // only what is the child's in them

    Result<pid_t> go();
    Error fail(int code);

private:
    int spawn(pid_t& pid) const;
};

// posix_spawn is vfork in effect: the cost does not grow with our memory. Returns an errno.
int Start::spawn(pid_t& pid) const {
    const auto text = [](const std::string& string) { return const_cast<char*>(string.c_str()); };
    const auto mode = mode_of(program);
    std::vector<char*> argv{text(supervisor), text(mode), text(path)};
    for (const auto& argument : program.argv) argv.push_back(text(argument));
    argv.push_back(nullptr);
    std::vector<char*> envp;
    for (const auto& entry : environment) envp.push_back(text(entry));
    envp.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd < 3; ++fd)
        posix_spawn_file_actions_adddup2(&actions, pipes.childs[fd].get(), fd);
    posix_spawn_file_actions_adddup2(&actions, pipes.childs_control.get(),
                                     PATCHBAY_SUPERVISOR_CONTROL_FD);
    if (!program.cwd.empty()) posix_spawn_file_actions_addchdir_np(&actions, program.cwd.c_str());
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t all;
    ::sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);  // what we ignore would be ignored by servers
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    const int failed =
        ::posix_spawn(&pid, supervisor.c_str(), &actions, &attributes, argv.data(), envp.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

// What is the child's is closed behind it: its ends are told by that.
Result<pid_t> Start::go() {
    pid_t pid = 0;
    if (const int failed = spawn(pid)) return fail(failed);
    const auto childs = std::move(pipes);
    return pid;
}

// Told where a program is that could not be run.
Error Start::fail(int code) {
    const auto childs = std::move(pipes);
    auto error = system_error("cannot start the supervisor " + supervisor, code);
    const auto line = error.message + "\n";
    static_cast<void>(!::write(childs.childs[2].get(), line.data(), line.size()));
    return error;
}

void ignore_sigpipe() {
    struct sigaction current {};
    if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
        ::signal(SIGPIPE, SIG_IGN);
}

Descriptor open_pidfd(pid_t pid) {
    return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

// False when it still runs at `deadline`.
bool reap(pid_t pid, core::Clock::time_point deadline) {
    for (;;) {
        const pid_t reaped = ::waitpid(pid, nullptr, WNOHANG);
        if (reaped == pid || (reaped < 0 && errno != EINTR)) return true;
        if (core::Clock::now() >= deadline) return false;
        ::poll(nullptr, 0, 1);
    }
}

}  // namespace

std::string supervisor_path() {
    if (const char* given = ::secure_getenv("PATCHBAY_SUPERVISOR")) return given;
    char self[4096];
    const auto size = ::readlink("/proc/self/exe", self, sizeof self);
    std::string path(self, size > 0 ? static_cast<std::size_t>(size) : 0);
    for (int level = 0; level < 2; ++level) path.resize(std::min(path.rfind('/'), path.size()));
    return path + "/libexec/patchbay/patchbay-supervisor";
}

struct ProcessService::State : std::enable_shared_from_this<State> {
    struct Child {
        Descriptor control;
        pid_t supervisor = 0;
        core::Loop::WatchId watch = 0;  // [loop]
        void* ctx = nullptr;
        Started started = nullptr;
        Exited exited = nullptr;
        std::int64_t pid = 0;
        Descriptor pidfd;        // of the program, in case that somebody kills the supervisor
        Descriptor over;         // of the supervisor, readable when it has ended
        std::int32_t code = -1;  // until the supervisor has told
        patchbay_process_usage usage{sizeof(patchbay_process_usage), PATCHBAY_LIMIT_NONE, 0, 0};
        bool stopped = false;

        // A supervisor that has just left no longer listens; its end is on the way to us.
        void stop(std::uint32_t grace_ms) {
            stopped = true;
            const patchbay_supervisor_packet packet{PATCHBAY_SUPERVISOR_STOP,
                                                    static_cast<std::int32_t>(grace_ms)};
            static_cast<void>(
                !::send(control.get(), &packet, sizeof packet, MSG_NOSIGNAL | MSG_DONTWAIT));
        }
    };

    State(core::Loop& owner, std::string name, std::function<void(std::string)> blame)
        : loop(owner), plugin(std::move(name)), misbehaved(std::move(blame)) {}

    void start(patchbay_op op, const std::shared_ptr<Start>& what);
    void not_started(patchbay_op op, std::int32_t code);
    void watch(patchbay_op op);
    void read(patchbay_op op);
    void take(Child& child, const patchbay_supervisor_packet& packet);
    void leaving(patchbay_op op);
    void gone(patchbay_op op);
    template <class Callback>
    void call(const char* what, Callback callback);

    bool is_stopped(patchbay_op op) {
        const std::scoped_lock lock(mutex);
        return children.at(op)->stopped;
    }
    Child* find(patchbay_op op) {
        const std::scoped_lock lock(mutex);
        const auto found = children.find(op);
        return found == children.end() ? nullptr : found->second.get();
    }

    core::Loop& loop;
    const std::string plugin;
    const std::function<void(std::string)> misbehaved;
    const std::string supervisor = supervisor_path();
    std::mutex mutex;  // guards the members below; only the loop removes a child
    std::unordered_map<patchbay_op, std::unique_ptr<Child>> children;
    // Of those whose end is just being told.
    std::unordered_map<patchbay_op, patchbay_process_usage> ended;
    patchbay_op last_op = 0;
    std::uint32_t most_grace_ms = kMostGraceMs;
    // Starts one supervisor after another: who does waits until the kernel has made it, and that is no time for the
    // loop to stand still. The last member, gone with the service. [loop]
    std::optional<core::Worker> starter{std::in_place, loop, 1u};
};

template <class Callback>
void ProcessService::State::call(const char* what, Callback callback) {
    std::string thrown;
    if (!call_plugin(plugin, what, nullptr, thrown, callback))
        misbehaved(std::string(what) + " threw: " + thrown);
}

// [loop]
void ProcessService::State::start(patchbay_op op, const std::shared_ptr<Start>& what) {
    if (!starter) return;  // and no child
    try {
        starter->run(
            [this, op, what](const std::stop_token& stop) -> Result<void> {
                if (stop.stop_requested()) return {};
                // Whoever stops what has not begun is told of its end, and nothing of it ever runs.
                if (is_stopped(op)) return Error{ErrorCode::Cancelled, "stopped before it began"};
                auto pid = what->go();
                if (!pid) return pid.error();
                find(op)->supervisor = *pid;  // nobody else looks at it until then
                return {};
            },
            [this, op](const Result<void>& done) {
                if (done) return watch(op);
                not_started(op, done.error().code == ErrorCode::Cancelled ? kStopped : kNotStarted);
            });
    } catch (const std::system_error& no_thread) {
        what->fail(no_thread.code().value());
        loop.defer([weak = weak_from_this(), op] {
            if (const auto state = weak.lock()) state->not_started(op, kNotStarted);
        });
    }
}

// [loop] Why, its stderr says.
void ProcessService::State::not_started(patchbay_op op, std::int32_t code) {
    if (Child* const child = find(op)) child->code = code;
    gone(op);
}

// [loop]
void ProcessService::State::watch(patchbay_op op) {
    Child* const child = find(op);
    if (!child) return;
    auto id = loop.watch(child->control.get(), core::Loop::kReadable,
                         [weak = weak_from_this(), op](unsigned) {
                             if (const auto state = weak.lock()) state->read(op);
                         });
    if (id) {
        child->watch = *id;
        return;
    }
    // Nobody would hear of its end: end it now.
    core::log::error("plugin \"" + plugin + "\": " + id.error().message);
    child->control = Descriptor();
    reap(child->supervisor, core::Clock::now() + kFarewell);
    child->supervisor = 0;
    gone(op);
}

// [loop] The child stays in the table while its callback runs; only gone() removes it.
void ProcessService::State::read(patchbay_op op) {
    Child* const child = find(op);
    if (!child) return;
    for (;;) {
        patchbay_supervisor_packet packet{};
        const auto got = ::recv(child->control.get(), &packet, sizeof packet, MSG_DONTWAIT);
        // A reset is told once, ahead of what still waits: the supervisor left without reading a
        // stop that crossed its last word.
        if (got < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got != static_cast<ssize_t>(sizeof packet)) return leaving(op);
        take(*child, packet);
    }
}

void ProcessService::State::take(Child& child, const patchbay_supervisor_packet& packet) {
    const auto value = static_cast<std::uint64_t>(std::max(packet.value, 0));
    if (packet.kind == PATCHBAY_SUPERVISOR_EXITED) child.code = packet.value;
    if (packet.kind == PATCHBAY_SUPERVISOR_LIMITED)
        child.usage.limit = static_cast<std::uint32_t>(value);
    if (packet.kind == PATCHBAY_SUPERVISOR_CPU) child.usage.cpu_ms = value;
    if (packet.kind == PATCHBAY_SUPERVISOR_MEMORY) child.usage.peak_memory_bytes = value * 1024;
    if (packet.kind != PATCHBAY_SUPERVISOR_STARTED) return;
    child.pid = packet.value;
    child.pidfd = open_pidfd(packet.value);
    if (child.started) call("started", [&] { child.started(child.ctx, child.pid); });
}

// [loop] The supervisor has closed its socket, or talks nonsense. The kernel takes its time to undo
// a process: for fifty servers that end at once the loop would stand still.
void ProcessService::State::leaving(patchbay_op op) {
    Child* const child = find(op);
    if (!child) return;
    if (child->watch) loop.unwatch(std::exchange(child->watch, 0));
    {
        const std::scoped_lock lock(mutex);  // stop() sends on it
        child->control = Descriptor();
    }
    child->over = open_pidfd(child->supervisor);
    auto id = loop.watch(child->over.get(), core::Loop::kReadable,
                         [weak = weak_from_this(), op](unsigned) {
                             if (const auto state = weak.lock()) state->gone(op);
                         });
    if (!id) return gone(op);
    child->watch = *id;
}

// [loop] The supervisor has ended, or nothing but waiting for it will tell.
void ProcessService::State::gone(patchbay_op op) {
    std::unique_ptr<Child> child;
    {
        const std::scoped_lock lock(mutex);
        const auto found = children.find(op);
        if (found == children.end()) return;
        child = std::move(found->second);
        children.erase(found);
    }
    if (child->watch) loop.unwatch(child->watch);
    if (child->supervisor > 0) ::waitpid(child->supervisor, nullptr, 0);
    if (child->code < 0) {
        // Killed. The program dies with it (PDEATHSIG, or its namespace's init), unless it forbade
        // that; a supervisor above it, if there is one, has ended the rest of the tree.
        if (child->pidfd.get() >= 0)
            ::syscall(SYS_pidfd_send_signal, child->pidfd.get(), SIGKILL, nullptr, 0);
        core::log::warn("plugin \"" + plugin + "\": the supervisor of process " +
                        std::to_string(child->pid) + " was killed");
        child->code = 256 + SIGKILL;
    }
    {
        const std::scoped_lock lock(mutex);
        ended.emplace(op, child->usage);
    }
    call("exited", [&] { child->exited(child->ctx, child->code); });
    const std::scoped_lock lock(mutex);
    ended.erase(op);
}

ProcessService::ProcessService(core::Loop& loop, std::string plugin,
                               std::function<void(std::string)> misbehaved)
    : state_(std::make_shared<State>(loop, std::move(plugin), std::move(misbehaved))) {
    ignore_sigpipe();
}

ProcessService::~ProcessService() {
    state_->starter.reset();
    std::unordered_map<patchbay_op, std::unique_ptr<State::Child>> left;
    {
        const std::scoped_lock lock(state_->mutex);
        left.swap(state_->children);
    }
    for (auto& [op, child] : left) {
        if (child->watch) state_->loop.unwatch(child->watch);
        child->control = Descriptor();  // tells the supervisor to end the tree and to leave
    }
    const auto deadline = core::Clock::now() + kFarewell;
    for (auto& [op, child] : left)
        if (child->supervisor > 0) reap(child->supervisor, deadline);  // 0: it was not its turn yet
}

Result<patchbay_process> ProcessService::spawn(const Program& program, void* ctx, Started started,
                                               Exited exited) {
    const auto environment = child_environment(program.environment);
    const auto path = find_program(program, environment);
    if (!path) return path.error();
    if (::access(state_->supervisor.c_str(), X_OK) != 0)
        return system_error("the installation is not complete: cannot start the supervisor " +
                            state_->supervisor);
    Pipes pipes;
    if (!pipes.open())
        return system_error("cannot open pipes for \"" + program.argv.front() + "\"");

    patchbay_process process{};
    process.struct_size = sizeof process;
    process.stdin_fd = pipes.ours[0].release();
    process.stdout_fd = pipes.ours[1].release();
    process.stderr_fd = pipes.ours[2].release();
    auto child = std::make_unique<State::Child>();
    child->control = std::move(pipes.control);
    child->ctx = ctx;
    child->started = started;
    child->exited = exited;
    {
        const std::scoped_lock lock(state_->mutex);
        process.op = ++state_->last_op;
        state_->children.emplace(process.op, std::move(child));
    }
    const auto what = std::make_shared<Start>(
        Start{state_->supervisor, *path, program, environment, std::move(pipes)});
    if (state_->loop.on_loop_thread())
        state_->start(process.op, what);
    else
        state_->loop.post([weak = std::weak_ptr(state_), op = process.op, what] {
            if (const auto state = weak.lock()) state->start(op, what);
        });
    return process;
}

void ProcessService::stop(patchbay_op op, std::uint32_t grace_ms) {
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->children.find(op);
    if (found != state_->children.end())
        found->second->stop(std::min(grace_ms, state_->most_grace_ms));
}

std::optional<patchbay_process_usage> ProcessService::usage(patchbay_op op) const {
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->ended.find(op);
    if (found == state_->ended.end()) return {};
    return found->second;
}

// The supervisor takes the sooner end of two.
void ProcessService::hurry(Hurried whom, std::uint32_t most_ms) {
    const std::scoped_lock lock(state_->mutex);
    if (whom == Hurried::All) state_->most_grace_ms = std::min(state_->most_grace_ms, most_ms);
    for (const auto& [op, child] : state_->children)
        if (child->stopped) child->stop(most_ms);
}

}  // namespace patchbay::plugin
