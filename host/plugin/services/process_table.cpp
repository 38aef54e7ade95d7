// The C face of the process service.
#include "core/text.hpp"
#include "plugin/services/host_services.hpp"
#include "plugin/services/process_service.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace patchbay::plugin {
namespace {

Program program_of(const patchbay_process_params& params) {
    Program program;
    for (std::size_t i = 0; i < params.argc; ++i) program.argv.emplace_back(view(params.argv[i]));
    program.cwd = view(params.cwd);
    for (std::size_t i = 0; i < params.env_count; ++i)
        program.environment.emplace_back(view(params.env[i].name), view(params.env[i].value));
    program.own_pids = !(params.flags & PATCHBAY_PROCESS_SHARED_PIDS);
    // Of a plugin that was built when there were no limits, they are none.
    if (params.struct_size >= sizeof params)
        program.limits = {params.memory_bytes, params.cpu_seconds, params.processes, params.files};
    return program;
}

constexpr std::size_t kFirstParams = offsetof(patchbay_process_params, memory_bytes);

// What exec would cut short or misread.
std::string trouble_with(const Program& program) {
    const auto has_nul = [](const std::string& text) {
        return text.find('\0') != std::string::npos;
    };
    if (has_nul(program.cwd)) return "cwd contains a NUL byte";
    if (std::any_of(program.argv.begin(), program.argv.end(), has_nul))
        return "the command or one of its arguments contains a NUL byte";
    for (const auto& [name, value] : program.environment) {
        if (name.empty() || name.find('=') != std::string::npos || has_nul(name))
            return "env: \"" + core::printable(name, 128) + "\" is not the name of a variable";
        if (has_nul(value)) return "env: the value of \"" + name + "\" contains a NUL byte";
    }
    return {};
}

// A program that is not installed here is no mistake in how it is written down: another transport
// of the same server may do.
patchbay_status status_of_start(ErrorCode code) {
    if (code == ErrorCode::NotFound) return PATCHBAY_E_UNSUPPORTED;
    return code == ErrorCode::Invalid ? PATCHBAY_E_INVALID : PATCHBAY_E_IO;
}

patchbay_status spawn(const patchbay_host* host, const patchbay_process_params* params, void* ctx,
                      ProcessService::Started started, ProcessService::Exited exited,
                      patchbay_process* out, patchbay_error* error) noexcept {
    try {
        auto* const processes = HostServices::of(host).processes();
        if (!processes) return refuse(error, PATCHBAY_E_CLOSED, "the host is closing");
        if (!params || params->struct_size < kFirstParams || !exited || !out)
            return refuse(error, PATCHBAY_E_INVALID, "spawn: params, exited and out are needed");
        const auto program = program_of(*params);
        if (const auto trouble = trouble_with(program); !trouble.empty())
            return refuse(error, PATCHBAY_E_INVALID, trouble);
        const auto process = processes->spawn(program, ctx, started, exited);
        if (!process)
            return refuse(error, status_of_start(process.error().code), process.error().message);
        *out = *process;
        return PATCHBAY_OK;
    } catch (...) {
        fill(error, PATCHBAY_E_INTERNAL, "the host failed while it started the program");
        return thrown_at_entry("process spawn");
    }
}

void stop(const patchbay_host* host, patchbay_op op, std::uint32_t grace_ms) noexcept {
    if (auto* const processes = HostServices::of(host).processes())
        void_entry("process stop", [&] { processes->stop(op, grace_ms); });
}

patchbay_status usage(const patchbay_host* host, patchbay_op op,
                      patchbay_process_usage* out) noexcept {
    if (!out || out->struct_size < sizeof *out) return PATCHBAY_E_INVALID;
    auto* const processes = HostServices::of(host).processes();
    const auto used = processes ? processes->usage(op) : std::nullopt;
    if (!used) return PATCHBAY_E_CLOSED;
    *out = *used;
    return PATCHBAY_OK;
}

constexpr patchbay_host_process kProcesses{sizeof(patchbay_host_process), 0, spawn, stop, usage};

}  // namespace

const patchbay_host_process* ProcessService::table() {
    return &kProcesses;
}

}  // namespace patchbay::plugin
