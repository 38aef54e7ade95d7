#include "connection/attempt.hpp"

#include "core/json.hpp"

namespace patchbay::connection {

using Retry = Supervisor::Retry;

Attempt::Attempt(const Context& context, const registry::ServerSpec& spec,
                 const std::shared_ptr<Starts>& starts, Credentials& credentials,
                 AttemptOwner& owner)
    : context_(context),
      spec_(spec),
      starts_(starts),
      credentials_(credentials),
      owner_(owner),
      limit_(context.loop) {}

void Attempt::go() {
    auto* queue = spec_.local() ? context_.local_starts : context_.remote_starts;
    if (!queue || (place_ && place_->taken())) return open();
    place_ = queue->enter(
        [this, failed = starts_->failed] {
            starts_->failed == failed ? open() : owner_.on_failed_beside();
        },
        starts_);
    if (place_->taken()) return open();
    owner_.on_queued();
}

void Attempt::open() {
    way_ = std::make_unique<Way>();
    owner_.on_opening();
    context_.expander.expand(spec_.config, way_->lifetime.guard([this](Result<Expanded> outcome) {
        if (!outcome) return owner_.on_attempt_failed(outcome.error(), Retry::Useless);
        expanded(std::move(*outcome));
    }));
}

void Attempt::expanded(Expanded expanded) {
    if (auto token = credentials_.use(std::move(expanded.auth)); !token)
        return owner_.on_attempt_failed(token.error(), Retry::Useless);
    if (!credentials_.wanted_ahead()) return load(std::move(expanded.settings));
    way_->step = Step::AskingAhead;
    const std::string url(core::text_in(&expanded.settings, "url").value_or(""));
    credentials_.auth().ask_ahead(
        url, way_->lifetime.guard([this, settings = std::move(expanded.settings)](
                                      const Result<void>& outcome) {
            // Nobody has signed in: the server may let us in all the same.
            if (outcome || outcome.error().code == ErrorCode::AuthRequired) return load(settings);
            owner_.on_attempt_failed(credentials_.of_table(outcome.error()), Retry::Useless);
        }));
}

// The limit of the start counts from here: a library may lie on a disk that does not answer.
void Attempt::load(boost::json::object settings) {
    begin_limit();
    way_->step = Step::Loading;
    auto loaded =
        way_->lifetime.guard([this, settings = std::move(settings)](const Result<void>& outcome) {
            if (!outcome) return owner_.on_attempt_failed(outcome.error(), Retry::Useless);
            auto free = settings;
            way_.reset();
            owner_.on_way_free(std::move(free));
        });
    context_.transports.prepare(owner_.transport(), std::move(loaded));
}

void Attempt::begin_limit() {
    limit_.start(spec_.config.startup_timeout, [this] { owner_.on_start_expired(); });
}

void Attempt::keep_limit() {
    if (!limit_.running()) begin_limit();
}

void Attempt::wait_for_person() {
    limit_.stop();
    place_.reset();
}

bool Attempt::begin_otherwise() {
    if (begins_otherwise()) return false;
    handshake_ = Handshake::Otherwise;
    return true;
}

}  // namespace patchbay::connection
