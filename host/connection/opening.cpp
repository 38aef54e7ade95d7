#include "connection/opening.hpp"

#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

#include <utility>

namespace patchbay::connection {

using namespace std::string_literals;
using Phase = Supervisor::Phase;
using Retry = Supervisor::Retry;

Opening::Opening(const Context& context, const Parts& parts)
    : context_(context), parts_(parts), back_off_(context.loop) {}

void Opening::begin() {
    back_off_.stop();
    const bool has_old = parts_.spec.config.transport == "http" &&
                         context_.transports.has(TransportChoice::kOldTransport);
    parts_.choice.begin(known(), has_old);
    attempt_anew().go();
}

KnownEra Opening::known() const {
    return known_era(context_.eras, parts_.spec.definition_key, parts_.era);
}

void Opening::begin_after(std::chrono::milliseconds pause) {
    back_off_.start(pause, [this, failed = parts_.course.starts()->failed] {
        parts_.course.starts()->failed == failed ? begin() : on_failed_beside();
    });
}

void Opening::end() {
    back_off_.stop();
    attempt_.reset();
}

void Opening::end_limit() {
    if (attempt_) attempt_->end_limit();
}

Attempt& Opening::attempt_anew() {
    return attempt_.emplace(context_, parts_.spec, parts_.course.starts(),
                            parts_.dialogue.credentials, *this);
}

void Opening::on_queued() {
    parts_.course.pass(&Supervisor::queue);
}

void Opening::on_opening() {
    parts_.course.pass(&Supervisor::attempt);
    parts_.choice.opening();
    parts_.dialogue.begin_channel();
}

void Opening::on_way_free(boost::json::object settings) {
    auto& said = parts_.dialogue;
    const auto& choice = parts_.choice;
    auto remembered = choice.remembered_version(known());
    auto guess = parts_.era;
    if (attempt_->begins_otherwise()) {
        if (remembered.empty() && guess == protocol::Era::Legacy)
            guess = protocol::Era::Modern;
        else
            remembered = protocol::kLegacyVersion;
    }
    said.greeting.prepare(remembered, guess);
    context_.events.on_start(parts_.name.id());
    plugin::ChannelOptions options{parts_.name.id(), std::move(settings), said.credentials.all(),
                                   context_.terms.limits.message_bytes, said.credentials.signer()};
    auto opened = context_.transports.open(choice.current(), std::move(options), said.reception);
    if (opened) {
        said.link.channel = std::move(*opened);
        return;
    }
    const auto code = opened.error().code;
    const bool passing =
        code == ErrorCode::Io || code == ErrorCode::Timeout || code == ErrorCode::Unavailable;
    on_attempt_failed(opened.error(), passing ? Retry::Worthwhile : Retry::Useless);
}

namespace {

// Where nothing came that could say more.
std::string what_to_look_at(const registry::ServerSpec& spec) {
    const auto& settings = spec.config.settings;
    const auto url = core::text_in(&settings, "url").value_or("");
    // A query may hold a secret.
    const auto who = url.empty() ? "this" : core::printable(url.substr(0, url.find('?')), 200);
    return "; is " + who + " an MCP server? " +
           (settings.contains("command") ? "Run its command by hand" : "Ask whoever runs it") +
           ", or raise that time";
}

}  // namespace

void Opening::on_start_expired() {
    const auto& link = parts_.dialogue.link;
    const auto& reception = parts_.dialogue.reception;
    const auto& server = parts_.spec.config;
    if (parts_.course.supervisor().phase() == Phase::MovingOn)
        return parts_.owner.on_stuck(link.lost->why);  // all there is to say
    const auto* trouble = reception.trouble();
    const char* what = link.session             ? "tools/list was not answered to its end"
                       : attempt_->is_loading() ? "the plugin was not loaded"
                       : trouble                ? "not connected"
                                                : "no answer to the handshake";
    const bool silent = link.session || !link.handshake || link.handshake->unreadable().empty();
    const std::string why =
        trouble  ? ": " + *trouble
        : silent ? (link.session || attempt_->is_loading() ? "" : what_to_look_at(parts_.spec))
                 : "; " + link.handshake->unreadable();
    parts_.loss.lose(
        {ErrorCode::Timeout,
         reception.with_output(what + " within "s + core::duration(server.startup_timeout) + " (" +
                               server.startup_timeout_from + ")" + why)});
}

// False: this failure is the last word.
bool Opening::next_transport(Error& error) {
    if (parts_.course.supervisor().is_closing() || !parts_.choice.next(error)) return false;
    attempt_->begin_as_usual();
    return true;
}

bool Opening::move_on(Error& error) {
    if (!next_transport(error)) return false;
    auto& link = parts_.dialogue.link;
    link.lost = Lost{error};
    parts_.course.pass(&Supervisor::move_on);
    attempt_->keep_limit();
    fail_started(error);    // of the handshake
    link.channel->close();  // go_on() is what follows
    return true;
}

void Opening::on_attempt_failed(Error error, Retry retry) {
    if (!next_transport(error)) return parts_.owner.on_failed(std::move(error), retry);
    fail_started(error);
    attempt_->end_limit();
    attempt_->go();
}

void Opening::on_failed_beside() {
    const auto failure = parts_.course.starts()->last;
    parts_.owner.on_failed(failure.why, failure.retry);
}

bool Opening::go_on(const Error& why, const plugin::Problem* problem, bool was_guessing) {
    if (parts_.course.supervisor().phase() == Phase::MovingOn) {
        attempt_->go();
        return true;
    }
    if (problem && problem->error.code == ErrorCode::AuthRequired && reopen_authorized(*problem)) {
        fail_started(why);
        return true;
    }
    if (!was_guessing || parts_.spec.config.protocol != "auto" || !attempt_->begin_otherwise())
        return false;
    // The handshake itself; what waits for Ready goes on waiting.
    fail_started(why);
    attempt_->go();
    return true;
}

// The channel itself was refused: it is opened again with what is granted.
bool Opening::reopen_authorized(const plugin::Problem& problem) {
    auto& credentials = parts_.dialogue.credentials;
    if (!credentials.try_channel_again()) return false;
    parts_.course.pass(&Supervisor::renew);
    if (!attempt_) attempt_anew();
    attempt_->wait_for_person();
    credentials.auth().ask(problem, attempt_->guard([this, problem](const Result<void>& outcome) {
        if (outcome) return attempt_->go();
        parts_.owner.on_failed(parts_.dialogue.credentials.error(problem, outcome.error()),
                               Retry::Useless);
    }));
    return true;
}

void Opening::renew_session() {
    auto& said = parts_.dialogue;
    core::log::debug("server \"" + parts_.name.id() + "\" forgot its session; a new one is begun");
    parts_.agreement.end();
    const std::string version = said.link.session->version;
    said.link.session.reset();
    said.questions.clear();  // of the old session
    parts_.course.pass(&Supervisor::renew);
    attempt_anew().begin_limit();
    said.greeting.prepare(version, parts_.era);
    said.greeting.start();
}

void Opening::on_asking() {
    if (attempt_) attempt_->wait_for_person();
}

void Opening::on_asked() {
    if (attempt_) attempt_->keep_limit();
}

// What a server may have, or refused: nothing of it reaches the next channel.
void Opening::fail_started(const Error& error) {
    parts_.dialogue.requests.fail_all(parts_.name.named(error), Requests::Which::Started);
}

}  // namespace patchbay::connection
