#include "plugin/process_service.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "core/log.hpp"
#include "plugin/host_services.hpp"
#include "supervisor/wire.h"

namespace patchbay::plugin {

namespace {

constexpr const char* kShortList[] = {"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH",
                                      "SHELL", "TERM", "TMPDIR", "TZ", "USER"};
constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

private:
    int fd_ = -1;
};

Error system_error(const std::string& what) {
    return {ErrorCode::Io, what + ": " + std::strerror(errno)};
}

// Out of the way of the numbers that the child's descriptors get.
bool lift(Descriptor& descriptor) {
    if (descriptor.get() > PATCHBAY_SUPERVISOR_CONTROL_FD) return true;
    const int lifted = ::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, PATCHBAY_SUPERVISOR_CONTROL_FD + 1);
    if (lifted < 0) return false;
    descriptor = Descriptor(lifted);
    return true;
}

bool open_pipe(Descriptor& reading, Descriptor& writing) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    reading = Descriptor(ends[0]);
    writing = Descriptor(ends[1]);
    return lift(reading) && lift(writing);
}

std::string value_of(const std::vector<std::string>& environment, const std::string& name) {
    for (const auto& entry : environment) {
        if (entry.compare(0, name.size() + 1, name + "=") == 0) return entry.substr(name.size() + 1);
    }
    return {};
}

// Empty: it can be executed.
std::string trouble_with(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return std::strerror(errno);
    if (S_ISDIR(info.st_mode)) return "it is a directory";
    if (::access(path.c_str(), X_OK) != 0) return "it is not executable (chmod +x?)";
    return {};
}

}  // namespace

std::vector<std::string> child_environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
    std::map<std::string, std::string> merged;
    for (const char* name : kShortList) {
        if (const char* value = std::getenv(name)) merged[name] = value;
    }
    for (const auto& [name, value] : added) merged[name] = value;
    std::vector<std::string> entries;
    for (const auto& [name, value] : merged) entries.push_back(name + "=" + value);
    return entries;
}

