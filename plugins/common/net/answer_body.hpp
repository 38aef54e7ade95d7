// What has come of the body of one answer, and who gets it: its task, whole or as it comes, or nobody.
//
// Lives from the head of the answer to the next exchange of its task.
// Threads: inside a turn. Borrows task and turns.
// Errors:  Trouble, of a body that cannot be read.
// Limits:  Task::body_limit() of one that is taken whole; kDrained of one that nobody wants, for its
//          connection's sake; kBytesAStep a time, then others have their turn.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace patchbay::net {

class BodyDecoder;
class Task;
class Turns;

enum class Take {
    Nothing,  // the body, if any, is of no interest
    Whole,    // whole() gets it, up to body_limit() bytes
    Stream,   // data() gets it as it comes
};

class AnswerBody {
public:
    AnswerBody(Task& task, Take take, Turns& turns) : task_(task), take_(take), turns_(turns) {}
    AnswerBody(const AnswerBody&) = delete;

    enum class Read {
        Waits,   // for more bytes, or for the host to want them
        GoesOn,  // has more to read, in its next turn
        Over,    // that was all, or enough of it
    };
    // A piece of it; empty: the connection ended.
    Read read(BodyDecoder& decoder, std::string_view piece);
    // What the last turn has left.
    bool has_rest() const { return !rest_.empty() || (streams() && !text_.empty()); }
    Read read_rest(BodyDecoder& decoder);
    // It broke off, or took too long. True: its task makes do with what is there.
    bool break_off();
    // What whole() gets.
    std::string release() { return std::move(text_); }

    bool whole() const { return take_ == Take::Whole; }
    bool streams() const { return take_ == Take::Stream; }
    // Its end is awaited from now on.
    bool must_end() const;
    bool was_cut() const { return cut_; }
    bool was_torn() const { return torn_; }

private:
    Read read_whole(BodyDecoder& decoder, std::string_view piece);
    Read read_stream(BodyDecoder& decoder, std::string_view piece);
    Read drain(BodyDecoder& decoder, std::string_view piece);
    Read go_on_later(std::string_view rest);
    void unpack(BodyDecoder& decoder, std::string_view& piece, std::size_t most,
                std::size_t enough);

    Task& task_;
    const Take take_;
    Turns& turns_;
    std::string text_;  // that nobody has yet
    std::string rest_;  // what came after it, as it came
    std::size_t drained_ = 0;
    bool begun_ = false, cut_ = false, torn_ = false;
};

}  // namespace patchbay::net
