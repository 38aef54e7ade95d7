#include "net/task.hpp"

#include "net/engine.hpp"
#include "net/redirect.hpp"

#include <utility>

namespace patchbay::net {

Task::Task(Url its_url) : url(std::move(its_url)) {}
Task::~Task() = default;

bool Task::sent() const {
    return sent_before_ || (line_ && line_->connection.sent());
}

void Task::vouch() {
    engine_->vouch(unproven());
}

void Task::redirect(const Head& head) {
    sent_before_ = true;  // who redirects has read it, whatever becomes of the next one
    if (++redirects_ > kRedirects)
        throw Trouble(PATCHBAY_E_PROTOCOL, "more than " + std::to_string(kRedirects) +
                                               " redirects, the last one from " +
                                               url.without_query());
    const auto next = redirect_target(url, request.method, head, leaves_origin);
    crossed_ = crossed_ || !url.leads_home(next);
    url = next;
}

}  // namespace patchbay::net
