// Tools: what servers have listed, which of them a pattern means, and their JSON.
//
// Threads: [loop].
// Errors:  a server that is not there is named beside the tools of the others.
#pragma once

#include "service/heard.hpp"
#include "service/operation.hpp"
#include "service/server_error.hpp"
#include "service/servers.hpp"
#include "service/statuses.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::service {

struct ToolList {
    std::vector<router::ListedTool> tools;  // in stable order, hidden ones left out
    std::vector<Heard> heard;               // of those servers that are known, by id
    std::vector<ServerError> errors;        // of servers that listed nothing, or not all
    bool answered = false;                  // some server did
    // Of those that have tools or may have, from now on.
    protocol::Caching caching = protocol::kKeptByAll;
};

// How servers were asked: whoever has listed nothing or whose list is stale, or all of them.
enum class Ask { IfStale, Anew };

// As far as `servers`, all when empty, have listed theirs by now, if only for an earlier host; the errors are those
// of the caller's own connections, and that a server of which nothing is known is not there. Connects nothing.
// IfStale: of one that is on its way or has failed its list is enough, and no error. Anew: it was to be asked.
ToolList tools_listed(const Servers& known, const connection::Caller& caller,
                      const std::vector<std::string>& servers = {}, Wait wait = Wait::ToTheEnd,
                      Ask ask = Ask::Anew);

// Those of `servers` that have to be asked before it is known what they have: nobody has heard their whole list, or
// it is stale at one that is there.
std::vector<std::string> with_unknown_tools(const Servers& known, const connection::Caller& caller,
                                            const std::vector<std::string>& servers);
// Has them asked, connected first; `done` follows when each has listed its tools or has failed, never from inside
// this call. Anew: also those whose list is fresh.
void ask_for_tools(const Servers& known, const connection::Caller& caller,
                   const std::vector<std::string>& servers, Ask ask, std::function<void()> done);

// Those of `servers` that are ready and whose tools were listed longer ago than they may be kept.
std::vector<std::string> with_stale_tools(const Servers& known, const connection::Caller& caller,
                                          const std::vector<std::string>& servers);
// Has them listed again; `done` follows then, or once `patience` is over, well or not.
Operation list_again(const Servers& known, const connection::Caller& caller,
                     const std::vector<std::string>& servers, std::chrono::milliseconds patience,
                     std::function<void()> done);

// For a caller that outlives the operation. Of all servers, or of one, whose trouble is the error then. IfStale: those of
// which nothing is known are asked, and those that are ready and have not been for long; Anew: all of them.
Operation list_tools(const Servers& known, const connection::Caller& caller,
                     const std::string& server, Ask ask,
                     std::function<void(Result<ToolList>)> done);

// What the server says of it, for people: printable, and as long as the limits allow.
std::string description_of(const router::ListedTool& tool, const core::Limits& limits);
// The same behind its server: "[git] Shows the log."; "[git]" where it says nothing.
std::string labelled(const router::ListedTool& tool, const core::Limits& limits);
// `*` and `?` as in a shell over the whole name; a pattern without them is looked for anywhere in
// the name and the description. In any case of letters.
bool fits_pattern(std::string_view pattern, std::string_view name, std::string_view description);
// The servers of `ids` that may have a tool that fits: of a public name, and with wildcards, the
// beginning says it.
std::vector<std::string> servers_meant(const std::string& pattern, std::vector<std::string> ids);
// Why there are none: no public name begins as the pattern does, up to its first wildcard.
Error no_server_for(const Servers& known, const std::string& pattern);

// The two have one shape. In brief: our own members, and a description that says whose tool it is.
enum class Schemas { LeftOut, Shown };
boost::json::object to_json(const router::ListedTool& tool, const core::Limits& limits,
                            Schemas schemas);
// {"tools": [...], "errors": [...]}: each as its server described it, but for our own members.
// Written, not copied: of all servers together this is most of what a start keeps in memory.
std::string to_json(const ToolList& list);

}  // namespace patchbay::service
