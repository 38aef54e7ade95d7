#include "child.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace patchbay::transport {
namespace {

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
    : core_(core), listener_(listener), program_(core, *this) {}

void Child::start(const sdk::Config& config, const patchbay_kv* credentials, std::size_t count,
                  Stdout use) {
    const auto env = config.object("env");
    const auto passed = config.strings("pass_env");
    Program::Launch launch;
    launch.argv = command_line(config);
    launch.cwd = config.text("cwd");
    launch.env = environment_of(env, passed, credentials, count);
    launch.flags = config.boolean("pid_namespace", true) ? 0 : PATCHBAY_PROCESS_SHARED_PIDS;
    program_.start(launch,
                   use == Stdout::ForPeople ? Program::Stdout::Ours : Program::Stdout::Taken);
}

std::string Child::describe_exit() const {
    if (program_.code() < 256)
        return "server process exited with code " + std::to_string(program_.code());
    const int number = program_.code() - 256;
    const char* const name = ::sigabbrev_np(number);
    return "server process was killed by signal " + std::to_string(number) +
           (name ? std::string(" (SIG") + name + ")" : "");
}

void Child::program_runs(std::int64_t pid) {
    core_.sink().fact("pid", std::to_string(pid));
}

void Child::program_wrote(Program::Output output, std::string_view text) {
    lines_[output].take(text, [&](std::string_view line) { show(output, line); });
}

void Child::program_closed(Program::Output output) {
    lines_[output].end([&](std::string_view line) { show(output, line); });
}

void Child::show(Program::Output output, std::string_view line) {
    core_.sink().output(output == Program::kStdout ? PATCHBAY_OUTPUT_STRAY : PATCHBAY_OUTPUT_STDERR,
                        line);
}

void Child::program_exited() {
    listener_.child_exited();
}

}  // namespace patchbay::transport
