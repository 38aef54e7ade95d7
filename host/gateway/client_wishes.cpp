#include "gateway/client_wishes.hpp"

#include "core/log.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"

namespace patchbay::gateway {
using service::Kind;

namespace {

std::optional<Error> why_not(const std::string& server, const Result<connection::Reply>& reply) {
    if (!reply) return reply.error();
    if (reply->error.empty()) return {};
    const auto told = protocol::parse_rpc_error(reply->error);
    return Error{ErrorCode::Unavailable,
                 "server \"" + server + "\" refuses" + (told ? ": " + told->message : "")};
}

}  // namespace

void ClientWishes::keep(std::function<void()> kept) {
    if (!keeper_) return kept();
    keeper_->keep(wishes_, std::move(kept));
}

void ClientWishes::set_level(const std::string& level, std::function<void()> kept) {
    wishes_.level = level;
    for (const auto& id : view_.servers(servers_.connections())) send_level(id);
    keep(std::move(kept));
}

void ClientWishes::add(const std::string& uri, std::function<void()> kept) {
    if (wishes_.uris.contains(uri)) return kept();
    if (uri_bytes_ + uri.size() > kMostUriBytes) {
        core::log::warn("a client subscribes to more than can be kept for its session (" +
                        std::to_string(kMostUriBytes) +
                        " bytes of URIs); the rest ends when the session is put away");
        return kept();
    }
    uri_bytes_ += uri.size();
    wishes_.uris.insert(uri);
    keep(std::move(kept));
}

void ClientWishes::remove(const std::string& uri, std::function<void()> kept) {
    missing_.erase(uri);
    if (wishes_.uris.erase(uri) == 0) return kept();
    uri_bytes_ -= uri.size();
    keep(std::move(kept));
}

void ClientWishes::restore(SessionWishes wishes) {
    wishes_ = std::move(wishes);
    missing_ = wishes_.uris;
    for (const auto& uri : missing_) uri_bytes_ += uri.size();
    for (const auto& id : view_.servers(servers_.connections()))
        if (!wishes_.level.empty()) send_level(id);
    for (const auto& uri : wishes_.uris) subscribe_again(uri);
}

// A server that is not there when it is looked for is asked when it comes.
void ClientWishes::subscribe_again(const std::string& uri) {
    subscribe(uri, [this, uri](const auto& why_not) {
        if (!why_not) missing_.erase(uri);
    });
}

void ClientWishes::on_joined(const std::string& server) {
    if (!wishes_.level.empty()) send_level(server);
    if (!arrival_.over()) return;  // then they are looked for
    for (const auto& uri : std::set<std::string>(missing_)) subscribe_again(uri);
}

// A server that is not there, or logs nothing, is told nothing; what it says to it is no answer to
// the client, who has asked nobody in particular.
void ClientWishes::send_level(const std::string& server) {
    const auto* held = servers_.connections().held(server, caller_.number());
    if (!held || !held->session() || !held->session()->can("logging")) return;
    servers_.router().request(
        caller_, {server, "logging/setLevel", {"\"level\":" + protocol::quoted(wishes_.level), {}}},
        [](const auto&) {});
}

void ClientWishes::subscribe(const std::string& uri, Taken done) {
    arrival_.when_over(
        [this, uri, done = std::move(done)] { say_to_owner("resources/subscribe", uri, done); });
}

void ClientWishes::unsubscribe(const std::string& uri) {
    say_to_owner("resources/unsubscribe", uri, [](const auto&) {});
}

// A client is told of what its stream leaves out; who set the rules reads here which one would allow it.
void ClientWishes::tell_why_not(const std::string& method, const Error& why) {
    const auto word = not_taken_.next();
    if (word == core::FirstFew::Word::Nothing) return;
    core::log::warn(word == core::FirstFew::Word::Tell
                        ? method + " for a client: " + why.message
                        : "more of what the client subscribes to is not taken");
}

// Asked by ourselves: no request of the client's waits for it.
void ClientWishes::say_to_owner(const std::string& method, const std::string& uri, Taken done) {
    const auto number = ++last_search_;
    auto search = offered_.find(
        Kind::Resources, uri, [this, number, method, done = std::move(done)](auto owner) {
            const auto ended = searches_.extract(number);
            if (!owner) return done(owner.error());
            servers_.router().request(
                caller_, {owner->server, method, {"\"uri\":" + protocol::quoted(owner->name), {}}},
                [this, method, server = owner->server, done](const auto& reply) {
                    if (!reply) tell_why_not(method, reply.error());
                    done(why_not(server, reply));
                });
        });
    if (search) searches_[number] = std::move(search);
}

}  // namespace patchbay::gateway
