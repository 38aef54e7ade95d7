// The server's tools, and when their list has to be read again; one that is being read is a ToolListing.
//
//   no session --begin_session--> idle or reading --last page, or broken off--> idle
//   idle --read, the server says so (after a pause), a tool is missed--> reading
//   any --end_session--> no session; what was listed stays to be seen
//
// Owns:    the tools, with whoever keeps a listing of them, and who waits for them. Borrows all else,
//          which must outlive it.
// Threads: [loop].
// Errors:  a list that breaks off is kept as far as it came when it is a session's first; a later one
//          leaves the list before it as it was. error() says why.
// Limits:  those of ToolListing, and of RelistPace where a server says again and again that its list
//          changed. One whose session ends meanwhile has not come.
// Source:  MCP server/tools, "List Changed Notification".
#pragma once

#include "catalogue/catalogue.hpp"
#include "connection/context.hpp"
#include "connection/own_requests.hpp"
#include "connection/relist_pace.hpp"
#include "connection/server_name.hpp"
#include "connection/tool_age.hpp"
#include "connection/tool_listing.hpp"
#include "core/timer.hpp"
#include "protocol/tool.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchbay::connection {

// What a list of tools says to its connection.
class ToolListOwner {
public:
    // Whether arguments that a tool marks go to headers.
    virtual bool mirrors_arguments() const = 0;
    // There is a new list in tools().
    virtual void on_listed(std::shared_ptr<const catalogue::Listing> listing) = 0;
    // A list has come to its end; `outcome`: whether it is whole.
    virtual void on_tools_changed(const Result<void>& outcome) = 0;
    // The list has come to its end, and no other begins at once.
    virtual void on_tools_read() = 0;
    // A page was not answered at all. True: without it the server is of no use and is given up.
    virtual bool on_list_unanswered(const Error& error) = 0;

protected:
    ~ToolListOwner() = default;
};

class ToolList final : ToolListingOwner {
public:
    using Waiter = std::function<void(Result<void>)>;
    // `definition`: the key that what is listed is published under.
    ToolList(core::Loop& loop, const Terms& terms, const protocol::ClientIdentity& identity,
             const ServerName& name, std::string definition, OwnRequests& requests,
             ToolListOwner& owner);

    // A session was agreed on; one without tools has nothing to be read. `others`: as catalogue::Listing has them.
    enum class Offered { Nothing, Tools };
    void begin_session(Offered offered, std::string instructions = {},
                       std::set<std::string> others = {});
    void end_session();

    // Calls back when a list has been read that runs already, or begins now.
    void join(Waiter waiter);
    // The same of one that has not begun yet.
    void read_again(Waiter waiter);
    void changed();                          // the server says so
    void tell(const Result<void>& outcome);  // to whoever waits

    const std::vector<protocol::Tool>& tools() const { return listed_->tools; }
    const protocol::Tool* find(std::string_view name) const;
    // Of a tool with arguments that go to headers; else null.
    const ToolMarks* marks_of(const std::string& tool) const;
    bool mirrors_any() const { return !mirrored_.empty(); }
    const std::optional<Error>& error() const { return error_; }
    const std::vector<std::string>& notes() const { return notes_.all(); }
    bool reading() const { return listing_ != nullptr; }
    bool fresh() const;  // there is no need to read it
    // Whoever lists now does well to read it again: it is stale, and was not read just now.
    bool due() const;
    // Of what was listed last, as its server said and for what is left of that time.
    protocol::Caching caching() const;

private:
    // ToolListingOwner
    void on_listing_read(const Result<void>& outcome) override;
    void on_listing_unanswered(const Error& error) override;

    void start();
    // Until when a list that came to this end is fresh; none: whoever needs a tool that is not there asks
    // again.
    std::optional<core::Clock::time_point> fresh_until(const Result<void>& outcome,
                                                       const ToolListing::Found& found) const;
    void publish(ToolListing::Found found, bool whole);

    core::Loop& loop_;
    const Terms& terms_;
    const protocol::ClientIdentity& identity_;
    const ServerName& name_;
    const std::string definition_;
    OwnRequests& requests_;
    ToolListOwner& owner_;
    std::shared_ptr<const catalogue::Listing> listed_ = std::make_shared<catalogue::Listing>();
    std::map<std::string, ToolMarks> mirrored_;
    ToolNotes notes_;
    std::optional<Error> error_;  // of the last list
    ToolAge age_;                 // its
    std::unique_ptr<ToolListing> listing_;
    bool another_ = false;  // somebody needs a list that begins after that one
    bool changed_ = false;  // the server said so while it is read
    RelistPace pace_;
    enum class Session { None, New, Listed } session_ = Session::None;
    std::string instructions_;      // of that session
    std::set<std::string> others_;  // likewise
    std::string declared_;          // as catalogue::Listing has it, when that session began
    std::vector<Waiter> waiters_;
    core::Timer relist_;
};

}  // namespace patchbay::connection
