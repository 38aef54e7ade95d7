// A call that its server answers with input_required: the questions go to its caller, and the call
// goes out again, under a new id, when the input is there.
//
// Owns:    nothing: a round lives until the last of its answers is in, and is nobody's when its call
//          has ended. Borrows all it is given.
// Threads: [loop].
// Errors:  Limit and Protocol end the call.
// Limits:  core::Limits input_rounds, input_requests; kInputWait for a person.
// Source:  MCP 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "connection/context.hpp"
#include "connection/requests.hpp"
#include "connection/server_name.hpp"
#include "core/lifetime.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace patchbay::connection {

class InputRounds {
public:
    InputRounds(const Context& context, const ServerName& name, Requests& requests);

    // `result`: the raw one that asks for input.
    void begin(RequestId id, std::string_view result);

private:
    struct Round;
    Result<boost::json::object> judge(PendingRequest& entry, std::string_view result) const;
    // `raw`: the same, as it came.
    void ask(const std::shared_ptr<Round>& round, const boost::json::object& questions,
             std::string_view raw);
    void send_again(const std::shared_ptr<Round>& round);
    // Null: it has ended, or this round of it has.
    PendingRequest* waiting(const Round& round);

    const Context& context_;
    const ServerName& name_;
    Requests& requests_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
