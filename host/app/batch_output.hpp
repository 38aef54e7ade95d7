// The answers and events of a batch, a JSON object a line (stdout_lines.hpp).
//
// Borrows the loop.
// Threads: [loop].
// Errors:  lost(): stdout takes no more.
#pragma once

#include "app/stdout_lines.hpp"
#include "connection/reply.hpp"
#include "core/result.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::app {

class BatchOutput {
public:
    static constexpr std::size_t kCrowdBytes = StdoutLines::kCrowdBytes;
    static constexpr std::size_t kMostBytes = StdoutLines::kMostBytes;
    static constexpr std::size_t kEventBytes = StdoutLines::kEventBytes;
    static constexpr std::size_t kAllEventBytes = StdoutLines::kAllEventBytes;

    // `signals`, `relieved`: as those of StdoutLines.
    explicit BatchOutput(
        core::Loop& loop, int signals = -1, std::function<void()> relieved = [] {});

    // `id` is raw JSON, as the request had it.
    void result(const std::string& id, std::string_view raw_result);
    void error(const std::string& id, const Error& error) { put_error(id, error, ""); }
    void line_error(const std::string& id, const Error& error, std::size_t line);
    void rpc_error(const std::string& id, std::string_view raw_error);
    void progress(const std::string& id, const connection::Progress& progress);
    void notification(const std::string& server, const std::string& method,
                      std::string_view params);

    void flush() { lines_.flush(); }
    void finish(std::chrono::milliseconds most) { lines_.finish(most); }
    bool written() const { return lines_.written(); }
    bool crowded() const { return lines_.crowded(); }
    bool lost() const { return lines_.lost(); }
    bool told_errors() const { return told_errors_; }

private:
    void put_error(const std::string& id, const Error& error, const std::string& members);

    StdoutLines lines_;  // events by the member that says whose they are
    bool told_errors_ = false;
};

}  // namespace patchbay::app
