#include "connection/wishes.hpp"

#include "protocol/compose.hpp"
#include "protocol/log_levels.hpp"

#include <utility>

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

std::string meta_with(const std::string& meta, const std::string& level) {
    if (level.empty()) return meta;
    return protocol::joined(meta,
                            "\"io.modelcontextprotocol/logLevel\":" + protocol::quoted(level));
}

bool tells_more(const std::string& level, const std::string& than) {
    return than.empty() || protocol::log_severity(level) < protocol::log_severity(than);
}

// "file:///a/b" of "file:///a" or "file:///a/": a server may tell of a part of what is held. A scheme
// alone is no whole: everything would be a part of it.
bool is_part_of(std::string_view uri, std::string_view held) {
    const auto scheme = held.find("://");
    if (scheme == std::string_view::npos ||
        held.find_first_not_of(":/", scheme) == std::string_view::npos ||
        uri.size() <= held.size() || !uri.starts_with(held))
        return false;
    return held.back() == '/' || uri[held.size()] == '/';
}

}  // namespace

Wishes::Wishes(core::Loop& loop, const Terms& terms, const protocol::ClientIdentity& identity,
               const config::Server& server, Link& link, OwnRequests& requests, WishesOwner& owner)
    : loop_(loop),
      terms_(terms),
      identity_(identity),
      server_(server),
      link_(link),
      requests_(requests),
      owner_(owner) {}

// With what a legacy server would have answered to a request that it need not be asked.
void Wishes::confirm(ReplyHandler handler) {
    loop_.defer([handler = std::move(handler)] {
        Reply reply;
        reply.message = core::Buffer::from("{}");
        reply.result = reply.message.view();
        handler(std::move(reply));
    });
}

std::set<std::string> Wishes::resources() const {
    std::set<std::string> uris;
    for (const auto& [uri, subscription] : resources_) uris.insert(uri);
    return uris;
}

std::vector<CallerNumber> Wishes::holders_of(std::string_view uri) const {
    std::set<CallerNumber> holders;
    for (const auto& [held, subscription] : resources_)
        if (held == uri || is_part_of(uri, held))
            holders.insert(subscription.holders.begin(), subscription.holders.end());
    return {holders.begin(), holders.end()};
}

std::vector<CallerNumber> Wishes::admitting(std::string_view level) const {
    const auto severity = protocol::log_severity(level).value_or(protocol::kLogLevels.size());
    std::set<CallerNumber> callers;
    const auto admit = [&](const auto& levels) {
        for (const auto& [caller, own] : levels)
            if (protocol::log_severity(own).value_or(0) <= severity) callers.insert(caller);
    };
    admit(levels_);
    if (!link_.modern()) admit(request_levels_);
    return {callers.begin(), callers.end()};
}

std::optional<std::size_t> Wishes::least_severity(CallerNumber caller,
                                                  const Request& request) const {
    if (!request.log_level.empty()) return protocol::log_severity(request.log_level);
    const auto own = levels_.find(caller);
    return own == levels_.end() ? std::nullopt : protocol::log_severity(own->second);
}

// Each URI is kept, and said again to every session.
std::optional<Error> Wishes::excess(CallerNumber caller, const std::string& uri) const {
    if (uri.size() > core::kMostUriBytes)
        return Error{ErrorCode::Limit, "a URI of " + std::to_string(uri.size()) +
                                           " bytes cannot be subscribed to (limit " +
                                           std::to_string(core::kMostUriBytes) + ")"};
    const auto count = held_.find(caller);
    const auto found = resources_.find(uri);
    const bool holds = found != resources_.end() && found->second.holders.contains(caller);
    if (holds || count == held_.end() || count->second < terms_.limits.subscriptions) return {};
    return Error{ErrorCode::Limit,
                 std::to_string(count->second) +
                     " resources are subscribed to already (limit subscriptions)"};
}

