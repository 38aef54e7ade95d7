// What is told of a request: of a call that it has begun, of everything that it has ended, to whoever counts or
// tells, and on a line of the log. Of its arguments and its answer nothing but their length. Internal to this room.
//
// Threads: [loop]. Errors: none.
#pragma once

#include "connection/caller.hpp"
#include "connection/reply.hpp"
#include "core/observer.hpp"
#include "policy/policy.hpp"

#include <memory>
#include <optional>
#include <string>

namespace patchbay::router {

struct Record {
    std::uint64_t number = 0;  // of the request
    core::Principal caller;
    std::string method;
    // As those of core::AskedRequest.
    std::string name{}, about{}, server{}, tool{};
    const char* decision = "";
    const char* level = "";
    std::string rule{}, place{}, digest{};
    std::size_t arguments_bytes = 0;
    std::string arguments{};
    core::Clock::time_point begun{};
    std::optional<core::Clock::time_point> sent{};
    std::size_t bytes_to_server = 0;
    bool announced = false;  // it was told that it has begun
};

class Recorder {
public:
    Recorder(const core::Loop& loop, core::Observer* observer) : loop_(loop), observer_(observer) {}

    // Whether anybody would read it.
    bool wanted() const;
    // Null: nobody would.
    std::unique_ptr<Record> begin(std::uint64_t number, const connection::Caller& caller,
                                  std::string_view method, std::string_view name,
                                  std::string_view server) const;
    // Of a call, once: whose it will be, as far as that is certain.
    void announce(Record& record, std::string_view server, std::string_view tool) const;
    // What the rules say of it, with these arguments.
    void judged(Record& record, const policy::Verdict& verdict, std::string_view arguments) const;
    // It goes to its server now; an error: it may not.
    Result<void> sent(Record& record) const;
    // `step`: of core::ApprovalStep.
    void approval(Record& record, std::string_view server, std::string_view name,
                  std::string_view step) const;
    void end(Record& record, const Result<connection::Reply>& outcome) const;
    // Its caller has gone: there is nobody left to have an outcome.
    void drop(Record& record) const;

private:
    struct Outcome {
        std::string_view word;  // of core::EndedRequest
        std::size_t bytes = 0;
        std::int64_t code = 0;  // of the server's error
        std::string_view trouble = {};
    };
    void tell(Record& record, const Outcome& outcome) const;
    static core::AskedRequest asked(const Record& record);

    const core::Loop& loop_;
    core::Observer* const observer_;
};

}  // namespace patchbay::router
