#include "header_command.hpp"

#include <patchbay/cpp/json.hpp>

#include <cctype>
#include <cerrno>
#include <unistd.h>
#include <utility>

namespace patchbay::bearer {
namespace {

constexpr std::size_t kMostBytes = 64u << 10;
constexpr std::size_t kShownBytes = 200;

using Turn = transport::ChannelCore::Turn;

std::string shown(std::string line) {
    for (auto& c : line)
        if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
    return sdk::excerpt(line, kShownBytes);
}

}  // namespace

HeaderCommand::HeaderCommand(transport::ChannelCore& core, Listener& listener)
    : core_(core),
      listener_(listener),
      process_(sdk::extension<patchbay_host_process>(core.host(), PATCHBAY_HOST_PROCESS)) {
    stdout_.command = stderr_.command = this;
}

HeaderCommand::~HeaderCommand() {
    for (const int fd : {stdout_.fd, stderr_.fd})
        if (fd >= 0) ::close(fd);
}

void HeaderCommand::start(const std::vector<std::string>& argv) {
    if (!process_)
        throw sdk::Failure(PATCHBAY_E_UNSUPPORTED, "the host grants no " PATCHBAY_HOST_PROCESS);
    std::vector<patchbay_str> arguments;
    for (const auto& argument : argv) arguments.push_back(sdk::str(argument));
    patchbay_process_params params{};
    params.struct_size = sizeof params;
    params.argv = arguments.data();
    params.argc = arguments.size();
    patchbay_process process{};
    process.struct_size = sizeof process;
    patchbay_error error{};
    const auto status =
        process_->spawn(core_.host(), &params, this, nullptr, on_exited, &process, &error);
    if (status < 0) throw sdk::Failure(status, error.message);  // names the command already
    core_.departed();
    program_ = argv.front();
    op_ = process.op;
    why_code_ = PATCHBAY_OK;
    ::close(static_cast<int>(process.stdin_fd));
    stdout_.fd = static_cast<int>(process.stdout_fd);
    stderr_.fd = static_cast<int>(process.stderr_fd);
    for (auto* output : {&stdout_, &stderr_}) {
        if (!core_.watch(output->fd, transport::ChannelCore::kReadable, output, on_output,
                         output->watch))
            close(*output);
    }
    if (!core_.after(kLimit, this, on_late, timer_))
        kill(PATCHBAY_E_CLOSED, "the host takes no timer");
}

void HeaderCommand::stop() {
    kill(PATCHBAY_E_CANCELLED, "cancelled");
}

void HeaderCommand::kill(patchbay_status code, std::string why) {
    if (why_code_ == PATCHBAY_OK) {
        why_code_ = code;
        why_ = std::move(why);
    }
    if (op_) process_->stop(core_.host(), op_, 0);
}

void HeaderCommand::on_late(void* self, patchbay_status status) noexcept {
    if (status != PATCHBAY_OK) return;  // from inside core_.end(), in a turn
    auto& command = *static_cast<HeaderCommand*>(self);
    const Turn turn(command.core_);
    command.timer_ = 0;
    command.core_.arrived();
    command.kill(PATCHBAY_E_TIMEOUT, "did not end within " + std::to_string(kLimit.count()) + " s");
}

void HeaderCommand::on_output(void* context, std::uint32_t) noexcept {
    auto& output = *static_cast<Output*>(context);
    const Turn turn(output.command->core_);
    if (output.watch) output.command->read(output);
}

void HeaderCommand::read(Output& output) {
    char block[4096];
    for (;;) {
        const auto got = ::read(output.fd, block, sizeof block);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) return close(output);
        const std::string_view text(block, static_cast<std::size_t>(got));
        if (&output == &stderr_) {
            stderr_lines_.take(text, [this](std::string_view line) { last_line_ = line; });
            continue;
        }
        printed_ += text;
        if (printed_.size() <= kMostBytes) continue;
        kill(PATCHBAY_E_LIMIT, "printed more than 64 KiB");
        return close(output);
    }
}

void HeaderCommand::close(Output& output) {
    core_.end(output.watch);
    if (output.fd >= 0) ::close(std::exchange(output.fd, -1));
}

void HeaderCommand::on_exited(void* self, std::int32_t code) noexcept {
    auto& command = *static_cast<HeaderCommand*>(self);
    const Turn turn(command.core_);
    command.op_ = 0;
    command.ended_ = true;
    command.code_ = code;
    // The service may say so on any thread; watches end on the reactor's.
    if (!command.core_.post(self, on_exit_posted)) command.finish();
    command.core_.arrived();
}

void HeaderCommand::on_exit_posted(void* self) noexcept {
    auto& command = *static_cast<HeaderCommand*>(self);
    const Turn turn(command.core_);
    command.core_.arrived();
    command.finish();
}

void HeaderCommand::finish() {
    for (auto* output : {&stdout_, &stderr_})
        if (output->fd >= 0) read(*output);
    close(stdout_);
    close(stderr_);
    core_.end(timer_);
    ended_ = false;
    stderr_lines_.end([this](std::string_view line) { last_line_ = line; });
    const auto text = std::exchange(printed_, {});
    const auto said = shown(std::exchange(last_line_, {}));
    const auto fail = [&](patchbay_status code, const std::string& why) {
        listener_.command_failed(code, "command \"" + program_ + "\" " + why +
                                           (said.empty() ? "" : "; stderr: " + said));
    };
    if (why_code_ != PATCHBAY_OK) return fail(why_code_, why_);
    if (code_ != 0)
        return fail(PATCHBAY_E_IO, code_ < 256
                                       ? "ended with exit code " + std::to_string(code_)
                                       : "was ended by signal " + std::to_string(code_ - 256));
    std::map<std::string, std::string> headers;
    try {
        const sdk::Config whole(text);  // it and nothing behind it
        headers = sdk::Config("{\"headers\":" + text + "}").object("headers");
    } catch (const sdk::Failure&) {
        headers.clear();
    }
    if (headers.empty())
        return fail(PATCHBAY_E_PROTOCOL,
                    "printed no JSON object of header names and values on stdout");
    listener_.headers_came(std::move(headers));
}

}  // namespace patchbay::bearer
