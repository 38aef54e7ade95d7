// The answers and events of a batch on stdout, a JSON object a line; those of one turn of the loop
// go out in one write.
//
// Owns:    what is not written yet. Borrows the loop.
// Threads: [loop]. A write blocks when nobody reads us: then nothing more is asked of the servers
//          either.
// Errors:  lost(): stdout takes no more.
#pragma once

#include "connection/reply.hpp"
#include "core/loop.hpp"
#include "core/result.hpp"

#include <string>
#include <string_view>

namespace patchbay::app {

class BatchOutput {
public:
    explicit BatchOutput(core::Loop& loop) : loop_(loop) {}
    BatchOutput(const BatchOutput&) = delete;

    // `id` is raw JSON, as the request had it.
    void result(const std::string& id, std::string_view raw_result);
    void error(const std::string& id, const Error& error) { put_error(id, error, ""); }
    void line_error(const std::string& id, const Error& error, std::size_t line);
    void rpc_error(const std::string& id, std::string_view raw_error);
    void progress(const std::string& id, const connection::Progress& progress);
    void notification(const std::string& server, const std::string& method,
                      std::string_view params);

    void flush();
    bool lost() const { return lost_; }
    bool told_errors() const { return told_errors_; }

private:
    void put_error(const std::string& id, const Error& error, const std::string& members);
    void put(std::string line);

    core::Loop& loop_;
    std::string out_;
    bool flush_planned_ = false, lost_ = false, told_errors_ = false;
};

}  // namespace patchbay::app
