// What connections ask of the rooms above them, when a test has nothing to say about it.
#pragma once

#include "connection/caller.hpp"
#include "connection/context.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace patchbay::test {

struct PlainExpander final : connection::SettingsExpander {
    void expand(const config::Server& server, Then then) override {
        then(connection::Expanded{server.settings});
    }
};

struct NoCredentials final : connection::CredentialSource {
    std::optional<connection::AuthChoice> choice(const config::Server&) const override {
        return {};
    }
    void prepare(const connection::AuthMethod&, connection::Prepared ready) override { ready({}); }
    Result<std::unique_ptr<plugin::Authenticator>> authenticator(
        const config::Server&, const connection::AuthMethod&, std::shared_ptr<plugin::Signer>,
        plugin::AuthenticatorEvents&) override {
        return Error{ErrorCode::Internal, "nobody signs in"};
    }
    std::optional<std::string> variable(const std::string&) const override { return token; }
    std::optional<std::string> token;  // that any variable holds
};

// Forgets, unless the test wants it to remember.
struct FakeEras final : connection::EraMemory {
    bool remembers = false;
    std::map<std::pair<std::string, protocol::Era>, connection::KnownEra> known;
    connection::KnownEra find(const std::string& key, protocol::Era preferred) override {
        const auto found = known.find({key, preferred});
        return found == known.end() ? connection::KnownEra{} : found->second;
    }
    void remember(const std::string& key, protocol::Era preferred,
                  const connection::KnownEra& era) override {
        if (remembers) known[{key, preferred}] = era;
    }
};

class NoEvents : public connection::ServerEvents {
    void on_output(const std::string&, bool, std::string_view) override {}
    void on_state(const std::string&, connection::State) override {}
    void on_start(const std::string&) override {}
    void on_tools_changed(const std::string&) override {}
};

// What a pool of connections borrows, all of the above, for a fixture that is what hears of servers.
class PoolParts : protected NoEvents {
protected:
    connection::Context context(core::Loop& loop, connection::TransportSource& transports,
                                connection::Terms terms) {
        terms.identity = {{{"name", "t"}}, {}};
        return {.loop = loop,
                .events = *this,
                .callers = callers,
                .eras = eras,
                .expander = expander,
                .transports = transports,
                .credentials = credentials,
                .terms = std::move(terms)};
    }
    connection::Callers callers;
    FakeEras eras;
    PlainExpander expander;
    NoCredentials credentials;
};

// Opens what the test's function gives.
struct FakeTransports final : connection::TransportSource {
    using Open = std::function<Result<std::unique_ptr<plugin::Channel>>(
        const plugin::ChannelOptions& options, plugin::ChannelEvents& events)>;
    explicit FakeTransports(Open to_open) : give(std::move(to_open)) {}
    bool has(const std::string&) const override { return false; }
    void prepare(const std::string&, connection::Prepared ready) override { ready({}); }
    Result<std::unique_ptr<plugin::Channel>> open(const std::string&,
                                                  plugin::ChannelOptions options,
                                                  plugin::ChannelEvents& events) override {
        return give(options, events);
    }
    Open give;
};

}  // namespace patchbay::test
