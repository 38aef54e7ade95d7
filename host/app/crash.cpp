#include "app/crash.hpp"

#include "plugin/current_call.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
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

// Only what signal-safety(7) allows. SA_RESETHAND has put the default action back already.
void on_crash(int number) {
    const char* name = "a signal";
    for (const auto& signal : kSignals)
        if (signal.number == number) name = signal.name;
    put("patchbay: ");
    put(name);
    put(" in ");
    plugin::write_call(STDERR_FILENO, plugin::current_call());
    put("\n");
    ::raise(number);
}

void on_exit() {
    const auto& call = plugin::current_call();
    if (!call.plugin.load()) return;
    put("patchbay: the process is ended from within ");
    plugin::write_call(STDERR_FILENO, call);
    put("\n");
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
        ours.sa_handler = on_crash;
        ours.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
        sigemptyset(&ours.sa_mask);
        ::sigaction(signal.number, &ours, nullptr);
    }
    std::atexit(on_exit);
}

}  // namespace patchbay::app
