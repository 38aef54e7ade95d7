#include "bearer.hpp"

#include <cstdlib>
#include <utility>

namespace patchbay::bearer {
namespace {

using Turn = transport::ChannelCore::Turn;

}  // namespace

std::unique_ptr<Bearer> Bearer::create(const patchbay_auth_params& params) {
    return std::unique_ptr<Bearer>(new Bearer(params));
}

Bearer::Bearer(const patchbay_auth_params& params)
    : sink_(params),
      config_(sdk::view(params.config)),
      command_(config_.strings("command")),
      core_(params.host, this),
      program_(core_, *this) {}

void Bearer::acquire(const patchbay_auth_request& request) {
    const Turn turn(core_);
    if (closing_) throw sdk::Failure(PATCHBAY_E_CLOSED, "it is closed");
    const bool refused = request.challenge != nullptr;
    if (command_.empty()) {
        if (refused && given_)
            throw sdk::Failure(PATCHBAY_E_AUTH, "the server does not accept " + source() +
                                                    "; `patchbay config show --origin` says where "
                                                    "that is written");
        auto credentials = configured();
        given_ = true;
        return sink_.acquired(request.operation, credentials);
    }
    if (refused) printed_.clear();
    if (!printed_.empty()) return grant(request.operation);
    program_.start(command_);
    operation_ = request.operation;
}

// What a person would have to change.
std::string Bearer::source() const {
    const auto variable = config_.text("bearer_token_env_var");
    if (!variable.empty())
        return "the token in the variable " + variable + " (bearer_token_env_var)";
    return config_.text("token").empty() ? "the configured headers" : "the configured token";
}

std::vector<sdk::Credential> Bearer::configured() const {
    std::vector<sdk::Credential> credentials;
    for (const auto& [name, value] : config_.object("headers"))
        credentials.push_back({name, value});
    auto token = config_.text("token");
    if (const auto variable = config_.text("bearer_token_env_var"); !variable.empty()) {
        const char* value = std::getenv(variable.c_str());
        if (!value || !*value)
            throw sdk::Failure(PATCHBAY_E_INVALID,
                               "the variable " + variable + " (bearer_token_env_var) is not set");
        token = value;
    }
    if (token.empty()) return credentials;
    if (const auto variable = config_.text("env"); !variable.empty()) {
        credentials.push_back({variable, token, PATCHBAY_KV_SECRET | PATCHBAY_KV_ENV});
        return credentials;
    }
    const auto scheme = config_.text("scheme", "Bearer");
    credentials.push_back(
        {config_.text("header", "Authorization"), scheme.empty() ? token : scheme + " " + token});
    return credentials;
}

// Never while closing: that stops the program, and what is stopped has failed.
void Bearer::headers_came(std::map<std::string, std::string> headers) {
    printed_.clear();
    for (auto& [name, value] : headers) printed_.push_back({name, std::move(value)});
    if (operation_) grant(std::exchange(operation_, 0));
}

// What was printed is the stronger.
void Bearer::grant(std::uint64_t operation) {
    try {
        auto credentials = configured();
        credentials.insert(credentials.end(), printed_.begin(), printed_.end());
        sink_.acquired(operation, credentials);
    } catch (const sdk::Failure& failure) {
        sink_.refused(operation, failure.code(), failure.what());
    }
}

void Bearer::command_failed(patchbay_status code, const std::string& why) {
    if (operation_) sink_.refused(std::exchange(operation_, 0), code, why);
    leave();
}

void Bearer::cancel(std::uint64_t operation) {
    const Turn turn(core_);
    if (operation == operation_ && operation_) program_.stop();
}

void Bearer::forget() {
    const Turn turn(core_);
    printed_.clear();
}

void Bearer::close() {
    const Turn turn(core_);
    if (std::exchange(closing_, true)) return;
    if (program_.running()) return program_.stop();
    // Refused only by a host that is closing itself: it ends what is open.
    static_cast<void>(core_.post(this, on_close_posted));
}

void Bearer::on_close_posted(void* self) noexcept {
    auto& bearer = *static_cast<Bearer*>(self);
    bearer.core_.enter("the close of an authenticator", [&bearer] {
        bearer.core_.arrived();
        bearer.leave();
    });
}

// Whoever waits for the command's headers is answered; the command, if it runs, is of no use any more.
void Bearer::broken(const std::string& why) {
    if (operation_) sink_.refused(std::exchange(operation_, 0), PATCHBAY_E_INTERNAL, why);
    if (program_.running()) return program_.stop();
    leave();
}

void Bearer::leave() {
    if (closing_) core_.finish([sink = sink_](const sdk::Sink&) { sink.closed(); });
}

}  // namespace patchbay::bearer
