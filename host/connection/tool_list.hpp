// The server's tools, over all pages of tools/list, and when that list has to be read again.
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
// Limits:  core::Limits tools_per_server, pages_per_list, list_bytes. A page is read a piece at a
//          time, and others have their turns in between; one whose session ends meanwhile has not come.
// Source:  MCP server/tools, server/utilities/pagination, server/utilities/caching (2026-07-28).
#pragma once

#include "catalogue/catalogue.hpp"
#include "connection/context.hpp"
#include "connection/own_requests.hpp"
#include "connection/server_name.hpp"
#include "core/first_few.hpp"
#include "core/timer.hpp"
#include "protocol/http_headers.hpp"
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

using ToolMarks = std::vector<protocol::HeaderParameter>;

// One list on its way.
struct ToolListing {
    std::vector<protocol::Tool> tools = {};
    std::map<std::string, ToolMarks> mirrored = {};
    std::set<std::string> cursors = {};
    Reply reply = {};  // of the page that is being read
    protocol::ToolPage page = {};
    std::size_t pages = 0, bytes = 0;
    std::size_t listed = 0;  // tools, with those that were left out
    core::Clock::time_point page_came = {};
    core::Clock::time_point fresh_until = core::Clock::time_point::max();  // that of each page
    protocol::Caching caching = protocol::kKeptByAll;                      // of all of them
    unsigned number = 0;   // tells a page of an abandoned list from one of this
    bool another = false;  // somebody needs a list that begins after this one
    bool changed = false;  // the server said so meanwhile
};

class ToolList {
public:
    using Waiter = std::function<void(Result<void>)>;
    // Of a list that is stale at once, so that those who list in turn ask its server no more often.
    static constexpr std::chrono::seconds kLeastAge{1};
    using Marks = ToolMarks;

    // `definition`: the key that what is listed is published under.
    ToolList(core::Loop& loop, const Terms& terms, const ServerName& name, std::string definition,
             OwnRequests& requests, ToolListOwner& owner);

    // A session was agreed on; one without tools has nothing to be read.
    enum class Offered { Nothing, Tools };
    void begin_session(Offered offered, std::string instructions = {});
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
    const Marks* marks_of(const std::string& tool) const;
    bool mirrors_any() const { return !mirrored_.empty(); }
    const std::optional<Error>& error() const { return error_; }
    const std::vector<std::string>& notes() const { return notes_; }
    bool reading() const { return listing_.has_value(); }
    bool fresh() const;  // there is no need to read it
    // Whoever lists now does well to read it again: it is stale, and was not read just now.
    bool due() const;
    // Of what was listed last, as its server said and for what is left of that time.
    protocol::Caching caching() const;

private:
    void start();
    void ask(const std::string& cursor);
    void on_page(Result<Reply> reply);
    Result<protocol::ToolPage> begin_page(const Reply& reply);
    void take_tools();               // of what has been read of the page; reads on in another turn
    Result<std::string> end_page();  // the next cursor; empty: the last page
    bool may_be_called(const protocol::Tool& tool);
    void note(std::string text);
    // Told in the log as well: who misses a tool looks there first.
    void leave_out(std::string text);
    void publish(ToolListing listing, bool whole);
    void done(const Result<void>& outcome);

    const core::TimeSource& time_;
    const Terms& terms_;
    const ServerName& name_;
    const std::string definition_;
    OwnRequests& requests_;
    ToolListOwner& owner_;
    std::shared_ptr<const catalogue::Listing> listed_ = std::make_shared<catalogue::Listing>();
    std::map<std::string, Marks> mirrored_;
    std::vector<std::string> notes_;
    core::FirstFew left_out_;                             // told in the log
    std::optional<Error> error_;                          // of the last list
    std::optional<core::Clock::time_point> fresh_until_;  // none: stale
    core::Clock::time_point read_at_{};
    protocol::Caching caching_;  // of the last list, as its server said
    std::optional<ToolListing> listing_;
    unsigned listings_ = 0, relists_ = 0;  // the latter: in a row, because the server said so
    enum class Session { None, New, Listed } session_ = Session::None;
    std::string instructions_;  // of that session
    std::vector<Waiter> waiters_;
    core::Timer relist_;
    core::Timer read_on_;
};

}  // namespace patchbay::connection
