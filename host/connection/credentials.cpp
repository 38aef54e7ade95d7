#include "connection/credentials.hpp"

#include "config/own_credentials.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::connection {

namespace {

constexpr std::chrono::seconds kForgiven{60};

// A line break in it would begin a header of somebody else's choice.
bool fits_a_header(const std::string& value) {
    return !value.empty() && std::all_of(value.begin(), value.end(),
                                         [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

Credentials::Credentials(const Context& context, const config::Server& server, Link& link)
    : context_(context),
      server_(server),
      choice_(context.credentials.choice(server)),
      auth_(context.loop, maker(), context.terms.asking, [this, &link] {
          if (link.channel) link.channel->set_credentials(all());
      }) {}

// Empty: no auth is configured.
AuthLoop::Make Credentials::maker() {
    if (!choice_) return {};
    return [this](plugin::AuthenticatorEvents& events, AuthLoop::Made made) {
        const auto told = [this, made](Result<std::unique_ptr<plugin::Authenticator>> outcome) {
            if (outcome) return made(std::move(outcome));
            made(within(choice_->name, outcome.error()));
        };
        if (!method_) return told(method_.error());
        context_.credentials.prepare(
            *method_,
            lifetime_.guard([this, told, &events, method = *method_](const Result<void>& ready) {
                if (closing_)
                    return told(Error{ErrorCode::Unavailable, "the connection is closed"});
                if (!ready) return told(ready.error());
                told(context_.credentials.authenticator(server_, method, signer_, events));
            }));
    };
}

Result<void> Credentials::use(Result<AuthMethod> method) {
    method_ = std::move(method);
    bearer_.clear();
    const auto& name = server_.bearer_token_env_var;
    if (name.empty()) return {};
    const auto token = context_.credentials.variable(name);
    const auto& written = server_.place;
    if (!token)
        return Error{ErrorCode::Invalid,
                     "the variable " + core::printable(name, 80) + " (bearer_token_env_var" +
                         (written.file.empty() ? "" : " of " + config::to_string(written)) +
                         ") is not set"};
    if (!fits_a_header(*token))
        return Error{ErrorCode::Invalid, "the variable " + core::printable(name, 80) +
                                             " (bearer_token_env_var) holds no token: it is empty "
                                             "or has characters that no header can carry"};
    secrets_.add(*token);
    bearer_.push_back({"Authorization", "Bearer " + *token, true});
    return {};
}

bool Credentials::wanted_ahead() const {
    return choice_ && choice_->ahead && auth_.credentials().empty();
}

// What the auth method granted is stronger than the token from the environment.
std::vector<plugin::Header> Credentials::all() const {
    auto all = auth_.credentials();
    const bool granted = std::any_of(all.begin(), all.end(), [&](const auto& header) {
        return core::lower(header.name) == "authorization";
    });
    if (!granted) all.insert(all.end(), bearer_.begin(), bearer_.end());
    return all;
}

// A grant that is refused twice would be refused for ever, and each try may ask a person.
bool Credentials::try_channel_again() {
    if (!configured() || channel_rounds_ >= kMostRounds) return false;
    ++channel_rounds_;
    return true;
}

bool Credentials::try_stream_again() {
    const auto now = context_.loop.now();
    if (now - stream_refused_at_ >= kForgiven) stream_rounds_ = 0;
    stream_refused_at_ = now;
    if (stream_rounds_ >= kMostRounds) return false;
    ++stream_rounds_;
    return true;
}

Error Credentials::error(const plugin::Problem& problem,
                         const std::optional<Error>& refused) const {
    std::string text = problem.error.message;
    if (problem.http_status && text.find(std::to_string(problem.http_status)) == std::string::npos)
        text = "HTTP " + std::to_string(problem.http_status) + ": " + text;
    const auto url = problem.url.substr(0, problem.url.find('?'));  // a query may hold a secret
    if (!url.empty() && text.find(url) == std::string::npos) text += " (" + url + ")";
    if (refused) return {ErrorCode::AuthRequired, text + "; " + of_table(*refused).message};
    if (configured())
        return {ErrorCode::AuthRequired, text + "; " + choice_->name +
                                             " gave credentials that were refused " +
                                             std::to_string(kMostRounds) + " times"};
    const auto at = server_.place.file.empty() ? "" : " (" + config::to_string(server_.place) + ")";
    if (!bearer_.empty())
        text +=
            "; the token in " + server_.bearer_token_env_var + " is not accepted, give another one";
    else if (config::writes_authorization(server_.settings))
        text += "; the Authorization in its headers" + at + " is not accepted, give another one";
    else if (server_.auth == "none")
        text += "; auth = \"none\"" + at + " forbids a sign-in";
    else
        text += "; set auth or bearer_token_env_var for this server";
    return {ErrorCode::AuthRequired, std::move(text)};
}

Error Credentials::of_table(Error error) const {
    if (server_.auth.empty() || !choice_ || error.message.starts_with(choice_->name)) return error;
    return within(choice_->name, error);
}

void Credentials::close(std::function<void()> closed) {
    closing_ = true;
    auth_.close(std::move(closed));
}

}  // namespace patchbay::connection
