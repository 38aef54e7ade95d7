// The answers and events of a batch on stdout, a JSON object a line; those of one turn of the loop
// go out in one write.
//
// Owns:    what is not written yet. Borrows the loop.
// Threads: [loop]. Nobody waits for who reads us: the rest is written when they do, and until then
//          crowded() says that nothing more should be asked.
// Errors:  lost(): stdout takes no more.
// Limits:  of each server, and of the progress of each request, kEventBytes wait for the reader, of all
//          of them kAllEventBytes; what comes beyond is dropped, counted and told, so that who talks on
//          unasked holds up nobody's answers. Beyond kMostBytes, which only answers reach, it does wait for the reader, but for no
//          longer than until a signal comes.
#pragma once

#include "app/output.hpp"
#include "connection/reply.hpp"
#include "core/loop.hpp"
#include "core/result.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::app {

class BatchOutput {
public:
    static constexpr std::size_t kCrowdBytes = 1u << 20, kMostBytes = 64u << 20;
    static constexpr std::size_t kEventBytes = 2u << 20, kAllEventBytes = 16u << 20;

    // `signals`: readable when one has come; -1: none will. `relieved`: crowded() is over.
    explicit BatchOutput(
        core::Loop& loop, int signals = -1, std::function<void()> relieved = [] {})
        : loop_(loop), signals_(signals), relieved_(std::move(relieved)) {}
    BatchOutput(const BatchOutput&) = delete;
    ~BatchOutput();

    // `id` is raw JSON, as the request had it.
    void result(const std::string& id, std::string_view raw_result);
    void error(const std::string& id, const Error& error) { put_error(id, error, ""); }
    void line_error(const std::string& id, const Error& error, std::size_t line);
    void rpc_error(const std::string& id, std::string_view raw_error);
    void progress(const std::string& id, const connection::Progress& progress);
    void notification(const std::string& server, const std::string& method,
                      std::string_view params);

    void flush();  // what can be written now
    // The rest too, for `most` at most; what is left then is lost.
    void finish(std::chrono::milliseconds most);
    bool written() const { return waiting() == 0; }
    bool crowded() const { return waiting() > kCrowdBytes + event_bytes_; }
    bool lost() const { return lost_; }
    bool told_errors() const { return told_errors_; }

private:
    void put_error(const std::string& id, const Error& error, const std::string& members);
    void put(std::string line);
    // `from`: the member that says whose event it is.
    void put_event(const std::string& from, std::string line);
    // How many were dropped of theirs; before their answer.
    void tell_dropped(const std::string& from);

    std::size_t waiting() const { return out_.size() - begin_; }
    void write_ready();
    bool wait_for_reader() const;  // false: a signal came

    core::Loop& loop_;
    const int signals_;
    const std::function<void()> relieved_;
    std::optional<ReadyStdout> stdout_;  // from the first write on
    core::Loop::WatchId watch_ = 0;      // while something waits for a reader
    std::string out_;
    std::size_t begin_ = 0;  // of what is not written yet
    struct Events {
        std::size_t bytes = 0, dropped = 0;
    };
    std::map<std::string, Events> events_;  // since all was written, by whose they are
    std::size_t event_bytes_ = 0;           // of all of these
    bool flush_planned_ = false, lost_ = false, told_errors_ = false;
};

}  // namespace patchbay::app
