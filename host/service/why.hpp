// Why a tool or a server may be used, or may not: one answer, what decides it and where that stands, and who says
// what of the server. Rules are put the question that a call would put them, so the answer is that of a call.
//
// Threads: [loop]. Connects nothing: of a server that nobody has asked it is not known which tools it has.
// Errors:  none; of what there is nothing of the answer is Missing, with the nearest.
// Source:  config/schema/api/results.schema.json, `why`.
#pragma once

#include "connection/status.hpp"
#include "service/decisions.hpp"
#include "service/servers.hpp"
#include "service/tools.hpp"

#include <boost/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace patchbay::service {

struct Why {
    enum class Answer {
        Allowed,
        Asked,        // allowed once somebody approves it
        Denied,       // by a rule
        Hidden,       // by one that takes it out of lists too
        Misfit,       // allowed, but not with these arguments
        NotShown,     // to that agent
        NotApproved,  // a checkout defines its server
        TurnedOff,    // its server, by a file
        Broken,       // the definition of its server
        Down,         // allowed, but its server did not come up
        Unknown,      // nobody has asked its server which tools it has
        Missing
    };
    // A file that has something to say of the server.
    struct Said {
        config::Place place;                    // the first that it says there
        std::vector<std::string> counts;        // keys
        std::vector<std::string> in_vain = {};  // those that a stronger file says otherwise
    };

    std::string name;        // as it was asked for
    bool of_a_tool = false;  // else of a server
    Answer answer = Answer::Missing;
    std::string reason;                              // a sentence; empty where it is Allowed
    std::string server;                              // id; empty: nobody's
    std::optional<router::Ruling> ruling = {};       // of a tool whose server is of use
    std::vector<Decision> answers = {};              // that count for it
    std::optional<connection::Status> status = {};   // of the server
    std::optional<catalogue::Standing> listed = {};  // when its server told of its tools
    std::vector<Said> said = {};                     // the strongest first
    std::vector<std::string> notes = {};  // what is wrong with what files say of the server
};

const char* name_of(Why::Answer answer);  // "not-approved"

// Of whom that may be asked, and with what.
struct Asker {
    core::Trust trust = core::Trust::Approves;
    const connection::Sight* sight = nullptr;   // null: is shown all
    std::string name = {};                      // of the agent, or the bundle; empty: none
    config::Place place = {};                   // where it is defined
    const char* kind = "agent";                 // or "bundle"
    std::optional<std::string> arguments = {};  // of a call, a JSON object; none: of any call
    std::vector<Decision> of_sessions = {};     // what the host that runs was answered for one
};

// `statuses`: of all servers, by whoever runs them. `told`: what those that it may be about have listed there,
// beside what the catalogue has. `decisions` null: no answer is kept.
Why why(const Servers& servers, const Asker& asker, const std::string& name,
        const std::vector<connection::Status>& statuses, const ToolList& told = {},
        Decisions* decisions = nullptr);

boost::json::object to_json(const Why& why);

}  // namespace patchbay::service
