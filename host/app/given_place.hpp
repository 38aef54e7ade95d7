// Where what an agent is given is written: a file that somebody named, or a folder for one run that is gone after it.
//
// Threads: of a process with one thread, where RunFolder is made; blocks for the disk.
// Errors:  Denied and Io with the path; Invalid: a file is there that is not of `patchbay resolve`, and stays.
#pragma once

#include "core/descriptor.hpp"
#include "core/result.hpp"

#include <string>
#include <string_view>

namespace patchbay::app {

// For its user alone, whole or not at all; over nothing but what was written here before and nobody has changed.
Result<void> write_given(const std::string& path, std::string_view text,
                         const std::string& state_directory);

// A private folder (0700) below `base`. It goes with the object; where its process is killed, with a process of its own
// that waits for that; where that is killed too, when the next one is made.
class RunFolder {
public:
    static Result<RunFolder> make(const std::string& base, const std::string& session);
    RunFolder(RunFolder&&) noexcept;
    RunFolder& operator=(RunFolder&&) = delete;
    ~RunFolder();

    const std::string& path() const { return path_; }
    // 0600, beside others of this run.
    Result<std::string> write(const std::string& name, std::string_view text) const;

private:
    RunFolder(std::string path, core::Descriptor lock)
        : path_(std::move(path)), lock_(std::move(lock)) {}
    static Result<RunFolder> make_locked(const std::string& base, const std::string& session);
    void keep();

    std::string path_;
    core::Descriptor lock_;   // held as long as somebody may use the folder
    core::Descriptor alive_;  // the keeper reads the end of it when we are gone
    int keeper_ = 0;
};

}  // namespace patchbay::app
