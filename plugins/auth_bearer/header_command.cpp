#include "header_command.hpp"

#include <patchbay/cpp/json.hpp>

#include <cctype>
#include <unistd.h>
#include <utility>

namespace patchbay::bearer {
namespace {

constexpr std::size_t kMostBytes = 64u << 10;
constexpr std::size_t kShownBytes = 200;
constexpr int kReadsARound = 8;  // more than it may print

using transport::Program;

std::string shown(std::string line) {
    for (auto& c : line)
        if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
    return sdk::excerpt(line, kShownBytes);
}

}  // namespace

HeaderCommand::HeaderCommand(transport::ChannelCore& core, Listener& listener)
    : listener_(listener), program_(core, *this), limit_(core, [this] {
          kill(PATCHBAY_E_TIMEOUT, "did not end within " + std::to_string(kLimit.count()) + " s");
      }) {}

std::map<std::string, std::string> HeaderCommand::headers_in(const std::string& printed) {
    try {
        const sdk::Config whole(printed);  // it and nothing behind it
        return sdk::Config("{\"headers\":" + printed + "}").object("headers");
    } catch (const sdk::Failure&) {
        return {};
    }
}

void HeaderCommand::start(const std::vector<std::string>& argv) {
    program_.start({argv, {}, {}, 0, kReadsARound}, Program::Stdout::Ours);  // its error names it
    name_ = argv.front();
    running_ = true;
    why_code_ = PATCHBAY_OK;
    ::close(program_.take_stdin());  // nothing to read
    if (!limit_.start(kLimit)) kill(PATCHBAY_E_CLOSED, "the host takes no timer");
}

void HeaderCommand::stop() {
    kill(PATCHBAY_E_CANCELLED, "cancelled");
}

void HeaderCommand::kill(patchbay_status code, std::string why) {
    if (why_code_ == PATCHBAY_OK) {
        why_code_ = code;
        why_ = std::move(why);
    }
    program_.stop({});
}

void HeaderCommand::program_wrote(Program::Output output, std::string_view text) {
    if (output == Program::kStderr)
        return stderr_lines_.take(text, [this](std::string_view line) { last_line_ = line; });
    printed_ += text;
    if (printed_.size() <= kMostBytes) return;
    kill(PATCHBAY_E_LIMIT, "printed more than 64 KiB");
    program_.ignore(output);
}

void HeaderCommand::program_closed(Program::Output output) {
    if (output == Program::kStderr)
        stderr_lines_.end([this](std::string_view line) { last_line_ = line; });
}

void HeaderCommand::program_exited() {
    limit_.stop();
    running_ = false;
    const auto text = std::exchange(printed_, {});
    const auto said = shown(std::exchange(last_line_, {}));
    const auto fail = [&](patchbay_status code, const std::string& why) {
        listener_.command_failed(
            code, "command \"" + name_ + "\" " + why + (said.empty() ? "" : "; stderr: " + said));
    };
    if (why_code_ != PATCHBAY_OK) return fail(why_code_, why_);
    if (const auto code = program_.code(); code != 0)
        return fail(PATCHBAY_E_IO, code < 256
                                       ? "ended with exit code " + std::to_string(code)
                                       : "was ended by signal " + std::to_string(code - 256));
    auto headers = headers_in(text);
    if (headers.empty())
        return fail(PATCHBAY_E_PROTOCOL,
                    "printed no JSON object of header names and values on stdout");
    listener_.headers_came(std::move(headers));
}

}  // namespace patchbay::bearer
