// What a client is told unasked: what its servers say that is its own, in the words of its era, and
// that a list is another one, be it that somebody has approved of what was blocked in it.
//
// Owns:    the streams that are listened to. Borrows all it is given.
// Threads: [loop].
// Limits:  of lists of tools that changed, and of others in which something was blocked, one word each kPause.
// Source:  MCP server/*, "List Changed Notification"; 2026-07-28 basic/patterns/subscriptions,
//          server/utilities/logging.
#pragma once

#include "catalogue/catalogue.hpp"
#include "core/timer.hpp"
#include "gateway/listeners.hpp"
#include "gateway/offered.hpp"
#include "gateway/outward.hpp"
#include "router/router.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::gateway {

class ClientEvents final : catalogue::Watcher, pins::Watcher {
public:
    static constexpr std::chrono::milliseconds kPause{250};

    ClientEvents(connection::ConnectionPool& pool, catalogue::Catalogue& catalogue,
                 router::Router& router, const View& view, ClientRequests& requests,
                 const Offered& offered, Outward& out);
    ~ClientEvents();

    // A legacy client has ended its handshake, and may be told of anything.
    void on_initialized() { initialized_ = true; }
    // Of the one request of a legacy client that this server may be busy with: what it says meanwhile is about
    // that. 0: there is none, or which of several cannot be known; the oldest, where the client hears of
    // nothing but by its requests.
    Route route_to(const std::string& server) const;
    // It has been given the tools as they are now.
    void on_tools_listed() {
        listed_ = shown();
        approved_otherwise_ = false;
    }
    // As Caller::notify.
    void notify(const std::string& server, const std::string& method, std::string_view params,
                RequestNumber about);
    // Its view is another one: all its lists may be.
    void on_shown_otherwise();
    // That server has others by now than the client may know: "prompts", "resources".
    void tell_changed(const std::string& server, std::string_view capability);

    // A stream has come to be; nothing is said on it before.
    void acknowledge(RequestNumber request);
    Listeners& listeners() { return listeners_; }
    const Listeners& listeners() const { return listeners_; }

private:
    using Shown = std::vector<std::shared_ptr<const catalogue::Listing>>;

    void on_published() override { tell_later(); }
    void on_approved_otherwise(const std::string& server,
                               const std::set<pins::Part>& parts) override;
    void tell_later();
    void tell_lists();
    Shown shown() const;  // of the servers in its view
    void tell(const std::string& from, const std::string& method, std::string_view members,
              const std::string& uri = {});
    void tell_logged(const std::string& server, std::string_view params, RequestNumber about);

    connection::ConnectionPool& pool_;
    catalogue::Catalogue& catalogue_;
    router::Router& router_;
    const View& view_;
    ClientRequests& requests_;
    const Offered& offered_;
    Outward& out_;
    Listeners listeners_;
    core::Timer pause_;
    std::optional<Shown> listed_;      // what the client knows; none: it has asked for no list
    bool approved_otherwise_ = false;  // some of these tools, since it was told
    std::set<std::string_view> due_;   // capabilities whose lists hold something that is
    bool initialized_ = false;
};

}  // namespace patchbay::gateway