// Once for all that a turn of the loop brings: the stream names each URI anew.
void Wishes::listen_anew() {
    if (std::exchange(listening_anew_, true)) return;
    loop_.defer(lifetime_.guard([this] {
        listening_anew_ = false;
        owner_.on_resources_wanted();
    }));
}

void Wishes::subscribe(CallerNumber caller, const std::string& uri, bool wanted,
                       ReplyHandler handler) {
    if (auto over = wanted ? excess(caller, uri) : std::nullopt)
        return loop_.defer(
            [handler = std::move(handler), error = std::move(*over)] { handler(error); });
    if (!link_.modern()) {
        wanted ? subscribe_by_request(caller, uri, std::move(handler))
               : unsubscribe_by_request(caller, uri, std::move(handler));
        return;
    }
    const bool before = resources_.contains(uri);
    if (wanted) {
        hold(caller, uri);
        note_taken(uri);
    } else {
        let_go(caller, uri);
    }
    if (resources_.contains(uri) != before) listen_anew();
    confirm(std::move(handler));
}

// Held from now on, not from the answer on: whoever lets go of it meanwhile does not end it at the
// server, where it is subscribed to once for all.
void Wishes::subscribe_by_request(CallerNumber caller, const std::string& uri,
                                  ReplyHandler handler) {
    const bool new_holder = hold(caller, uri);
    if (resources_[uri].taken && new_holder) return confirm(std::move(handler));
    owner_.request(caller, subscription(uri, true),
                   [this, watch = lifetime_.watch(), caller, uri, new_holder,
                    handler = std::move(handler)](Result<Reply> reply) {
                       const bool took = reply && reply->error.empty();
                       // For the next session, which knows nothing of this one's.
                       if (!watch.expired() && took) note_taken(uri);
                       if (!watch.expired() && !took && new_holder) let_go(caller, uri);
                       handler(std::move(reply));
                   });
}

void Wishes::unsubscribe_by_request(CallerNumber caller, const std::string& uri,
                                    ReplyHandler handler) {
    const auto found = resources_.find(uri);
    const bool held =
        found != resources_.end() && found->second.taken && found->second.holders.contains(caller);
    let_go(caller, uri);
    if (resources_.contains(uri)) return confirm(std::move(handler));  // others hold it
    owner_.request(caller, subscription(uri, false),
                   [this, watch = lifetime_.watch(), caller, uri, held,
                    handler = std::move(handler)](Result<Reply> reply) {
                       const bool ended = reply && reply->error.empty();
                       if (!watch.expired() && held && !ended) {  // so it goes on
                           hold(caller, uri);
                           note_taken(uri);
                       }
                       handler(std::move(reply));
                   });
}

void Wishes::note_taken(const std::string& uri) {
    const auto found = resources_.find(uri);
    if (found != resources_.end()) found->second.taken = true;
}

// False: it did so before.
bool Wishes::hold(CallerNumber caller, const std::string& uri) {
    const bool added = resources_[uri].holders.insert(caller).second;
    if (added) ++held_[caller];
    return added;
}

void Wishes::let_go(CallerNumber caller, const std::string& uri) {
    const auto found = resources_.find(uri);
    if (found == resources_.end()) return;
    if (found->second.holders.erase(caller) != 0 && --held_[caller] == 0) held_.erase(caller);
    if (found->second.holders.empty()) resources_.erase(found);
}

void Wishes::set_log_level(CallerNumber caller, const std::string& level, ReplyHandler handler) {
    const auto before = levels_.find(caller);
    const std::string former = before == levels_.end() ? "" : before->second;
    levels_[caller] = level;
    if (link_.modern()) {
        use_log_levels();
        return confirm(std::move(handler));
    }
    owner_.request(caller, log_level(strongest_level()),
                   [this, watch = lifetime_.watch(), caller, level, former,
                    handler = std::move(handler)](Result<Reply> reply) {
                       // What this server does not take is not said to its next session.
                       const bool refused = reply && !reply->error.empty();
                       if (!watch.expired() && refused) take_back_level(caller, level, former);
                       handler(std::move(reply));
                   });
}

