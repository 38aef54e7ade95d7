#include "child.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace patchbay::transport {

namespace {

constexpr std::size_t kLineBytes = 8u << 10;  // of stderr; the rest of a longer line is dropped

std::vector<std::string> command_line(const sdk::Config& config) {
    std::vector<std::string> argv;
    const auto* command = config.find("command");
    if (command && command->kind == sdk::ConfigValue::Kind::Strings) argv = command->strings;
    else if (command) argv.push_back(command->text);
    if (const auto* args = config.find("args")) argv.insert(argv.end(), args->strings.begin(), args->strings.end());
    if (argv.empty() || argv.front().empty()) throw sdk::Failure(PATCHBAY_E_INVALID, "command is empty");
    return argv;
}

}  // namespace

std::string describe_exit(int code) {
    if (code < 256) return "exited with code " + std::to_string(code);
    const int number = code - 256;
    const char* name = ::sigabbrev_np(number);
    return "was killed by signal " + std::to_string(number) + (name ? std::string(" (SIG") + name + ")" : "");
}

Child::Child(const patchbay_host* host, sdk::Sink sink, Listener& listener)
    : host_(host),
      reactor_(sdk::extension<patchbay_host_reactor>(host, PATCHBAY_HOST_REACTOR)),
      process_(sdk::extension<patchbay_host_process>(host, PATCHBAY_HOST_PROCESS)),
      sink_(sink),
      listener_(listener) {}

Child::~Child() { close_stderr(); }

void Child::start(const sdk::Config& config, const patchbay_kv* credentials, std::size_t count) {
    if (!process_) throw sdk::Failure(PATCHBAY_E_UNSUPPORTED, "the host grants no processes");
    const auto argv = command_line(config);
    std::vector<patchbay_str> arguments;
    for (const auto& argument : argv) arguments.push_back(sdk::str(argument));
    std::vector<patchbay_kv> environment;
    if (const auto* env = config.find("env")) {
        for (const auto& [name, value] : env->object) {
            environment.push_back({sdk::str(name), sdk::str(value), PATCHBAY_KV_ENV, 0});
        }
    }
    if (!config.boolean("pid_namespace", true)) {
        environment.push_back({sdk::str("PATCHBAY_PID_NAMESPACE"), sdk::str("never"), PATCHBAY_KV_ENV, 0});
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (credentials[i].flags & PATCHBAY_KV_ENV) environment.push_back(credentials[i]);
    }
    const std::string cwd = config.text("cwd");

    patchbay_process_params params{};
    params.struct_size = sizeof params;
    params.argv = arguments.data();
    params.argc = arguments.size();
    params.cwd = sdk::str(cwd);
    params.env = environment.data();
    params.env_count = environment.size();
    patchbay_process process{};
    process.struct_size = sizeof process;
    patchbay_error error{};
    const auto status = process_->spawn(host_, &params, this, on_started, on_exited, &process, &error);
    if (status != PATCHBAY_OK) throw sdk::Failure(status, error.message);
    op_ = process.op;
    stdin_fd = static_cast<int>(process.stdin_fd);
    stdout_fd = static_cast<int>(process.stdout_fd);
    stderr_fd_ = static_cast<int>(process.stderr_fd);
    reactor_->watch(host_, stderr_fd_, 1, this, on_stderr, &stderr_watch_);
}

void Child::stop(unsigned grace_ms) {
    if (op_) process_->stop(host_, op_, grace_ms);
}

void Child::on_started(void* self, std::int64_t pid) noexcept {
    static_cast<Child*>(self)->sink_.fact("pid", std::to_string(pid));
}

void Child::on_exited(void* self, std::int32_t code) noexcept {
    auto& child = *static_cast<Child*>(self);
    child.op_ = 0;
    child.drain_stderr();
    child.listener_.child_exited(code);
}

void Child::on_stderr(void* self, std::uint32_t) noexcept {
    auto& child = *static_cast<Child*>(self);
    try {
        (void)child.read_stderr();  // one read a round: a noisy child is no louder than the others
    } catch (const std::exception&) {
        child.close_stderr();
    }
}

bool Child::read_stderr() {
    char text[16u << 10];
    const ssize_t got = ::read(stderr_fd_, text, sizeof text);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
        if (!line_.empty()) sink_.output(PATCHBAY_OUTPUT_STDERR, std::exchange(line_, {}));
        close_stderr();
        return false;
    }
    for (const char* at = text; at < text + got;) {
        const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(text + got - at)));
        const char* const to = newline ? newline : text + got;
        const auto size = static_cast<std::size_t>(to - at);
        line_.append(at, std::min(size, kLineBytes - std::min(kLineBytes, line_.size())));
        if (newline) {
            if (!line_.empty() && line_.back() == '\r') line_.pop_back();
            if (!line_.empty()) sink_.output(PATCHBAY_OUTPUT_STDERR, line_);
            line_.clear();
        }
        at = to + 1;
    }
    return true;
}

void Child::drain_stderr() {
    // The pipe holds 64 KiB at most once the last writer is gone.
    for (int i = 0; i < 16 && stderr_fd_ >= 0 && read_stderr(); ++i) {}
}

void Child::close_stderr() {
    if (stderr_watch_) reactor_->cancel(host_, std::exchange(stderr_watch_, 0));
    if (stderr_fd_ >= 0) ::close(std::exchange(stderr_fd_, -1));
}

}  // namespace patchbay::transport
