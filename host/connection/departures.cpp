#include "connection/departures.hpp"

#include <algorithm>

namespace patchbay::connection {

void Departures::take(std::unique_ptr<Connection> connection) {
    auto* const leaving = leaving_.emplace_back(std::move(connection)).get();
    leaving->close_when_idle(lifetime_.guard([this, leaving] { forget(leaving); }));
}

void Departures::take_closing(std::unique_ptr<Connection> connection) {
    auto* const leaving = leaving_.emplace_back(std::move(connection)).get();
    leaving->close(lifetime_.guard([this, leaving] { forget(leaving); }));
}

std::size_t Departures::count(std::string_view server) const {
    return static_cast<std::size_t>(
        std::count_if(leaving_.begin(), leaving_.end(),
                      [&](const auto& each) { return each->spec().id() == server; }));
}

std::vector<Connection*> Departures::all() const {
    std::vector<Connection*> connections;
    for (const auto& each : leaving_) connections.push_back(each.get());
    return connections;
}

void Departures::count_in(Status& status) const {
    for (const auto& each : leaving_)
        if (each->spec().id() == status.id) add_counts(status, each->status());
    const auto found = past_.find(status.id);
    if (found != past_.end()) add_counts(status, found->second.counts);
}

void Departures::keep_counts(const Status& status) {
    auto& past = past_[status.id];
    past.last = loop_.now();
    add_counts(past.counts, status);
    past.counts.cost.running.clear();  // of a process that has gone
    if (past_.size() <= kServers) return;
    past_.erase(std::min_element(past_.begin(), past_.end(), [](const auto& a, const auto& b) {
        return a.second.last < b.second.last;
    }));
}

void Departures::forget(const Connection* gone) {
    keep_counts(gone->status());
    std::erase_if(leaving_, [&](const auto& each) { return each.get() == gone; });
}

}  // namespace patchbay::connection
