// One mapped plugin library: opened once, checked on that descriptor, mapped through it, kept for
// the life of the process. The door to Boost.DLL.
//
// Owns:    nothing: mapping and descriptor belong to the process, for good. A library is never
//          unmapped, and glibc remembers "/proc/self/fd/N" as the library's name, so N must never
//          mean another file.
// Threads: [any], but one at a time for one file. Waits for the disk.
// Errors:  every reason not to map it, before any code of it has run, except a missing entry point.
#pragma once

#include "core/result.hpp"
#include "plugin/abi.hpp"

#include <string>

namespace patchbay::plugin {

class Library {
public:
    using Entry = decltype(&patchbay_plugin_entry_0);

    // Maps `path` if its bytes hash to `sha256`. `private_copy`: what is mapped of
    // it is spoilt, so map its bytes once more, with statics of their own.
    static Result<Library> open(const std::string& path, const std::string& sha256,
                                bool private_copy = false);

    // Would open() map this file? For one whose bytes are mapped already.
    static Result<void> check(const std::string& path, const std::string& sha256);

    Entry entry() const { return entry_; }

private:
    explicit Library(Entry found) : entry_(found) {}

    Entry entry_;
};

}  // namespace patchbay::plugin