// Before the request, which does not wait for it: over one stream the server reads it first.
void Wishes::on_request_of_level(CallerNumber caller, const std::string& level) {
    auto& most = request_levels_[caller];
    if (!tells_more(level, most)) return;
    const auto before = strongest_level();
    most = level;
    if (link_.legacy() && link_.in_use() && strongest_level() != before) use_log_levels();
}

// Unless it has said another one meanwhile, or has gone.
void Wishes::take_back_level(CallerNumber caller, const std::string& refused,
                             const std::string& former) {
    const auto now = levels_.find(caller);
    if (now == levels_.end() || now->second != refused) return;
    if (former.empty())
        levels_.erase(now);
    else
        now->second = former;
}

void Wishes::release(CallerNumber caller) {
    std::vector<std::string> uris;
    for (const auto& [uri, subscription] : resources_)
        if (subscription.holders.contains(caller)) uris.push_back(uri);
    bool fewer = false;
    for (const auto& uri : uris) {
        let_go(caller, uri);
        if (resources_.contains(uri)) continue;
        fewer = true;
        if (link_.legacy() && link_.in_use())
            requests_.ask(subscription(uri, false), server_.request_timeout, [](const auto&) {});
    }
    if (fewer && link_.modern()) listen_anew();
    const auto strongest = strongest_level();
    const bool had_any = levels_.erase(caller) + request_levels_.erase(caller) != 0;
    if (!had_any || !link_.session || !link_.in_use()) return;
    // To say nothing at all cannot be said: the last one's level stays the server's.
    if (link_.modern() || strongest_level() != strongest) use_log_levels();
}

void Wishes::take_over(CallerNumber caller, const Wishes& from) {
    for (const auto& [uri, subscription] : from.resources_) {
        if (!subscription.holders.contains(caller)) continue;
        hold(caller, uri);
        if (subscription.taken) note_taken(uri);
    }
    if (const auto level = from.levels_.find(caller); level != from.levels_.end())
        levels_[caller] = level->second;
    if (const auto level = from.request_levels_.find(caller); level != from.request_levels_.end())
        request_levels_[caller] = level->second;
    if (!link_.session || !link_.in_use()) return;  // which is told of all when it is there
    renew();
    if (link_.modern()) listen_anew();
}

void Wishes::renew() {
    use_log_levels();
    // The modern era names them when it listens.
    if (link_.modern() || !link_.session->can("resources", "subscribe")) return;
    for (const auto& [uri, subscribed] : resources_)
        if (subscribed.taken)
            requests_.ask(subscription(uri, true), server_.request_timeout, [](const auto&) {});
}

std::string Wishes::strongest_level() const {
    std::string strongest;
    const auto consider = [&](const auto& levels) {
        for (const auto& [caller, level] : levels)
            if (tells_more(level, strongest)) strongest = level;
    };
    consider(levels_);
    if (!link_.modern()) consider(request_levels_);
    return strongest;
}

// A modern request says how much its own caller wants to hear; those of the connection are
// everybody's.
void Wishes::use_log_levels() {
    const auto strongest = strongest_level();
    const auto meta = link_.modern() ? protocol::modern_meta(identity_) : std::string();
    link_.meta = meta;
    link_.meta_of.clear();
    link_.meta_of_others = meta;
    if (strongest.empty()) return;
    if (link_.modern()) {
        link_.meta = meta_with(meta, strongest);
        for (const auto& [caller, level] : levels_) link_.meta_of[caller] = meta_with(meta, level);
    } else if (link_.session->can("logging")) {
        requests_.ask(log_level(strongest), server_.request_timeout, [](const auto&) {});
    }
}

}  // namespace patchbay::connection
