// Lines of JSON as they come from a terminal, a pipe or a file, read no faster than they are taken.
//
// Owns:    the watch of the descriptor. Borrows the loop and the descriptor, whose flags it puts
//          back: stdin may be shared with the shell.
// Threads: [loop].
// Errors:  what cannot be read ends the input; it is told on stderr, but for say_nothing(), and failed().
// Limits:  kLineBytes a line, or what limit_line() says.
#pragma once

#include "core/lifetime.hpp"
#include "core/loop.hpp"
#include "core/result.hpp"
#include "core/watch.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::app {

class LineInput {
public:
    static constexpr std::size_t kLineBytes = 16u << 20;

    // What becomes of the rest behind a line that is too long.
    enum class Overlong { Ends, IsSkipped };

    LineInput(core::Loop& loop, int fd, Overlong overlong = Overlong::Ends);
    ~LineInput();
    LineInput(const LineInput&) = delete;

    // `arrived`: there may be another line, or the end.
    void begin(std::function<void()> arrived);
    // That it cannot be read is no news: who wrote it has gone, and others write elsewhere.
    void say_nothing() { says_failure_ = false; }
    void limit_line(std::size_t bytes) { line_bytes_ = bytes; }
    // The next whole line, good until the loop goes on; none: it has not come yet. One that is too
    // long is an error.
    std::optional<Result<std::string_view>> next();
    std::size_t line_number() const { return line_number_; }  // of the one that was taken last
    void pause(bool paused);                                  // nothing more is read meanwhile
    void stop();  // ends it here; what was not taken is dropped
    // Nothing comes any more, and all that came was taken.
    bool over() const { return ended_ && taken_ == buffer_.size(); }
    bool failed() const { return failed_; }
    std::size_t waiting() const { return buffer_.size() - taken_; }  // bytes not taken yet
    // What was taken so far is not counted: the next line is the first.
    void count_anew() { line_number_ = 0; }

private:
    void read();
    void read_later();
    void end();
    void fail(const std::string& why);

    core::Loop& loop_;
    int fd_;
    int flags_;
    const Overlong overlong_;
    std::size_t line_bytes_ = kLineBytes;
    bool skipping_ = false;  // the rest of a line that was too long
    std::function<void()> arrived_;
    core::Watch watch_{loop_};
    bool paused_ = false, ended_ = false, failed_ = false, says_failure_ = true;
    std::string buffer_;
    std::size_t taken_ = 0;    // where the first line begins that was not taken
    std::size_t scanned_ = 0;  // up to where no end of it is
    std::size_t line_number_ = 0;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::app
