// The answers and events of a batch, a JSON object a line (line_output.hpp).
//
// Borrows the loop.
// Threads: [loop].
// Errors:  lost(): they are taken no more.
#pragma once

#include "app/line_output.hpp"
#include "connection/reply.hpp"
#include "core/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::app {

class BatchOutput {
public:
    static constexpr std::size_t kCrowdBytes = LineOutput::kCrowdBytes;
    static constexpr std::size_t kMostBytes = LineOutput::kMostBytes;
    static constexpr std::size_t kEventBytes = LineOutput::kEventBytes;
    static constexpr std::size_t kAllEventBytes = LineOutput::kAllEventBytes;

    // `to`, `relieved`: as those of LineOutput.
    explicit BatchOutput(
        core::Loop& loop, LineOutput::To to = {}, std::function<void()> relieved = [] {});

    // `id` is raw JSON, as the request had it.
    void result(const std::string& id, std::string_view raw_result);
    void error(const std::string& id, const Error& error) { put_error(id, error, ""); }
    void line_error(const std::string& id, const Error& error, std::size_t line);
    void rpc_error(const std::string& id, std::string_view raw_error);
    void progress(const std::string& id, const connection::Progress& progress);
    void notification(const std::string& server, const std::string& method,
                      std::string_view params);
    // `object`: an event of the host, asked for by that request; so many of them are not there any more.
    void event(const std::string& id, std::string_view object);
    // One that was there when it was asked for: no more is read until it is.
    void kept_event(const std::string& id, std::string_view object);
    void lost_events(const std::string& id, std::uint64_t count);
    // Their numbers are of another host than those that were asked behind.
    void events_anew(const std::string& id, std::uint64_t last);
    // Objects that are none of these. Once the last one is written, `relieved` is told.
    void line(std::string text) { lines_.put(std::move(text)); }
    void last_line(std::string text) {
        lines_.tell_when_written();
        lines_.put(std::move(text));
    }

    void flush() { lines_.flush(); }
    void finish(std::chrono::milliseconds most) { lines_.finish(most); }
    bool written() const { return lines_.written(); }
    bool crowded() const { return lines_.crowded(); }
    bool lost() const { return lines_.lost(); }
    std::size_t waiting() const { return lines_.waiting(); }
    bool told_errors() const { return told_errors_; }

private:
    void put_error(const std::string& id, const Error& error, const std::string& members);

    LineOutput lines_;  // events by the member that says whose they are
    bool told_errors_ = false;
};

}  // namespace patchbay::app
