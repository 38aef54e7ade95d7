#include "app/server_pins.hpp"

#include "config/approval.hpp"

namespace patchbay::app {

ServerPins::ServerPins(core::Loop& loop, catalogue::Catalogue& catalogue,
                       connection::ConnectionPool& connections, std::string folder,
                       const std::string& project, pins::Pins::OriginOf origin_of)
    : loop_(loop),
      connections_(connections),
      project_(project),
      folder_(loop, std::move(folder)),
      pins_(
          catalogue, folder_, [this](const std::string& server) { return key_of(server); },
          std::move(origin_of)) {}

// A checkout's definition that has changed was approved anew before it came here, which says nothing of its tools. What is a
// person's own is another server where they say so.
std::optional<pins::Key> ServerPins::key_of(const std::string& server) const {
    const auto found = connections_.find(server);
    if (!found) return {};
    const auto& spec = found->get().spec();
    if (config::from_project(spec.config.place.scope)) return pins::Key{server, project_, {}};
    return pins::Key{server, {}, spec.definition_key};
}

void ServerPins::follow() {
    // Each command of a client's comes here: it waits for no folder of everybody.
    if (!watch_)
        watch_.emplace(
            loop_, [this] { pins_.refresh(); }, PathWatch::IsDistant(), OfAll::LeftOut);
    std::vector<std::string> files;
    for (const auto& id : connections_.ids()) {
        if (files.size() >= kMostFollowed) break;
        if (const auto key = key_of(id)) files.push_back(folder_.path_of(*key));
    }
    watch_->watch(std::move(files));
}

void ServerPins::tell(const std::string& server, const router::Router& router,
                      core::Observer& observer) {
    std::map<pins::Part, Told> now;
    for (const auto& [name, mismatch, blocked] : router.departed(server)) {
        auto& [blocked_ones, others] = now[name.first];
        (blocked ? blocked_ones : others)
            .push_back(name.second.empty() ? pins::name_of(name.first) : name.second);
    }
    for (const auto part : pins::kParts) {
        const auto found = now.find(part);
        auto is = found == now.end() ? Told() : std::move(found->second);
        const auto was = told_.find({server, part});
        if (is == (was == told_.end() ? Told() : was->second)) continue;
        if (is == Told())
            told_.erase(was);
        else
            told_[{server, part}] = is;
        observer.on_pins({server, pins::name_of(part), std::move(is.first), std::move(is.second)});
    }
}

}  // namespace patchbay::app
