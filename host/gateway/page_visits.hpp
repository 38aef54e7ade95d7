// A server of the legacy era ends a request with an error while a person has to visit pages first, and is asked
// again when that is done. A client of the modern era knows no such end: it is asked to have them visited in the
// middle of its request.
//
// Owns:    how many of a request's pages are still to be visited. Threads: [loop].
// Limits:  kMostPages of one error, kMostRounds of one request.
// Source:  MCP 2025-11-25 client/elicitation, "URL Elicitation Required Error"; 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "connection/caller.hpp"
#include "gateway/client_requests.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::gateway {

class PageVisits {
public:
    static constexpr std::size_t kMostPages = 16;
    static constexpr unsigned kMostRounds = 8;

    struct Page {
        std::string id;
        std::string params;  // raw, of elicitation/create
    };
    // Those that an error with that code names; none: it is no such error, or makes no sense.
    static std::vector<Page> in(std::string_view raw_error);

    // `ask`: the client about one page; `answered` of the request once it has agreed to all, or not.
    using Ask = std::function<connection::Question(const Page&, connection::Caller::Answer)>;
    using Answered = std::function<void(bool agreed)>;
    void begin(RequestNumber request, const std::vector<Page>& pages, const Ask& ask,
               Answered answered);
    void end(RequestNumber request) { visits_.erase(request); }

private:
    struct Visit {
        std::size_t missing;
        Answered answered;
        std::vector<connection::Question> questions = {};
    };

    void on_answer(RequestNumber request, const Result<connection::Given>& given);

    std::map<RequestNumber, Visit> visits_;
};

}  // namespace patchbay::gateway
