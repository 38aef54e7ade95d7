#include "connection/dialogue.hpp"

#include <memory>

namespace patchbay::connection {

// They know of each other, so some are given what is made after them: none uses it before a message
// comes or goes.
Dialogue::Dialogue(const Context& context, const registry::ServerSpec& spec, const ServerName& name,
                   const protocol::ClientIdentity& identity, const Supervisor& supervisor,
                   const Owners& owners)
    : loop(context.loop),
      audience(context.callers),
      credentials(context, spec.config, link),
      requests(loop, context.terms,
               {spec.config, name, supervisor, credentials, tools, link, questions, owners.loss,
                context.resends}),
      tools(loop, context.terms, identity, name, spec.definition_key, requests, owners.tools),
      addressees(audience, link, requests.pending()),
      questions(context, name, link, requests, addressees, owners.loss),
      greeting(loop, context.terms, identity, spec.config, name, link, requests, owners.greeting,
               owners.loss),
      refusals({loop.time(), spec.config, name, supervisor, link, requests, credentials, tools,
                greeting, owners.refusals, owners.loss}),
      reception(context, {name, link, requests, questions, notifications, addressees, tools,
                          greeting, refusals, owners.reception, owners.loss}),
      wishes(loop, context.terms, identity, spec.config, link, requests, owners.wishes),
      sandbox(context, name, link, requests),
      notifications(context.terms.limits, {name, audience, link, addressees, wishes}) {}

void Dialogue::begin_channel() {
    reception.begin();
}

void Dialogue::end_channel() {
    greeting.stop();
    // The channel is still delivering this very event: it goes when that has returned.
    loop.defer([gone = std::shared_ptr<plugin::Channel>(link.end())] {});
    questions.clear();
    addressees.clear();
    requests.end_channel();
    reception.process_gone();
}

void Dialogue::release(CallerNumber caller) {
    audience.remove(caller);
    // What it asked first: to refuse what it was asked may end the connection, and all that is in it.
    requests.drop_all_of(caller);
    questions.release(caller);
    wishes.release(caller);
}

}  // namespace patchbay::connection
