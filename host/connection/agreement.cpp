#include "connection/agreement.hpp"

#include "core/text.hpp"

#include <chrono>
#include <set>
#include <string>
#include <utility>

namespace patchbay::connection {

namespace {

std::set<std::string> others_of(const protocol::Session& session) {
    std::set<std::string> others;
    for (const auto list : catalogue::kLists)
        if (list != catalogue::List::Tools && session.can(catalogue::capability_of(list)))
            others.insert(catalogue::capability_of(list));
    return others;
}

}  // namespace

Agreement::Live::Live(const Context& context, Dialogue& dialogue, Loss& loss)
    : listen(context.loop, context.terms, dialogue.requests) {
    if (context.terms.long_lived)
        health.emplace(context.loop, context.terms, dialogue.link, dialogue.requests, loss);
}

void Agreement::begin_live() {
    live_.emplace(context_, parts_.dialogue, parts_.loss);
}

void Agreement::end() {
    live_.reset();
    parts_.dialogue.sandbox.end_session();
    parts_.dialogue.tools.end_session();  // what its page brings is not a list
}

void Agreement::heard() {
    if (live_ && live_->health) live_->health->heard();
}

bool Agreement::check(std::function<void()> answered) {
    if (!live_ || !live_->health || !parts_.dialogue.link.request_scoped()) return false;
    live_->health->check(std::move(answered));
    return true;
}

void Agreement::listen() {
    if (live_)
        live_->listen.open(*parts_.dialogue.link.session, parts_.dialogue.wishes.resources());
}

void Agreement::on_agreed(protocol::Session session) {
    auto& said = parts_.dialogue;
    auto& link = said.link;
    auto& choice = parts_.choice;
    // The server has settled on the other era after all: its tools are listed anew.
    if (link.session && live_) live_->listen.close("the revision changes");
    link.session = std::move(session);
    ++link.generation;
    choice.session_agreed();
    said.credentials.agreed();
    const auto& agreed = choice.agreed();
    context_.eras.remember(
        parts_.spec.definition_key, parts_.era,
        {link.session->version, agreed == parts_.spec.config.transport ? "" : agreed});
    link.meta.clear();
    if (link.legacy()) said.requests.delivery().notify("notifications/initialized", {});
    said.wishes.renew();
    said.sandbox.begin_session();
    const bool has_tools = link.session->can("tools");
    said.tools.begin_session(has_tools ? ToolList::Offered::Tools : ToolList::Offered::Nothing,
                             link.session->instructions, others_of(*link.session));
    if (!has_tools) ready_when_told();
}

// A call that is sent before the server has taken up the sandbox state might not be under it.
void Agreement::ready_when_told() {
    parts_.dialogue.sandbox.when_told([this] {
        if (!live_) parts_.owner.on_ready();
    });
}

void Agreement::on_handshake_refused(const std::string& method, const plugin::Problem* problem) {
    if (problem)
        parts_.course.pass([problem](Supervisor& supervisor) {
            supervisor.server_asks_for(std::chrono::milliseconds(problem->retry_after_ms));
        });
    if (method == "initialize")
        parts_.choice.initialize_refused(problem ? problem->http_status : 0);
}

void Agreement::on_handshake_failed(Error error) {
    parts_.loss.lose({error.code, parts_.dialogue.reception.with_stderr(std::move(error.message))});
}

bool Agreement::mirrors_arguments() const {
    const auto& link = parts_.dialogue.link;
    return link.takes_headers() && link.modern();
}

void Agreement::on_listed(std::shared_ptr<const catalogue::Listing> listing) {
    // What another definition lists now is not to be replaced by this one's.
    const bool current =
        !parts_.dialogue.requests.pending().draining() && !parts_.course.supervisor().is_closing();
    if (context_.catalogue && current)
        context_.catalogue->publish(parts_.name.id(), std::move(listing));
}

void Agreement::on_tools_changed(const Result<void>& outcome) {
    if (!outcome) parts_.course.note(core::printable(outcome.error().message, 1000));
    context_.events.on_tools_changed(parts_.name.id());
}

void Agreement::on_tools_read() {
    ready_when_told();
}

// A server whose first list does not come is of no use yet, and comes back as one that was lost; one
// that is ready keeps the tools it has.
bool Agreement::on_list_unanswered(const Error& error) {
    if (live_) return false;
    auto told = error;
    if (told.message.find("tools/list") == std::string::npos)
        told.message.insert(parts_.name.length_in(told.message), "tools/list failed: ");
    told.message = parts_.dialogue.reception.with_stderr(std::move(told.message));
    parts_.loss.lose(std::move(told));
    return true;
}

}  // namespace patchbay::connection