Result<std::string> find_program(const Program& program, const std::vector<std::string>& environment) {
    if (!program.cwd.empty()) {
        struct stat info {};
        if (::stat(program.cwd.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
            return Error{ErrorCode::NotFound, "working directory (cwd) \"" + program.cwd +
                                                  "\" is not a directory"};
        }
    }
    const std::string& name = program.argv.front();
    if (name.empty()) return Error{ErrorCode::Invalid, "command is empty"};
    if (name.find('/') != std::string::npos) {
        const bool relative = name.front() != '/' && !program.cwd.empty();
        const std::string path = relative ? program.cwd + "/" + name : name;
        const auto trouble = trouble_with(path);
        if (!trouble.empty()) return Error{ErrorCode::NotFound, "command \"" + path + "\": " + trouble};
        return path;
    }
    std::string path = value_of(environment, "PATH");
    if (path.empty()) path = kDefaultPath;
    std::string unusable;
    for (std::size_t from = 0; from <= path.size();) {
        const auto to = std::min(path.find(':', from), path.size());
        const std::string candidate = path.substr(from, to - from) + "/" + name;
        from = to + 1;
        const auto trouble = trouble_with(candidate);
        if (trouble.empty()) return candidate;
        if (::access(candidate.c_str(), F_OK) == 0) unusable = "; " + candidate + ": " + trouble;
    }
    return Error{ErrorCode::NotFound, "command \"" + name + "\" not found in PATH (" + path + ")" +
                                          unusable + "; install it or give its full path"};
}

std::string supervisor_path() {
    if (const char* given = ::secure_getenv("PATCHBAY_SUPERVISOR")) return given;
    char self[4096];
    const auto size = ::readlink("/proc/self/exe", self, sizeof self - 1);
    if (size <= 0) return "patchbay-supervisor";
    std::string path(self, static_cast<std::size_t>(size));
    path.resize(path.rfind('/'));
    path.resize(path.rfind('/'));
    return path + "/libexec/patchbay/patchbay-supervisor";
}

struct ProcessService::State {
    struct Child {
        Descriptor control;
        pid_t supervisor = 0;
        core::Loop::WatchId watch = 0;
        void* ctx = nullptr;
        Started started = nullptr;
        Exited exited = nullptr;
        std::int64_t pid = 0;
        std::int32_t code = -1;  // until the supervisor has told
    };

    State(core::Loop& owner, std::string name) : loop(owner), plugin(std::move(name)) {}

    void read(patchbay_op op);
    void gone(patchbay_op op);

    core::Loop& loop;
    const std::string plugin;
    const std::string supervisor = supervisor_path();
    std::mutex mutex;                       // guards the members below
    std::map<patchbay_op, std::unique_ptr<Child>> children;
    patchbay_op last_op = 0;
};

// [loop] The child stays in the table while its callback runs; only gone() removes it.
void ProcessService::State::read(patchbay_op op) {
    Child* child = nullptr;
    {
        const std::scoped_lock lock(mutex);
        const auto found = children.find(op);
        if (found == children.end()) return;
        child = found->second.get();
    }
    for (;;) {
        patchbay_supervisor_packet packet{};
        const auto got = ::recv(child->control.get(), &packet, sizeof packet, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (got != static_cast<ssize_t>(sizeof packet)) return gone(op);
        if (packet.kind == PATCHBAY_SUPERVISOR_STARTED) {
            child->pid = packet.value;
            if (child->started) child->started(child->ctx, packet.value);
        } else if (packet.kind == PATCHBAY_SUPERVISOR_EXITED) {
            child->code = packet.value;
        }
    }
}

void ProcessService::State::gone(patchbay_op op) {
    std::unique_ptr<Child> child;
    {
        const std::scoped_lock lock(mutex);
        const auto found = children.find(op);
        if (found == children.end()) return;
        child = std::move(found->second);
        children.erase(found);
    }
    loop.unwatch(child->watch);
    // Its socket has closed, so it is on its way out: this waits for microseconds.
    ::waitpid(child->supervisor, nullptr, 0);
    if (child->code < 0) {
        // Somebody killed the supervisor. The program dies with it (PDEATHSIG, or its namespace's
        // init); make sure of it.
        if (child->pid > 0) ::kill(static_cast<pid_t>(child->pid), SIGKILL);
        core::log::warn("plugin \"" + plugin + "\": the supervisor of process " +
                        std::to_string(child->pid) + " was killed");
        child->code = 256 + SIGKILL;
    }
    child->exited(child->ctx, child->code);
}

ProcessService::ProcessService(core::Loop& loop, std::string plugin)
    : state_(std::make_shared<State>(loop, std::move(plugin))) {}

ProcessService::~ProcessService() {
    const std::scoped_lock lock(state_->mutex);
    for (auto& [op, child] : state_->children) state_->loop.unwatch(child->watch);
    state_->children.clear();  // the sockets close, the supervisors end the trees and leave
}

Result<patchbay_process> ProcessService::spawn(const Program& program, void* ctx, Started started,
                                               Exited exited) {
    if (program.argv.empty()) return Error{ErrorCode::Invalid, "command is empty"};
    auto environment = child_environment(program.environment);
    if (auto found = find_program(program, environment); !found) return found.error();

    std::array<Descriptor, 3> host_ends, child_ends;
    int sockets[2];
    if (!open_pipe(child_ends[0], host_ends[0]) || !open_pipe(host_ends[1], child_ends[1]) ||
        !open_pipe(host_ends[2], child_ends[2]) ||
        ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        return system_error("cannot open pipes for \"" + program.argv.front() + "\"");
    }
    Descriptor control(sockets[0]), childs_control(sockets[1]);
    if (!lift(control) || !lift(childs_control)) return system_error("cannot duplicate a descriptor");
    for (auto& end : host_ends) ::fcntl(end.get(), F_SETFL, ::fcntl(end.get(), F_GETFL) | O_NONBLOCK);

    std::vector<char*> argv{const_cast<char*>(state_->supervisor.c_str())};
    for (const auto& argument : program.argv) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    std::vector<char*> envp;
    for (const auto& entry : environment) envp.push_back(const_cast<char*>(entry.c_str()));
    envp.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd < 3; ++fd) posix_spawn_file_actions_adddup2(&actions, child_ends[fd].get(), fd);
    posix_spawn_file_actions_adddup2(&actions, childs_control.get(), PATCHBAY_SUPERVISOR_CONTROL_FD);
    if (!program.cwd.empty()) posix_spawn_file_actions_addchdir_np(&actions, program.cwd.c_str());
    pid_t supervisor = 0;
    const int failed = ::posix_spawn(&supervisor, state_->supervisor.c_str(), &actions, nullptr,
                                     argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        errno = failed;
        return system_error("cannot start the supervisor " + state_->supervisor);
    }

    auto child = std::make_unique<State::Child>();
    const int control_fd = control.get();
    child->control = std::move(control);
    child->supervisor = supervisor;
    child->ctx = ctx;
    child->started = started;
    child->exited = exited;
    patchbay_op op = 0;
    {
        const std::scoped_lock lock(state_->mutex);
        op = ++state_->last_op;
        state_->children.emplace(op, std::move(child));
    }
    const auto watch = [weak = std::weak_ptr(state_), op, control_fd] {
        const auto state = weak.lock();
        if (!state) return;
        auto id = state->loop.watch(control_fd, core::Loop::kReadable, [weak, op](unsigned) {
            if (const auto alive = weak.lock()) alive->read(op);
        });
        const std::scoped_lock lock(state->mutex);
        const auto found = state->children.find(op);
        if (found != state->children.end() && id) found->second->watch = *id;
    };
    if (state_->loop.on_loop_thread()) watch();
    else state_->loop.post(watch);

    patchbay_process process{};
    process.struct_size = sizeof process;
    process.op = op;
    process.stdin_fd = host_ends[0].release();
    process.stdout_fd = host_ends[1].release();
    process.stderr_fd = host_ends[2].release();
    return process;
}

void ProcessService::stop(patchbay_op op, std::uint32_t grace_ms) {
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->children.find(op);
    if (found == state_->children.end()) return;
    const patchbay_supervisor_packet packet{PATCHBAY_SUPERVISOR_STOP,
                                            static_cast<std::int32_t>(std::min(grace_ms, 60'000u))};
    (void)!::send(found->second->control.get(), &packet, sizeof packet, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// ---- the C face --------------------------------------------------------------------------------

namespace {

std::string text_of(patchbay_str text) { return {text.data, text.size}; }

patchbay_status spawn_for_plugin(const patchbay_host* host, const patchbay_process_params* params,
                                 void* ctx, ProcessService::Started started,
                                 ProcessService::Exited exited, patchbay_process* out,
                                 patchbay_error* error) noexcept try {
    auto* processes = HostServices::of(host).processes();
    if (!processes) return PATCHBAY_E_CLOSED;
    if (!params || !exited || !out) return PATCHBAY_E_INVALID;
    Program program;
    for (std::size_t i = 0; i < params->argc; ++i) program.argv.push_back(text_of(params->argv[i]));
    program.cwd = text_of(params->cwd);
    for (std::size_t i = 0; i < params->env_count; ++i) {
        program.environment.emplace_back(text_of(params->env[i].name), text_of(params->env[i].value));
    }
    auto process = processes->spawn(program, ctx, started, exited);
    if (process) {
        *out = *process;
        return PATCHBAY_OK;
    }
    const bool absent = process.error().code == ErrorCode::NotFound;
    if (error) {
        *error = {};
        error->code = absent ? PATCHBAY_E_INVALID : PATCHBAY_E_IO;
        process.error().message.copy(error->message, sizeof error->message - 1);
    }
    return absent ? PATCHBAY_E_INVALID : PATCHBAY_E_IO;
} catch (const std::exception&) {
    return PATCHBAY_E_INTERNAL;
}

void stop_for_plugin(const patchbay_host* host, patchbay_op op, std::uint32_t grace_ms) noexcept {
    if (auto* processes = HostServices::of(host).processes()) processes->stop(op, grace_ms);
}

constexpr patchbay_host_process kTable{sizeof(patchbay_host_process), 0, spawn_for_plugin,
                                       stop_for_plugin};

}  // namespace

const patchbay_host_process* ProcessService::table() { return &kTable; }

}  // namespace patchbay::plugin
