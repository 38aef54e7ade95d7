// Answers what a server asks of its client: roots, sampling, elicitation. One interface for legacy
// server-to-client requests and for modern input_required results.
//
// Threads: [loop]. `answer` is called once, from inside respond() or later: a person may have to be
//          asked, who is asked no longer than the Question is kept.
// Errors:  an Error becomes a JSON-RPC error (legacy) or ends the call (modern).
// Source:  MCP client/{roots,sampling,elicitation}, 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "config/config.hpp"
#include "connection/question.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <functional>
#include <memory>
#include <string>

namespace patchbay::connection {

class Responder {
public:
    using Answer = std::function<void(Result<boost::json::object>)>;
    virtual ~Responder() = default;
    virtual Question respond(const std::string& server, const std::string& method,
                             const boost::json::object& params, Answer answer) = 0;
    // The client capabilities that these answers imply.
    virtual boost::json::object capabilities() const = 0;
};

// Asks a person on a terminal; for elicitation = "ask". The app implements it. Form mode only:
// `content` for the schema, or no value when the person declines.
using AskPerson =
    std::function<Question(const std::string& server, const boost::json::object& params,
                           std::function<void(std::optional<boost::json::object>)>)>;

// As [client] says: roots from the list; elicitation refused, answered with the schema's defaults,
// with fixed content, or by a person; sampling refused or answered with a fixed text.
std::unique_ptr<Responder> make_responder(const config::ClientSettings& settings, AskPerson ask);

}  // namespace patchbay::connection
