// What somebody approved of what servers list, on disk: `pins/` in the state directory, a file for each server of a
// checkout and for each definition of any other.
//
// Owns:    the thread that writes. Borrows the loop.
// Threads: [loop]; writing is its thread's, and the destructor waits for that. Writers of all processes take turns by a
//          lock on `pins/writers.lock`. Whoever is killed while writing leaves the old file or the new one.
// Errors:  a file that others can write, that is damaged or of another patchbay is no record, is not written over, and
//          the error says what to do about it. A record that cannot be written is as it was.
// Limits:  Record::kMostBytes of a file; of kMostFiles those go first that were written longest ago and hold nothing that
//          somebody approved; a writer waits kLockWait for the others.
// Source:  decisions/0051-what-a-tool-was-when-it-was-approved.md.
#pragma once

#include "core/worker.hpp"
#include "pins/store.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace patchbay::app {

class PinFolder final : public pins::Store {
public:
    static constexpr std::size_t kMostFiles = 2'000;
    static constexpr std::chrono::seconds kLockWait{10};

    PinFolder(core::Loop& loop, std::string path) : path_(std::move(path)), worker_(loop, 1) {}

    Result<std::optional<pins::Record>> read(const pins::Key& key, pins::Texts texts) override;
    bool is_other(const pins::Key& key) const override;
    void change(const pins::Key& key, Change change,
                std::function<void(Result<pins::Record>)> then) override;
    // The same at once, for whoever has nothing else to do; with the texts.
    Result<pins::Record> change_now(const pins::Key& key, const Change& change);
    // Nothing is approved of that server any more; false: nothing was.
    Result<bool> remove(const pins::Key& key);

    static std::string file_of(const pins::Key& key);
    std::string path_of(const pins::Key& key) const { return path_ + "/" + file_of(key); }

private:
    // What tells one content of a file from another; all zero: there is none.
    struct Stamp {
        std::uint64_t device = 0, inode = 0;
        std::int64_t seconds = 0, nanoseconds = 0, size = 0;
        bool operator==(const Stamp&) const = default;
    };
    Stamp stamp_of(const std::string& file) const;

    const std::string path_;
    std::map<std::string, Stamp> read_;  // by file: what read() gave
    core::Worker worker_;
};

}  // namespace patchbay::app
