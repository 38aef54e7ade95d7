// What may be asked of a server by its method, and what that needs of it. Internal to this room.
//
// Threads: [any], pure. Errors: Invalid, with what would do; NotFound.
#pragma once

#include "connection/caller.hpp"
#include "core/result.hpp"
#include "protocol/handshake.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace patchbay::router {

// The capability that `method` needs of the server; empty: none.
std::string_view capability_for(std::string_view method);
// That a server with that session has not said that it can do so. A client of ours that names whom it asks may
// know better: servers forget to say what they can.
enum class Asker { Ourselves, Client };
std::optional<Error> not_offered(const protocol::Session& session, const std::string& server,
                                 const std::string& method, Asker asker);
// In words, for a reason why not.
std::string_view what_is_asked_for(std::string_view method);
// Why nobody may ask for a method of that name: it might be taken for one that is judged, or is the host's own.
std::optional<Error> wrong_method(const std::string& method);
// That nothing of the server is there for the caller that such a request could be about; nothing: there is. `of_a_task`: as
// ServerRequest has it.
std::optional<Error> not_shown(const connection::Caller& caller, const std::string& server,
                               std::string_view method, bool of_a_task = false);
// Why that is no level of the log; empty: it is one. Checked here, for in the modern era no server answers: it
// would be said with every later request.
std::string wrong_level(const std::string& level);

}  // namespace patchbay::router
