// Prompts, resources and resource templates of all servers as one list each, by the names that the
// client knows them by, and the way back from such a name to its server.
//
// Prompts are called mcp__SERVER__PROMPT as tools are. A resource keeps its URI; only where two
// servers list the same one, or one looks like that, each is called patchbay+SERVER:URI. By that a resource can always be
// asked for. Where a client is shown one server alone, all have the names that they have there.
//
// Owns:    what was listed last. Borrows all it is given.
// Threads: [loop].
// Errors:  NotFound: no server lists it, nor a template that it may have come of. Invalid: several
//          servers list it, or templates that it may have come of; which is meant is not guessed.
#pragma once

#include "core/lifetime.hpp"
#include "gateway/view.hpp"
#include "protocol/qualified_name.hpp"
#include "service/operation.hpp"
#include "service/things.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::gateway {

class Offered {
public:
    struct Owner {
        std::string server, name;  // as that server has it
    };

    struct Item {
        std::string server, name;  // as the client knows it
        std::string text;          // raw JSON, for the client
    };
    struct Items {
        std::vector<Item> all;
        protocol::Caching caching;  // as service::ThingList
    };

    Offered(const service::Servers& known, connection::Caller& caller, const View& view)
        : known_(known), caller_(caller), view_(view) {}

    // Of the servers that are ready, each once; they are asked with what is in `as`. Of others what they listed last,
    // where that is known. As service::Operation.
    service::Operation items(service::Kind kind, std::function<void(const Items&)> told,
                             router::ServerRequest as = {});
    // No server need be waited for before they are listed.
    bool known(service::Kind kind) const;
    // Nobody need be asked whose it is.
    bool known(service::Kind kind, const std::string& name) const {
        return !view_.public_names() || owner_of(kind, name).has_value();
    }
    // A client that has come back was given, as far as anybody knows, what servers listed last.
    void note_given_before();
    // The client was given what that server listed before, of what it declares so ("prompts", "resources").
    bool gave_kept(const std::string& server, std::string_view capability) const;
    // Whether it lists something else by now; `differs` where it does.
    void compare(const std::string& server, std::string_view capability,
                 const std::function<void()>& differs);
    // Whose it is; asks the servers that are ready where nobody has listed it yet. However many are
    // looked for at once, two lists are asked for: what is looked for while the first is on its way may
    // be newer than that, and all of it waits for the second.
    service::Operation find(service::Kind kind, const std::string& name,
                            std::function<void(Result<Owner>)> found);
    // What the client knows that resource by.
    std::string uri_for_client(const std::string& server, const std::string& uri) const;

private:
    using Pair = std::pair<std::string, std::string>;  // server, its name
    struct Names {
        std::map<std::string, Owner> owners;  // by what the client knows them by
        std::map<Pair, std::string> known_as;
    };

    using Texts = std::vector<std::string>;  // of one server's, as they came
    void note_given(service::Kind kind, const service::ThingList& list);

    using Then = std::function<void()>;
    struct Look {
        service::Operation list;                     // on its way; null: none
        std::vector<std::weak_ptr<Then>> now, next;  // who waits for it, and for the one behind it
    };

    service::Operation ask(service::Kind kind, std::function<void(const service::ThingList&)> told,
                           router::ServerRequest as = {});
    // `then`, once it has been listed from now on.
    service::Operation look(service::Kind kind, Then then);
    void begin_look(service::Kind kind);
    void on_looked(service::Kind kind);
    void on_given_up(service::Kind kind);
    Look& look_of(service::Kind kind) { return looks_[static_cast<std::size_t>(kind)]; }
    void note(service::Kind kind, const service::ThingList& list);
    std::optional<Owner> owner_of(service::Kind kind, const std::string& name) const;
    // Of a name that no client knows anything by: whose it may be, or why it is nobody's.
    Error not_one_owner(service::Kind kind, const std::string& name) const;
    Result<Owner> owner_by_template(const std::string& uri) const;
    Error nobody_has(service::Kind kind, const std::string& name) const;
    Names& names_of(service::Kind kind) { return names_[static_cast<std::size_t>(kind)]; }
    const Names& names_of(service::Kind kind) const {
        return names_[static_cast<std::size_t>(kind)];
    }

    const service::Servers& known_;
    connection::Caller& caller_;
    const View& view_;
    std::array<Names, 3> names_;
    std::array<Look, 3> looks_;
    std::array<std::map<std::string, Texts, std::less<>>, 3>
        given_;  // by server, of what it listed before
    std::map<std::pair<service::Kind, std::string>, service::Operation> comparisons_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
