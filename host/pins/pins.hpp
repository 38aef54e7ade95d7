// How what servers list stands to what somebody approved of it. Whether that blocks anything is the policy's to say.
//
// A server's record is read when it is asked about first, and again when the server lists something else or refresh()
// is told to look. An item is compared once for each list that it stands in, so that a call compares nothing.
//
// Owns:    what was found so far. Borrows catalogue and store, which must outlive it.
// Threads: [loop].
// Errors:  of a record that cannot be read nothing is known: all of its server is Unknown, which says why.
// Source:  decisions/0051-what-a-tool-was-when-it-was-approved.md.
#pragma once

#include "catalogue/catalogue.hpp"
#include "pins/approval.hpp"
#include "pins/difference.hpp"
#include "pins/listed.hpp"
#include "pins/store.hpp"
#include "policy/pin.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace patchbay::pins {

struct Judged {
    std::optional<policy::PinMismatch> mismatch;  // none: nothing speaks against it
    bool settled = false;  // that a person uses it adds nothing to the record
    const protocol::Tool* stub =
        nullptr;  // of a mismatch: what is shown in the place of a tool that is blocked
};

// Of one server, for whoever shows how it stands.
struct Departed {
    Name name;
    policy::PinMismatch mismatch;
};

// Hears that what counts as approved of a server is another thing than before, so that what it lists may be judged
// otherwise. Told in the middle of whatever looked at it, and is to act no sooner than in the next turn.
class Watcher {
public:
    virtual void on_approved_otherwise(const std::string& server, const std::set<Part>& parts) = 0;

protected:
    ~Watcher() = default;
};

class Pins {
public:
    // Nothing: there is nothing to keep of that server.
    using KeyOf = std::function<std::optional<Key>(const std::string& server)>;
    // Of what it lists besides tools, so that this is known before anybody asks; nothing: there is no such server.
    using OriginOf = std::function<std::optional<catalogue::Origin>(const std::string& server)>;
    using Done = std::function<void(Result<void>)>;

    // `origin_of` empty: what is in no memory is not known.
    Pins(catalogue::Catalogue& catalogue, Store& store, KeyOf key_of, OriginOf origin_of = {})
        : catalogue_(catalogue),
          store_(store),
          key_of_(std::move(key_of)),
          origin_of_(std::move(origin_of)) {}
    Pins(const Pins&) = delete;

    // Another one whenever what was judged before may be judged otherwise.
    std::uint64_t generation() const { return generation_; }
    // That tool, as its server listed it. Good until generation() is another; its stub until the server lists again.
    const Judged& of_tool(const std::string& server, const protocol::Tool& tool,
                          const std::string& public_name);
    // A tool that stands in no list of the catalogue's.
    std::optional<policy::PinMismatch> of_unlisted(const std::string& server,
                                                   const protocol::Tool& tool,
                                                   const std::string& public_name);
    // A prompt, a template or the instructions, as they were listed last; of what is in no list nothing is known.
    Judged of_item(const std::string& server, const Name& name);
    // One of them as this text says, listed or not.
    std::optional<policy::PinMismatch> of_text(const std::string& server, const Name& name,
                                               std::string_view text);
    // Names of templates that were listed last.
    std::vector<std::string> templates(const std::string& server);
    // All that departs, of what is known.
    std::vector<Departed> departed(const std::string& server, const PublicName& public_name);
    // Whether anything was ever approved there, or that cannot be known.
    bool any(const std::string& server);

    // What another process has approved since counts from now on. True: something is judged otherwise.
    bool refresh(const std::string& server);
    // The same of all that were asked about.
    void refresh();
    // Definitions are others: whose records there are is asked anew.
    void forget();
    void watch(Watcher& watcher) { watchers_.push_back(&watcher); }
    void unwatch(Watcher& watcher) { std::erase(watchers_, &watcher); }

    // A person has used these, or approved them. `done` once: whether that is kept.
    void pin(const std::string& server, std::vector<Name> names, Basis basis,
             const PublicName& public_name, std::int64_t at, Done done);
    // All that is known of a server, as it would be approved; how that differs from what was, and that it is approved.
    // Protocol, Unsupported, Denied: what was approved cannot be read. NotFound: nothing is kept of that server.
    Listed listed(const std::string& server, const PublicName& public_name);
    Result<std::vector<Difference>> differences(const std::string& server, const Listed& now);
    void approve(const std::string& server, Listed now, std::int64_t at, Done done);
    // Nothing of it is written again until the server lists something else.
    void give_up(const std::string& server, const Error& why);

    // What a stub says in the place of what a server says of its `what`: "tool", "prompt".
    static std::string blocked_words(const std::string& server, const std::string& what,
                                     const policy::PinMismatch& why);

private:
    struct Server {
        Key key;
        std::optional<Error> trouble;                       // why nothing is known of it
        std::optional<Record> record;                       // none: nothing was approved
        std::shared_ptr<const catalogue::Listing> listing;  // that what follows is of
        struct Tool {
            Judged judged;
            std::string known_as;
        };
        std::unordered_map<std::string, Tool> tools;  // that were asked about
        std::map<std::string, protocol::Tool> stubs;
        std::optional<Error> given_up;  // why uses are not noted
    };

    Server* server_of(const std::string& id);  // null: nothing is kept of it
    void read(Server& server);
    void read_again(Server& server);
    void tell_otherwise(const Server& server, const std::optional<Record>& before, bool unknown);
    void change(Server& server, Store::Change change, Done done);
    Judged judge(Server& server, const Name& name, std::string_view digest,
                 std::string_view known_as) const;
    const catalogue::Items* items(const std::string& server, catalogue::List list);

    catalogue::Catalogue& catalogue_;
    Store& store_;
    const KeyOf key_of_;
    const OriginOf origin_of_;
    std::map<std::string, std::unique_ptr<Server>> servers_,
        retired_;  // null: nothing is kept of it
    std::uint64_t generation_ = 1;
    std::vector<Watcher*> watchers_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace patchbay::pins
