// Resources, resource templates and prompts: what servers list, and the one that a name means.
//
// Threads: [loop].
// Errors:  a server that is not there is named beside the things of the others.
#pragma once

#include "router/router.hpp"
#include "service/heard.hpp"
#include "service/server_error.hpp"
#include "service/servers.hpp"
#include "service/statuses.hpp"

#include <boost/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::service {

enum class Kind { Resources, Templates, Prompts };
struct KindWords {
    const char* method;
    const char* capability;
    const char* member;    // of the answer
    const char* name_key;  // what identifies one
    const char* word;
};
const KindWords& words_of(Kind kind);
catalogue::List list_of(Kind kind);

// That some of the items with which `server` answered `method` are not of the kind that all must be,
// and are left out; empty: none is.
std::string left_out_of(const boost::json::array& items, const std::string& server,
                        const std::string& method,
                        boost::json::kind wanted = boost::json::kind::object);

struct Thing {
    std::string server;
    boost::json::object definition;  // as its server told it
    std::string text;                // the same, as it came
};
boost::json::object to_json(const Thing& thing);  // the definition with its `server`

struct ThingList {
    std::vector<Thing> things;  // by server, and each one's own order
    std::vector<ServerError> errors;
    std::vector<ServerError> denied;  // is no error beside others that answered
    std::size_t answered = 0;         // servers
    std::vector<Heard> heard = {};    // of those whose things are here
    // Of those that have such things or may have, from now on.
    protocol::Caching caching = protocol::kKeptByAll;
};
// {MEMBER: [...], "errors": [...]}
std::string to_json(const ThingList& list, Kind kind);

// One listing on its way, for a caller that outlives it: each server is asked as soon as it is there.
// Dropped, nothing more is told.
class ThingListing : public std::enable_shared_from_this<ThingListing> {
public:
    using Done = std::function<void(ThingList)>;
    // Connect: all of them are asked.
    // Refreshed: the same; of one that does not answer what it listed before stands beside the error.
    // Known: only those of which nothing is known, whose list is outdated, or which are ready anyway.
    // AsTheyAre: those that are ready for that caller; of others what is known, else they are errors.
    enum class Servers { Connect, Refreshed, Known, AsTheyAre };
    // `as`: what each of them is asked with, but for server and method.
    ThingListing(const service::Servers& known, connection::Caller& caller, Kind kind, Done done,
                 router::ServerRequest as = {})
        : known_(known), caller_(caller), kind_(kind), as_(std::move(as)), done_(std::move(done)) {}

    void list_of_all(Servers servers);
    void list_of(const std::string& server, Servers servers);
    // Tells what is there; whoever has not answered by now is named as interrupted.
    void cut_short();
    // It need not be waited for.
    bool knows(const std::string& id) const;
    // What that server listed last, as it came, where that may be shown; none: it has listed nothing.
    std::optional<std::vector<std::string>> listed_before(const std::string& id) const;
    // What has come so far, and who owes an answer.
    ThingList so_far() const;
    std::vector<std::string> silent() const;

private:
    bool has_none(const std::string& id) const;  // by what it said when it was up last
    std::optional<catalogue::Kept> kept_of(const std::string& id) const;
    bool may_keep() const;
    void keep(const std::string& id, const std::vector<std::string>& texts);
    void show(const std::string& id, const catalogue::Kept& kept);
    void add(const std::string& id, boost::json::object definition, std::string text);
    bool take_kept(const std::string& id);
    void begin(const std::string& id);
    void connect(const std::string& id);
    void settled(const std::string& id);
    void ask(const std::string& id);
    void take(const std::string& id, Result<router::ListedItems> items);
    void finish();

    const service::Servers& known_;
    connection::Caller& caller_;
    const Kind kind_;
    const router::ServerRequest as_;
    bool of_all_ = false;
    Servers servers_ = Servers::Connect;
    Done done_;
    ThingList list_;
    // Servers that owe an answer, and their lists once they were asked.
    std::map<std::string, std::shared_ptr<void>> missing_;
};

// `done` once, never from inside this call. `server` empty: of all.
std::shared_ptr<ThingListing> list_things(const Servers& known, connection::Caller& caller,
                                          Kind kind, const std::string& server,
                                          ThingListing::Servers which, ThingListing::Done done,
                                          router::ServerRequest as = {});
// Whether it is known what each of these has, or can be asked at once.
bool things_known(const Servers& known, connection::Caller& caller, Kind kind,
                  const std::vector<std::string>& servers);

// A thing that was named: whose it is, and what its server says of it.
struct NamedThing {
    std::string server;
    std::optional<boost::json::object> definition;  // none: its server does not list it
};
// The servers that list a thing of this name, each once.
std::vector<std::string> offering(const ThingList& list, Kind kind, const std::string& name);
// The thing of this name where one server alone has it. Invalid where several do; Unavailable where
// one does and another, which may have it too, could not be asked; none: nobody who answered.
//
// What a name means depends on the configuration alone, never on who is up: otherwise the arguments
// that are meant for a server go to another one as soon as that lists the same name and the first is
// down. A server that the rules deny has nothing for this caller, as a disabled one.
std::optional<Result<NamedThing>> find_thing(const ThingList& list, Kind kind,
                                             const std::string& name);
// The same of a server that was named, which may have things that it does not list: `list` is what
// it listed.
Result<NamedThing> find_thing_of(const ThingList& list, Kind kind, const std::string& name,
                                 const std::string& server);
// That nobody who answered lists it, with the nearest that somebody does.
Error not_listed(const ThingList& list, Kind kind, const std::string& name);
// Of an URI that no server lists: the template that it may have come of, or is.
std::optional<Error> explained_by_template(const ThingList& templates, const std::string& uri);

}  // namespace patchbay::service
