#include "connection/caller.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::connection {

Caller::Caller(Callers& among, core::Principal principal, std::shared_ptr<const Sight> sight)
    : among_(&among),
      principal_(std::move(principal)),
      sight_(std::move(sight)),
      number_(among.join(*this)) {}

Caller::~Caller() {
    if (among_) among_->leave(*this);
}

Question Caller::approve(const Approvable&, Decide decide) {
    decide(Approval::NobodyThere);
    return {};
}

Callers::~Callers() {
    for (const auto& [number, caller] : there_) caller->among_ = nullptr;
}

Caller* Callers::find(CallerNumber number) const {
    const auto found = there_.find(number);
    return found == there_.end() ? nullptr : found->second;
}

std::vector<CallerNumber> Callers::numbers() const {
    std::vector<CallerNumber> numbers;
    numbers.reserve(there_.size());
    for (const auto& [number, caller] : there_) numbers.push_back(number);
    return numbers;
}

void Callers::unwatch(CallersWatcher& watcher) {
    watchers_.erase(std::remove(watchers_.begin(), watchers_.end(), &watcher), watchers_.end());
}

CallerNumber Callers::join(Caller& caller) {
    there_.emplace(++last_, &caller);
    return last_;
}

// Out of the list first: nothing that a watcher does may come back to it. A watcher may go meanwhile,
// with what it ends.
void Callers::leave(Caller& caller) {
    there_.erase(caller.number_);
    for (auto* watcher : std::vector(watchers_)) {
        if (std::find(watchers_.begin(), watchers_.end(), watcher) != watchers_.end())
            watcher->on_leaving(caller);
    }
}

}  // namespace patchbay::connection
