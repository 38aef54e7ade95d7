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

void Departures::forget(const Connection* gone) {
    std::erase_if(leaving_, [&](const auto& each) { return each.get() == gone; });
}

}  // namespace patchbay::connection
