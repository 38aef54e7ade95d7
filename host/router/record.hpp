// What is told of a request when it has ended: to whoever counts, and on a line of the log. Of its
// arguments and its answer nothing but their length. Internal to this room.
//
// Threads: [loop]. Errors: none.
#pragma once

#include "connection/caller.hpp"
#include "connection/reply.hpp"
#include "core/observer.hpp"

#include <memory>
#include <string>

namespace patchbay::router {

struct Record {
    std::string who;  // for the log; empty where it has no such line
    std::string method;
    std::string name{};            // public, of a tool; as it was asked for
    std::string server{}, tool{};  // as those of core::EndedRequest
    core::Clock::time_point begun{};
    std::size_t bytes_to_server = 0;
};

class Recorder {
public:
    Recorder(const core::Loop& loop, core::Observer* observer) : loop_(loop), observer_(observer) {}

    // Whether anybody would read it.
    bool wanted() const;
    // Null: nobody would.
    std::unique_ptr<Record> begin(const connection::Caller& caller, std::string_view method,
                                  std::string_view name, std::string_view server) const;
    void end(const Record& record, const Result<connection::Reply>& outcome) const;
    // Its caller has gone: there is nobody left to have an outcome.
    void drop(const Record& record) const;

private:
    void tell(const Record& record, std::string_view outcome, std::size_t bytes,
              std::int64_t code) const;

    const core::Loop& loop_;
    core::Observer* const observer_;
};

}  // namespace patchbay::router
