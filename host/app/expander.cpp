#include "app/expander.hpp"

#include "config/secret_names.hpp"
#include "config/secret_values.hpp"

#include <memory>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using connection::Expanded;

namespace {

// Secrets fetched at once: as many servers as may wait for a slow one before it delays the next.
constexpr unsigned kWaitingThreads = 4;

void mask(const json::object& settings, core::Secrets& values) {
    for (const auto& value : config::secret_values(settings)) values.add(value);
}

// Variables that a child inherits by name, as if they stood in its `env`. Who names one to be handed on
// need not have called it a secret, so only what says what it is may be read.
void mask_passed(const json::object& settings, const config::Environment& environment,
                 core::Secrets& values) {
    const auto* names = settings.if_contains("pass_env");
    if (!names || !names->is_array() || !environment.variable) return;
    json::object passed;
    for (const auto& name : names->get_array()) {
        if (!name.is_string()) continue;
        const std::string text(name.get_string());
        const auto value = environment.variable(text);
        if (!value) continue;
        if (!config::says_what_it_is(text) || config::looks_like_a_token(*value))
            values.add(*value);
        passed[text] = *value;
    }
    mask({{"env", std::move(passed)}}, values);
}

}  // namespace

Expander::Expander(core::Loop& loop, const config::Environment& environment, const ServerAuth& auth)
    : environment_(environment), auth_(auth), waiting_(loop, kWaitingThreads) {}

void Expander::expand(const config::Server& server, Then then) {
    expand(server,
           auth_.choice(server) ? auth_.method_of(server)
                                : Result<connection::AuthMethod>(connection::AuthMethod{}),
           std::move(then));
}

// A child may print what it is given, a server send back what it is sent.
void Expander::expand(const config::Server& server, const Result<connection::AuthMethod>& method,
                      Then then) {
    const bool waits = (server.expand && config::expansion_waits(server.settings)) ||
                       (method && config::expansion_waits(method->settings));
    const auto values = std::make_shared<core::Secrets>();
    auto environment = environment_;
    environment.secrets = values.get();
    auto work = [server, speaker = auth_.spoken_by_its_table(server), method, values,
                 environment](const std::stop_token& stop) {
        auto settings = config::expand(server, environment, stop);
        if (!settings) return Result<Expanded>(settings.error());
        mask(*settings, *values);
        mask_passed(*settings, environment, *values);
        Expanded expanded{std::move(*settings), method};
        if (!method) return Result<Expanded>(std::move(expanded));
        auto own = config::expand_auth(speaker, method->settings, environment, stop);
        if (own) {
            mask(*own, *values);
            expanded.auth->settings = std::move(*own);
        } else {
            expanded.auth = own.error();
        }
        return Result<Expanded>(std::move(expanded));
    };
    auto told = [this, id = server.id, values, then = std::move(then)](Result<Expanded> outcome) {
        masked_[id] = std::move(*values);
        then(std::move(outcome));
    };
    if (!waits) return told(work({}));
    waiting_.run(std::move(work), std::move(told));
}

}  // namespace patchbay::app
