// What a server says unasked, and who hears of it: what belongs to an exchange the caller of that
// exchange; log messages those whose level admits them, and of requests in flight those for which they
// may be; changes of a resource those who subscribed
// to it; changed lists everybody whom the connection serves; anything else whoever alone can be
// meant, or nobody.
//
// Threads: [loop]. Borrows all it is given.
#pragma once

#include "connection/addressees.hpp"
#include "connection/audience.hpp"
#include "connection/link.hpp"
#include "connection/server_name.hpp"
#include "connection/wishes.hpp"
#include "core/limits.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::connection {

class Notifications {
public:
    struct Parts {
        const ServerName& name;
        const Audience& audience;
        const Link& link;
        const Addressees& addressees;
        const Wishes& wishes;
    };
    Notifications(const core::Limits& limits, const Parts& parts)
        : limits_(limits), parts_(parts) {}

    // Raw params, empty when absent. `exchange` 0: the transport names none.
    void pass_on(const std::string& method, std::string_view params, plugin::ExchangeId exchange);

private:
    Caller* listener(RequestId exchange) const;
    void pass_on_logged(std::string_view level, std::string_view params, RequestId exchange) const;
    bool tell_requesters(std::size_t severity, std::string_view params) const;
    void tell(Caller* caller, const std::string& method, std::string_view params,
              RequestId exchange = 0) const;
    void tell(const std::vector<CallerNumber>& callers, const std::string& method,
              std::string_view params) const;

    const core::Limits& limits_;
    const Parts parts_;
};

}  // namespace patchbay::connection
