#include "program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace patchbay::transport {
namespace {

constexpr int kMostDrainReads = 64;  // of 16 KiB: what a pipe of 1 MiB holds

Program& program_of(void* self) {
    return *static_cast<Program*>(self);
}

}  // namespace

Program::Program(ChannelCore& core, Listener& listener)
    : core_(core),
      listener_(listener),
      process_(sdk::extension<patchbay_host_process>(core.host(), PATCHBAY_HOST_PROCESS)),
      outputs_{{this, kStdout}, {this, kStderr}} {}

Program::~Program() {
    for (const int fd : {stdin_, outputs_[kStdout].fd, outputs_[kStderr].fd}) {
        if (fd >= 0) ::close(fd);
    }
}

void Program::start(const Launch& launch, Stdout use) {
    if (!process_)
        throw sdk::Failure(PATCHBAY_E_UNSUPPORTED, "the host grants no " PATCHBAY_HOST_PROCESS);
    std::vector<patchbay_str> arguments;
    for (const auto& argument : launch.argv) arguments.push_back(sdk::str(argument));
    patchbay_process_params params{};
    params.struct_size = sizeof params;
    params.flags = launch.flags;
    params.argv = arguments.data();
    params.argc = arguments.size();
    params.cwd = sdk::str(launch.cwd);
    params.env = launch.env.data();
    params.env_count = launch.env.size();
    params.memory_bytes = launch.limits.memory_bytes;
    params.cpu_seconds = launch.limits.cpu_seconds;
    params.processes = launch.limits.processes;
    params.files = launch.limits.files;
    patchbay_process process{};
    process.struct_size = sizeof process;
    patchbay_error error{};
    const auto status =
        process_->spawn(core_.host(), &params, this, on_started, on_exited, &process, &error);
    if (status < 0) throw sdk::Failure(status, error.message);
    core_.departed();
    op_ = process.op;
    forced_at_ = Clock::time_point::max();
    reads_a_round_ = launch.reads_a_round;
    stdin_ = static_cast<int>(process.stdin_fd);
    outputs_[kStdout].fd = static_cast<int>(process.stdout_fd);
    outputs_[kStderr].fd = static_cast<int>(process.stderr_fd);
    follow(outputs_[kStderr]);
    if (use == Stdout::Ours) follow(outputs_[kStdout]);
}

void Program::stop(std::chrono::milliseconds grace) {
    if (stdin_ >= 0) ::close(std::exchange(stdin_, -1));
    if (!op_) return;
    forced_at_ = std::min(forced_at_, core_.now() + grace);
    process_->stop(core_.host(), op_, static_cast<std::uint32_t>(grace.count()));
}

bool Program::left_by_itself() const {
    return exited_at_ < forced_at_ || (code_ != 256 + SIGTERM && code_ != 256 + SIGKILL);
}

void Program::on_started(void* self, std::int64_t pid) noexcept {
    auto& program = program_of(self);
    program.core_.enter("the start of a program",
                        [&program, pid] { program.listener_.program_runs(pid); });
}

void Program::on_exited(void* self, std::int32_t code) noexcept {
    auto& program = program_of(self);
    program.core_.enter("the exit of a program", [&program, code] {
        program.core_.arrived();
        program.learn_usage();
        program.op_ = 0;
        program.code_ = code;
        program.exited_at_ = program.core_.now();
        // The service may say so on any thread; watches end on the reactor's.
        if (!program.core_.post(&program, on_exit_posted)) program.leave();
    });
}

void Program::learn_usage() {
    usage_ = {};
    if (!PATCHBAY_HAS(patchbay_host_process, process_, usage)) return;
    patchbay_process_usage used{};
    used.struct_size = sizeof used;
    if (process_->usage(core_.host(), op_, &used) == PATCHBAY_OK) usage_ = used;
}

void Program::on_exit_posted(void* self) noexcept {
    auto& program = program_of(self);
    program.core_.enter("the exit of a program", [&program] {
        program.core_.arrived();
        program.leave();
    });
}

void Program::leave() {
    // Whatever becomes of its last words, its exit is told.
    core_.contain("the last output of a program", [this] {
        drain(outputs_[kStderr]);
        if (outputs_[kStdout].watch) drain(outputs_[kStdout]);
    });
    for (auto& pipe : outputs_)
        if (pipe.watch) close(pipe);
    if (stdin_ >= 0) ::close(std::exchange(stdin_, -1));
    listener_.program_exited();
}

// ---- what it writes

void Program::follow(Pipe& pipe) {
    // Without a watch, what it says is lost when the pipe is full; the program runs all the same.
    if (!core_.watch(pipe.fd, ChannelCore::kReadable, &pipe, on_readable, pipe.watch)) close(pipe);
}

void Program::on_readable(void* context, std::uint32_t) noexcept {
    auto& pipe = *static_cast<Pipe*>(context);
    auto& program = *pipe.program;
    program.core_.enter("the output of a program", [&pipe, &program] {
        for (int i = 0; i < program.reads_a_round_ && pipe.watch && program.read(pipe); ++i) {
        }
    });
}

// False: nothing more for now, or for good.
bool Program::read(Pipe& pipe) {
    char text[16u << 10];
    const ssize_t got = ::read(pipe.fd, text, sizeof text);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got > 0) {
        listener_.program_wrote(pipe.output, {text, static_cast<std::size_t>(got)});
        return true;
    }
    listener_.program_closed(pipe.output);
    close(pipe);
    return false;
}

void Program::drain(Pipe& pipe) {
    for (int i = 0; i < kMostDrainReads && pipe.fd >= 0 && read(pipe); ++i) {
    }
    if (pipe.fd >= 0) listener_.program_closed(pipe.output);
    close(pipe);
}

void Program::close(Pipe& pipe) {
    core_.end(pipe.watch);
    if (pipe.fd >= 0) ::close(std::exchange(pipe.fd, -1));
}

}  // namespace patchbay::transport
