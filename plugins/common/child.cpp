#include "child.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::transport {
namespace {

constexpr int kMostDrainReads = 64;  // of 16 KiB: what a pipe of 1 MiB holds

using Turn = ChannelCore::Turn;

std::vector<std::string> command_line(const sdk::Config& config) {
    std::vector<std::string> argv;
    const auto* const command = config.find("command");
    if (command && command->kind == sdk::ConfigValue::Kind::String)
        argv.push_back(command->text);
    else
        argv = config.strings("command");
    const auto args = config.strings("args");
    argv.insert(argv.end(), args.begin(), args.end());
    if (argv.empty() || argv.front().empty())
        throw sdk::Failure(PATCHBAY_E_INVALID, "command is empty");
    return argv;
}

// `passed`: of our own environment, by name; what `env` says is stronger.
std::vector<patchbay_kv> environment_of(const std::map<std::string, std::string>& env,
                                        const std::vector<std::string>& passed,
                                        const patchbay_kv* credentials, std::size_t count) {
    std::vector<patchbay_kv> environment;
    for (const auto& name : passed) {
        const char* const value = std::getenv(name.c_str());
        if (value && !env.contains(name))
            environment.push_back(
                {sdk::str(name), {value, std::strlen(value)}, PATCHBAY_KV_ENV, 0});
    }
    for (const auto& [name, value] : env)
        environment.push_back({sdk::str(name), sdk::str(value), PATCHBAY_KV_ENV, 0});
    for (std::size_t i = 0; i < count; ++i) {
        if (credentials[i].flags & PATCHBAY_KV_ENV) environment.push_back(credentials[i]);
    }
    return environment;
}

}  // namespace

Child::Child(ChannelCore& core, Listener& listener)
    : core_(core),
      listener_(listener),
      process_(sdk::extension<patchbay_host_process>(core.host(), PATCHBAY_HOST_PROCESS)) {
    stdout_.child = stderr_.child = this;
    stdout_.stream = PATCHBAY_OUTPUT_STRAY;
    stderr_.stream = PATCHBAY_OUTPUT_STDERR;
}

Child::~Child() {
    for (const int fd : {stdin_, stdout_.fd, stderr_.fd}) {
        if (fd >= 0) ::close(fd);
    }
}

void Child::start(const sdk::Config& config, const patchbay_kv* credentials, std::size_t count,
                  Stdout use) {
    if (!process_)
        throw sdk::Failure(PATCHBAY_E_UNSUPPORTED, "the host grants no " PATCHBAY_HOST_PROCESS);
    const auto argv = command_line(config);
    std::vector<patchbay_str> arguments;
    for (const auto& argument : argv) arguments.push_back(sdk::str(argument));
    const auto cwd = config.text("cwd");
    const auto env = config.object("env");
    const auto passed = config.strings("pass_env");
    const auto environment = environment_of(env, passed, credentials, count);

    patchbay_process_params params{};
    params.struct_size = sizeof params;
    params.flags = config.boolean("pid_namespace", true) ? 0 : PATCHBAY_PROCESS_SHARED_PIDS;
    params.argv = arguments.data();
    params.argc = arguments.size();
    params.cwd = sdk::str(cwd);
    params.env = environment.data();
    params.env_count = environment.size();
    patchbay_process process{};
    process.struct_size = sizeof process;
    patchbay_error error{};
    const auto status =
        process_->spawn(core_.host(), &params, this, on_started, on_exited, &process, &error);
    if (status < 0) throw sdk::Failure(status, error.message);
    core_.departed();
    op_ = process.op;
    stdin_ = static_cast<int>(process.stdin_fd);
    stdout_.fd = static_cast<int>(process.stdout_fd);
    stderr_.fd = static_cast<int>(process.stderr_fd);
    follow(stderr_);
    if (use == Stdout::ForPeople) follow(stdout_);
}

void Child::stop(std::chrono::milliseconds grace) {
    if (stdin_ >= 0) ::close(std::exchange(stdin_, -1));
    if (!op_) return;
    forced_at_ = std::min(forced_at_, std::chrono::steady_clock::now() + grace);
    process_->stop(core_.host(), op_, static_cast<std::uint32_t>(grace.count()));
}

std::string Child::describe_exit() const {
    if (code_ < 256) return "server process exited with code " + std::to_string(code_);
    const int number = code_ - 256;
    const char* const name = ::sigabbrev_np(number);
    return "server process was killed by signal " + std::to_string(number) +
           (name ? std::string(" (SIG") + name + ")" : "");
}

bool Child::left_by_itself() const {
    return exited_at_ < forced_at_ || (code_ != 256 + SIGTERM && code_ != 256 + SIGKILL);
}

void Child::on_started(void* self, std::int64_t pid) noexcept {
    auto& child = *static_cast<Child*>(self);
    const Turn turn(child.core_);
    child.core_.sink().fact("pid", std::to_string(pid));
}

void Child::on_exited(void* self, std::int32_t code) noexcept {
    auto& child = *static_cast<Child*>(self);
    const Turn turn(child.core_);
    child.op_ = 0;
    child.code_ = code;
    child.exited_at_ = std::chrono::steady_clock::now();
    // The service may say so on any thread; watches end on the reactor's.
    if (!child.core_.post(self, on_exit_posted)) child.leave();
    child.core_.arrived();
}

void Child::on_exit_posted(void* self) noexcept {
    auto& child = *static_cast<Child*>(self);
    const Turn turn(child.core_);
    child.core_.arrived();
    child.leave();
}

void Child::leave() {
    drain(stderr_);
    if (stdout_.watch) drain(stdout_);
    if (stdin_ >= 0) ::close(std::exchange(stdin_, -1));
    listener_.child_exited();
}

// ---- output for people

void Child::follow(Output& output) {
    // Without a watch, what it says is lost when the pipe is full; the channel works all the same.
    if (!core_.watch(output.fd, ChannelCore::kReadable, &output, on_output, output.watch))
        close(output);
}

void Child::on_output(void* context, std::uint32_t) noexcept {
    auto& output = *static_cast<Output*>(context);
    const Turn turn(output.child->core_);
    if (output.watch) output.child->read(output);  // one read a round: noise has no precedence
}

// False: nothing more for now, or for good.
bool Child::read(Output& output) {
    const auto show = [&](std::string_view line) { core_.sink().output(output.stream, line); };
    char text[16u << 10];
    const ssize_t got = ::read(output.fd, text, sizeof text);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got > 0) {
        output.lines.take({text, static_cast<std::size_t>(got)}, show);
        return true;
    }
    output.lines.end(show);
    close(output);
    return false;
}

void Child::drain(Output& output) {
    for (int i = 0; i < kMostDrainReads && output.fd >= 0 && read(output); ++i) {
    }
    if (output.fd >= 0)
        output.lines.end([&](std::string_view line) { core_.sink().output(output.stream, line); });
    close(output);
}

void Child::close(Output& output) {
    core_.end(output.watch);
    if (output.fd >= 0) ::close(std::exchange(output.fd, -1));
}

}  // namespace patchbay::transport
