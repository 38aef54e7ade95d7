// JSON for whoever reads it, on stdout or a socket, an object a line; those of one turn of the loop go out
// in one write.
//
// Owns:    what is not written yet, and where it goes. Borrows the loop.
// Threads: [loop]. Nobody waits for who reads us: the rest is written when they do, and until then
//          crowded() says that nothing more should be asked.
// Errors:  lost(): it takes no more.
// Limits:  of events, kEventBytes of one source wait for the reader, of all of them kAllEventBytes; what
//          comes beyond is dropped and counted, so that who talks on unasked holds up nobody's answers.
//          Beyond kMostBytes, which only answers reach, stdout does wait for its reader, but for no longer
//          than until a signal comes; whoever is one of many is lost instead, as nobody waits for one.
#pragma once

#include "core/lifetime.hpp"
#include "core/loop.hpp"
#include "core/watch.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::app {

// Where lines go.
class LineSink {
public:
    virtual ~LineSink() = default;
    virtual int fd() const = 0;  // worth another write() when it is writable
    // Takes off the front of `text` what can be written now. False: that failed, now or before.
    virtual bool write(std::string_view& text) = 0;
};

class LineOutput {
public:
    static constexpr std::size_t kCrowdBytes = 1u << 20, kMostBytes = 64u << 20;
    static constexpr std::size_t kEventBytes = 2u << 20, kAllEventBytes = 16u << 20;

    // What is done about more than kMostBytes: see above.
    enum class Unread { Waits, IsLost };
    struct To {
        std::unique_ptr<LineSink> sink;  // null: stdout
        Unread unread = Unread::Waits;
        int signals = -1;  // readable when one has come; -1: none will
    };
    // `relieved`: crowded() is over, or what tell_when_written() says has happened. `dropped`: so
    // many events of that source were, which were all read since, or whose answer is next.
    LineOutput(core::Loop& loop, To to, std::function<void()> relieved,
               std::function<void(const std::string& from, std::size_t count)> dropped);
    LineOutput(const LineOutput&) = delete;

    void put(std::string line);
    // `from`: whose event it is.
    void put_event(const std::string& from, std::string line);
    // One of the same source and bounds whose sender has to know: false, it was not put.
    bool put_bounded(const std::string& from, std::string line);
    // Says how many events of theirs were dropped since this was said last.
    void tell_dropped(const std::string& from);

    // That all is written, or lost, is told from now on.
    void tell_when_written() { tells_written_ = true; }

    void flush();  // what can be written now
    // The rest too, for `most` at most; what is left then is lost.
    void finish(std::chrono::milliseconds most);
    bool written() const { return waiting() == 0; }
    bool crowded() const { return waiting() > kCrowdBytes + event_bytes_; }
    bool lost() const { return lost_; }
    std::size_t waiting() const { return out_.size() - begin_; }  // bytes for a reader

private:
    void flush_and_tell();
    void lose();  // what is not written yet, and all that comes
    void write_ready();
    bool wait_for_reader() const;  // false: a signal came

    core::Loop& loop_;
    const To to_;
    const std::function<void()> relieved_;
    const std::function<void(const std::string&, std::size_t)> dropped_;
    core::Watch watch_{loop_};  // while something waits for a reader
    std::string out_;
    std::size_t begin_ = 0;  // of what is not written yet
    struct Events {
        std::size_t bytes = 0, dropped = 0;
    };
    std::map<std::string, Events> events_;  // since all was written, by whose they are
    std::size_t event_bytes_ = 0;           // of all of these
    bool flush_planned_ = false, lost_ = false, tells_written_ = false;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
