// What connections ask of the rooms above them, when a test has nothing to say about it.
#pragma once

#include "connection/context.hpp"

#include <functional>
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
    std::optional<std::string> variable(const std::string&) const override { return {}; }
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
