// Tells when something has changed that may be at one of several paths: written, replaced by a rename as editors do
// it, made or taken away, by its own name, through a link or in a folder that was not there before.
//
// Who writes a file is done with it when they close it or put it in its place by a rename. Of what is told of before that (a
// file that is emptied, written, made or taken away, as by editors that keep the old one under another name) nobody knows
// whether it is half of a change: it is told once nothing more has happened for kSettle. Who must not read half a file
// asks is_open() then, and is told once more when its writer closes it.
//
// That a file is written is heard of the file itself and not of its folder, in which a program may write day and night to
// another one.
//
// What inotify does not tell of, on a disk of another machine or where the system has no watch left, is looked at
// each kLook instead.
//
// Owns:    its inotify descriptor. Borrows the loop.
// Threads: [loop]. Looks at links and files, which may wait for a disk.
// Errors:  none; why it looks is in looks_because().
// Limits:  kFolders are watched, beyond them it looks. `changed` comes kQuiet after the last of several changes whose writers
//          are done, kSettle after the last where one may not be, or kAtMost after the first.
#pragma once

#include "app/path_ways.hpp"
#include "core/descriptor.hpp"
#include "core/loop.hpp"
#include "core/timer.hpp"
#include "core/watch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct inotify_event;

namespace patchbay::app {

class PathWatch {
public:
    static constexpr std::size_t kFolders = 256;
    static constexpr std::chrono::milliseconds kQuiet{5}, kSettle{100}, kAtMost{1'000},
        kLook{2'000};

    // Whether a folder is on a disk whose changes inotify may not hear of.
    using IsDistant = std::function<bool(const std::string& folder)>;

    PathWatch(core::Loop& loop, std::function<void()> changed, IsDistant is_distant = {},
              OfAll of_all = OfAll::Watched);
    PathWatch(const PathWatch&) = delete;

    // These, absolute ones, from now on; what they lead through is looked at anew.
    void watch(std::vector<std::string> paths);
    // Whether somebody is in the middle of a change, by what the system knows now: what is read would be half of it. `changed`
    // comes once they are done.
    bool somebody_writes();
    // Whether one of the files that were written is open still: nothing is heard of its writer, who may be in the middle
    // of it. Until forget_writers(): some files are open always.
    bool is_open();
    void forget_writers() { writers_.clear(); }
    // Whether one of the files is there and empty, as before it is written anew, which may not have been heard yet.
    bool has_an_empty_one() const;
    // `changed` comes once more, kSettle from now or from what happens until then: what was found there made no sense.
    void tell_again();
    // Empty: all is watched.
    const std::string& looks_because() const { return looks_because_; }

private:
    struct Folder {
        int number = -1;              // of inotify
        std::set<std::string> names;  // in it that matter
    };
    using FileName = std::pair<int, std::string>;  // the number of its folder

    void on_events();
    bool take(const inotify_event& event);
    void watch_files();
    void watch_file(const FileName& file, const std::string& path);
    void unwatch_file(const FileName& file);
    void look_later();
    std::string state_of_paths() const;
    bool matters(const inotify_event& event, const std::string& name) const;
    bool is_empty(int number, const std::string& name) const;
    bool is_being_made(int number, const std::string& name) const;
    std::string path_of(int number, const std::string& name) const;
    void note_writer(const FileName& file, std::uint32_t mask);
    void note(int number, const std::string& name, std::uint32_t mask);
    void plan_change();
    void tell_change();

    core::Loop& loop_;
    const std::function<void()> changed_;
    const IsDistant is_distant_;
    const OfAll of_all_;
    core::Descriptor inotify_;
    core::Watch watch_{loop_};
    std::vector<std::string> paths_;
    std::map<std::string, Folder> folders_;
    std::map<int, FileName> files_;  // that are watched themselves
    core::Timer settle_, look_;
    std::optional<core::Clock::time_point> first_;  // of the changes that are not told yet
    std::set<FileName> halves_;                     // of these, what may not be whole
    std::set<FileName> writers_;                    // files that were written and not closed since
    bool unsure_ = false;  // whether something comes with these that is not known yet
    // planned_, seen_: as state_of_paths() was, then and when it was looked at last.
    std::string looks_because_, planned_, seen_;
};

}  // namespace patchbay::app
