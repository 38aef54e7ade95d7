// The last words of a process that crashes: which signal, and which plugin's call it was in, or in
// which plugin's library on a thread that is in no call. A
// plugin is code of this process, and the person who installed it wants its name.
//
// Threads: installed by the calling one; says it on the one that crashes, by what a signal handler
//          may call.
#pragma once

namespace patchbay::app {

// For SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, where nobody (a sanitizer) has a handler yet;
// the signal's default action follows, core file included. Also for exit() called by a plugin.
void install_crash_handler();

}  // namespace patchbay::app
