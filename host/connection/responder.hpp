// How [client] answers what a server asks of its client: for callers that have no better answer.
//
// Threads: [loop]. `answer` is called once, from inside respond() or later: a person may have to be
//          asked, who is asked no longer than the Question is kept.
// Errors:  Unsupported: [client] does not offer it.
// Source:  MCP client/{roots,sampling,elicitation}, 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "config/config.hpp"
#include "connection/caller.hpp"
#include "connection/question.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <functional>
#include <optional>
#include <string>

namespace patchbay::connection {

// Asks a person on a terminal; for elicitation = "ask". The app implements it. Form mode only:
// `content` for the schema, or no value when the person declines.
using AskPerson =
    std::function<Question(const std::string& server, const boost::json::object& params,
                           std::function<void(std::optional<boost::json::object>)>)>;

// As [client] says: roots from the list; elicitation refused, answered with the schema's defaults,
// with fixed content, or by a person; sampling refused or answered with a fixed text.
class Responder {
public:
    Responder(const config::ClientSettings& settings, AskPerson ask);

    Question respond(const std::string& server, const std::string& method,
                     const boost::json::object& params, Caller::Answer answer) const;

private:
    boost::json::object roots() const;
    boost::json::object sampled() const;
    Question elicit(const std::string& server, const boost::json::object& params,
                    Caller::Answer answer) const;
    boost::json::object answered_alone(const boost::json::object& params) const;

    config::ClientSettings settings_;
    AskPerson ask_;
};

// The client capabilities that these answers imply.
boost::json::object capabilities_of(const config::ClientSettings& settings);

}  // namespace patchbay::connection
