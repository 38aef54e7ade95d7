#include "child.hpp"

#include <charconv>
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

// Numbers as text, since a table in a config holds nothing else.
std::map<std::string, std::uint64_t> limits_of(const sdk::Config& config) {
    std::map<std::string, std::uint64_t> limits;
    for (const auto& [name, text] : config.object("limits")) {
        std::uint64_t number = 0;
        const auto* const end = text.data() + text.size();
        const auto [read, failed] = std::from_chars(text.data(), end, number);
        if (failed != std::errc() || read != end || number == 0)
            throw sdk::Failure(PATCHBAY_E_INVALID, "limits." + name + " is no number");
        limits[name] = number;
    }
    return limits;
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
    limits_ = limits_of(config);
    const auto limit = [this](const char* name) {
        const auto found = limits_.find(name);
        return found == limits_.end() ? 0 : found->second;
    };
    launch.limits = {limit("memory"), limit("cpu_seconds"), limit("processes"), limit("files")};
    launch.flags = config.boolean("pid_namespace", true) ? 0 : PATCHBAY_PROCESS_SHARED_PIDS;
    program_.start(launch,
                   use == Stdout::ForPeople ? Program::Stdout::Ours : Program::Stdout::Taken);
}

std::string Child::describe_exit() const {
    if (program_.code() < 256)
        return "server process exited with code " + std::to_string(program_.code()) +
               describe_limit();
    const int number = program_.code() - 256;
    const char* const name = ::sigabbrev_np(number);
    return "server process was killed by signal " + std::to_string(number) +
           (name ? std::string(" (SIG") + name + ")" : "") + describe_limit();
}

void Child::program_runs(std::int64_t pid) {
    core_.sink().fact("pid", std::to_string(pid));
}

void Child::program_wrote(Program::Output output, std::string_view text) {
    count_output(text.size());
    lines_[output].take(text, [&](std::string_view line) { show(output, line); });
}

// The transport counts what it reads itself. What is over the limit ends the program at once.
void Child::count_output(std::size_t bytes) {
    const auto limit = limits_.find("output_bytes");
    if (limit == limits_.end() || output_exceeded_) return;
    written_ += bytes;
    if (written_ <= limit->second) return;
    output_exceeded_ = true;
    program_.stop({});
}

void Child::program_closed(Program::Output output) {
    lines_[output].end([&](std::string_view line) { show(output, line); });
}

void Child::show(Program::Output output, std::string_view line) {
    core_.sink().output(output == Program::kStdout ? PATCHBAY_OUTPUT_STRAY : PATCHBAY_OUTPUT_STDERR,
                        line);
}

void Child::program_exited() {
    const auto& sink = core_.sink();
    if (const auto& used = program_.usage(); used.struct_size > 0) {
        sink.fact("cpu_ms", std::to_string(used.cpu_ms));
        sink.fact("peak_memory_bytes", std::to_string(used.peak_memory_bytes));
    }
    if (const auto limit = limit_reached(); !limit.empty()) sink.fact("limit", limit);
    sink.fact("exit", program_.code() < 256 ? "code " + std::to_string(program_.code())
                                            : "signal " + std::to_string(program_.code() - 256));
    listener_.child_exited();
}

std::string_view Child::limit_reached() const {
    if (output_exceeded_) return "output_bytes";
    switch (program_.usage().limit) {
        case PATCHBAY_LIMIT_MEMORY:
            return "memory";
        case PATCHBAY_LIMIT_CPU:
            return "cpu_seconds";
        case PATCHBAY_LIMIT_PROCESSES:
            return "processes";
        case PATCHBAY_LIMIT_FILES:
            return "files";
        default:
            return {};
    }
}

std::string Child::describe_limit() const {
    const auto limit = limit_reached();
    const auto found = limits_.find(std::string(limit));
    if (limit.empty() || found == limits_.end()) return {};
    return "; it reached its limit (limits." + std::string(limit) + " = " +
           std::to_string(found->second) + ")";
}

}  // namespace patchbay::transport
