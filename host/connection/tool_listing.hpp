// One list of a server's tools on its way, over all pages of tools/list. It is there for as long as it is
// being read: who ends it has no page of it come in any more.
//
// Owns:    what has come so far. Borrows all else, which must outlive it.
// Threads: [loop].
// Errors:  told once to its owner.
// Limits:  core::Limits tools_per_server, pages_per_list, list_bytes. A page is read a piece at a
//          time, and others have their turns in between.
// Source:  MCP server/tools, server/utilities/pagination, server/utilities/caching (2026-07-28).
#pragma once

#include "connection/context.hpp"
#include "connection/own_requests.hpp"
#include "connection/server_name.hpp"
#include "core/first_few.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "protocol/http_headers.hpp"
#include "protocol/tool.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::connection {

// Longer than that no list is believed, whatever its server says.
inline constexpr std::chrono::milliseconds kLongestFresh{86'400'000};

using ToolMarks = std::vector<protocol::HeaderParameter>;

// What a person should know of the tools that were listed last.
class ToolNotes {
public:
    explicit ToolNotes(const ServerName& name) : name_(name) {}

    void add(std::string text) {
        if (all_.size() < protocol::kMostToolNotes) all_.push_back(std::move(text));
    }
    // Told in the log as well: who misses a tool looks there first.
    void leave_out(std::string text);
    // Why the list broke off is told whatever was noted before.
    void end_with(std::string text) { all_.push_back(std::move(text)); }
    void clear() { all_.clear(); }
    const std::vector<std::string>& all() const { return all_; }

private:
    const ServerName& name_;
    std::vector<std::string> all_;
    core::FirstFew left_out_;  // told in the log, whichever list they were of
};

class ToolListingOwner {
public:
    // All that will come of it has. Whoever is told may end it.
    virtual void on_listing_read(const Result<void>& outcome) = 0;
    // A page was not answered at all.
    virtual void on_listing_unanswered(const Error& error) = 0;

protected:
    ~ToolListingOwner() = default;
};

class ToolListing {
public:
    enum class Marks { Ignored, AreHeaders };

    // What has come of it.
    struct Found {
        std::vector<protocol::Tool> tools = {};
        std::map<std::string, ToolMarks> mirrored = {};
        core::Clock::time_point fresh_until = core::Clock::time_point::max();  // that of each page
        protocol::Caching caching = protocol::kKeptByAll;                      // of all of them
    };

    ToolListing(core::Loop& loop, const Terms& terms, const ServerName& name, ToolNotes& notes,
                OwnRequests& requests, Marks marks, ToolListingOwner& owner)
        : time_(loop.time()),
          terms_(terms),
          name_(name),
          notes_(notes),
          requests_(requests),
          marks_(marks),
          owner_(owner),
          read_on_(loop) {}

    void begin() { ask({}); }
    Found take() { return std::move(found_); }

private:
    void ask(const std::optional<std::string>& cursor);
    void on_page(Result<Reply> reply);
    Result<protocol::ToolPage> begin_page();
    void take_tools();  // of what has been read of the page; reads on in another turn
    Result<std::optional<std::string>> end_page();  // the next cursor; none: the last page
    bool meant_no_cursor(const std::optional<std::string>& next) const;
    protocol::ToolPage nothing_more() const;
    bool may_be_called(const protocol::Tool& tool);

    const core::TimeSource& time_;
    const Terms& terms_;
    const ServerName& name_;
    ToolNotes& notes_;
    OwnRequests& requests_;
    const Marks marks_;
    ToolListingOwner& owner_;
    Found found_;
    std::set<std::string> cursors_;
    std::optional<std::string> at_;  // the page of that cursor is on its way; none: the first one
    Reply reply_;                    // of the page that is being read
    protocol::ToolPage page_;
    std::size_t pages_ = 0, bytes_ = 0;
    std::size_t listed_ = 0;  // tools, with those that were left out
    core::Clock::time_point page_came_{};
    core::Timer read_on_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
