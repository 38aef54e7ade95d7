// What a server has asked of us and has not got yet: the requests that somebody still thinks about,
// and the answers that have not left. A server that asks without reading ends here.
//
// Threads: [loop]. Errors: Limit, with what the server did.
// Limits:  core::Limits server_requests and server_request_bytes.
#pragma once

#include "connection/caller.hpp"
#include "connection/question.hpp"
#include "connection/reply.hpp"
#include "core/limits.hpp"
#include "core/result.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::connection {

class ServerRequests {
public:
    explicit ServerRequests(const core::Limits& limits) : limits_(limits) {}

    // A request came, with that id on the wire; its answer will leave as `exchange`. `call`: the
    // request of ours whose stream it came on; 0: there is but one stream.
    Result<void> add(RequestId exchange, std::size_t bytes, std::string id, RequestId call);
    // Who is asked for its answer.
    void ask(RequestId exchange, CallerNumber caller);
    // A person is asked for its answer: until that leaves, or nobody wants it any more.
    void keep(RequestId exchange, Question question);
    using Exchanges = std::vector<std::pair<RequestId, std::string>>;  // with their ids
    // Requests that people are asked about by this caller, for the sake of `call`; 0: of any.
    Exchanges asking(CallerNumber caller, RequestId call) const;
    bool asking_any() const { return !asking_.empty(); }
    // All that this caller has not answered.
    Exchanges open_at(CallerNumber caller) const;
    // The server wants no answer to its request any more: a person is not asked on. Of several with
    // one id the first.
    void withdraw(std::string_view id);
    // Its answer of that size is about to leave. False: who asked is gone, or has it.
    Result<bool> answer(RequestId exchange, std::size_t bytes);
    // The answer has left, or never will.
    void done(RequestId exchange);
    void clear();

private:
    struct Open;
    Result<void> judge() const;
    void forget_id(RequestId exchange, const Open& open);

    const core::Limits& limits_;
    struct Open {
        std::size_t bytes = 0;
        std::string id{};
        RequestId call = 0;
        CallerNumber caller = 0;
        bool answered = false;
        Question question{};
    };

    std::unordered_map<RequestId, Open> open_;
    std::map<std::string, std::set<RequestId>, std::less<>> unanswered_;  // by id on the wire
    std::set<RequestId> asking_;                                          // with a question
    std::size_t bytes_ = 0;
};

}  // namespace patchbay::connection
