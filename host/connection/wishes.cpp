#include "connection/wishes.hpp"

#include "protocol/compose.hpp"

namespace patchbay::connection {

namespace {

Request subscription(const std::string& uri, bool wanted) {
    return {wanted ? "resources/subscribe" : "resources/unsubscribe",
            {"\"uri\":" + protocol::quoted(uri), ""},
            {},
            {}};
}

Request log_level(const std::string& level) {
    return {"logging/setLevel", {"\"level\":" + protocol::quoted(level), ""}, {}, {}};
}

}  // namespace

Wishes::Wishes(core::Loop& loop, const Terms& terms, const config::Server& server, Link& link,
               OwnRequests& requests, WishesOwner& owner)
    : loop_(loop),
      terms_(terms),
      server_(server),
      link_(link),
      requests_(requests),
      owner_(owner) {}

// With what a legacy server would have answered to a request that the modern era does without.
void Wishes::confirm(ReplyHandler handler) {
    loop_.defer([handler = std::move(handler)] {
        Reply reply;
        reply.message = core::Buffer::from("{}");
        reply.result = reply.message.view();
        handler(std::move(reply));
    });
}

void Wishes::note(const std::string& uri, bool wanted) {
    if (wanted)
        resources_.insert(uri);
    else
        resources_.erase(uri);
}

void Wishes::subscribe(const std::string& uri, bool wanted, ReplyHandler handler) {
    if (link_.modern()) {
        note(uri, wanted);
        owner_.on_resources_wanted();
        return confirm(std::move(handler));
    }
    owner_.request(subscription(uri, wanted), [this, watch = lifetime_.watch(), uri, wanted,
                                               handler = std::move(handler)](Result<Reply> reply) {
        // For the next session, which knows nothing of this one's.
        const bool took = reply && reply->error.empty();
        if (!watch.expired() && took) note(uri, wanted);
        handler(std::move(reply));
    });
}

void Wishes::set_log_level(const std::string& level, ReplyHandler handler) {
    log_level_ = level;
    if (link_.modern()) {
        use_log_level();
        return confirm(std::move(handler));
    }
    owner_.request(log_level(level), [this, watch = lifetime_.watch(), level,
                                      handler = std::move(handler)](Result<Reply> reply) {
        // What this server does not take is not said to its next session.
        const bool refused = reply && !reply->error.empty();
        if (!watch.expired() && refused && log_level_ == level) log_level_.clear();
        handler(std::move(reply));
    });
}

void Wishes::renew() {
    use_log_level();
    // The modern era names them when it listens.
    if (link_.modern() || !link_.session->can("resources", "subscribe")) return;
    for (const auto& uri : resources_)
        requests_.ask(subscription(uri, true), server_.request_timeout, [](const auto&) {});
}

void Wishes::use_log_level() {
    link_.meta = link_.modern() ? protocol::modern_meta(terms_.identity) : std::string();
    if (log_level_.empty()) return;
    if (link_.modern()) {
        link_.meta = protocol::joined(
            link_.meta, "\"io.modelcontextprotocol/logLevel\":" + protocol::quoted(log_level_));
    } else if (link_.session->can("logging")) {
        requests_.ask(log_level(log_level_), server_.request_timeout, [](const auto&) {});
    }
}

}  // namespace patchbay::connection
