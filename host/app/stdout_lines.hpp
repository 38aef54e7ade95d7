// JSON on stdout, an object a line; those of one turn of the loop go out in one write.
//
// Owns:    what is not written yet. Borrows the loop.
// Threads: [loop]. Nobody waits for who reads us: the rest is written when they do, and until then
//          crowded() says that nothing more should be asked.
// Errors:  lost(): stdout takes no more.
// Limits:  of events, kEventBytes of one source wait for the reader, of all of them kAllEventBytes; what
//          comes beyond is dropped and counted, so that who talks on unasked holds up nobody's answers.
//          Beyond kMostBytes, which only answers reach, it does wait for the reader, but for no longer
//          than until a signal comes.
#pragma once

#include "app/output.hpp"
#include "core/loop.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace patchbay::app {

class StdoutLines {
public:
    static constexpr std::size_t kCrowdBytes = 1u << 20, kMostBytes = 64u << 20;
    static constexpr std::size_t kEventBytes = 2u << 20, kAllEventBytes = 16u << 20;

    // `signals`: readable when one has come; -1: none will. `relieved`: crowded() is over. `dropped`: so
    // many events of that source were, which were all read since, or whose answer is next.
    StdoutLines(core::Loop& loop, int signals, std::function<void()> relieved,
                std::function<void(const std::string& from, std::size_t count)> dropped)
        : loop_(loop),
          signals_(signals),
          relieved_(std::move(relieved)),
          dropped_(std::move(dropped)) {}
    StdoutLines(const StdoutLines&) = delete;
    ~StdoutLines();

    void put(std::string line);
    // `from`: whose event it is.
    void put_event(const std::string& from, std::string line);
    // Says how many events of theirs were dropped since this was said last.
    void tell_dropped(const std::string& from);

    void flush();  // what can be written now
    // The rest too, for `most` at most; what is left then is lost.
    void finish(std::chrono::milliseconds most);
    bool written() const { return waiting() == 0; }
    bool crowded() const { return waiting() > kCrowdBytes + event_bytes_; }
    bool lost() const { return lost_; }

private:
    std::size_t waiting() const { return out_.size() - begin_; }
    void write_ready();
    bool wait_for_reader() const;  // false: a signal came

    core::Loop& loop_;
    const int signals_;
    const std::function<void()> relieved_;
    const std::function<void(const std::string&, std::size_t)> dropped_;
    std::optional<ReadyStdout> stdout_;  // from the first write on
    core::Loop::WatchId watch_ = 0;      // while something waits for a reader
    std::string out_;
    std::size_t begin_ = 0;  // of what is not written yet
    struct Events {
        std::size_t bytes = 0, dropped = 0;
    };
    std::map<std::string, Events> events_;  // since all was written, by whose they are
    std::size_t event_bytes_ = 0;           // of all of these
    bool flush_planned_ = false, lost_ = false;
};

}  // namespace patchbay::app
