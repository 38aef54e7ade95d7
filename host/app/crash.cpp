#include "app/crash.hpp"

#include "plugin/current_call.hpp"
#include "plugin/mapped_code.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <unistd.h>

namespace patchbay::app {
namespace {

constexpr struct {
    int number;
    const char* name;
} kSignals[] = {{SIGSEGV, "SIGSEGV"},
                {SIGBUS, "SIGBUS"},
                {SIGFPE, "SIGFPE"},
                {SIGILL, "SIGILL"},
                {SIGABRT, "SIGABRT"}};

// A stack that overflowed cannot carry its own handler.
alignas(16) char other_stack[64u << 10];

void put(const char* text) {
    static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
}

// Where the thread was; null: nobody knows how to ask here.
const void* code_of(const void* context) {
#if defined(__x86_64__)
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    return reinterpret_cast<const void*>(registers[REG_RIP]);
#elif defined(__aarch64__)
    return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
    static_cast<void>(context);
    return nullptr;
#endif
}

std::atomic<bool> crashing{false};

// Only what signal-safety(7) allows. A thread that crashes meanwhile would end all before a word is out:
// it waits here.
void on_crash(int number, siginfo_t*, void* context) {
    while (crashing.exchange(true)) ::pause();
    const char* name = "a signal";
    for (const auto& signal : kSignals)
        if (signal.number == number) name = signal.name;
    put("patchbay: ");
    put(name);
    put(" in ");
    const auto& call = plugin::current_call();
    // On a thread of a plugin's own there is no call, but its code.
    if (call.plugin.load() || !plugin::write_library(STDERR_FILENO, code_of(context)))
        plugin::write_call(STDERR_FILENO, call);
    put("\n");
    std::signal(number, SIG_DFL);
    ::raise(number);
}

// Ends here: what the process holds must not be taken apart under its other threads.
void end_of_a_plugin(int code, void*) {
    // Another thread is about to say why, and to end all.
    while (crashing) ::pause();
    const auto& call = plugin::current_call();
    if (!call.plugin.load()) return;
    put("patchbay: the process is ended from within ");
    plugin::write_call(STDERR_FILENO, call);
    put("\n");
    ::_exit(code);
}

}  // namespace

void install_crash_handler() {
    stack_t stack{};
    stack.ss_sp = other_stack;
    stack.ss_size = sizeof other_stack;
    ::sigaltstack(&stack, nullptr);
    for (const auto& signal : kSignals) {
        struct sigaction old {};
        if (::sigaction(signal.number, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) continue;
        struct sigaction ours {};
        ours.sa_sigaction = on_crash;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&ours.sa_mask);
        ::sigaction(signal.number, &ours, nullptr);
    }
    ::on_exit(end_of_a_plugin, nullptr);
}

}  // namespace patchbay::app
