#include "app/client_lines.hpp"

#include "core/log.hpp"

#include <string_view>
#include <utility>

#ifndef PATCHBAY_VERSION
#error "PATCHBAY_VERSION comes from CMake"
#endif

namespace patchbay::app {

namespace {

void tell_dropped(const std::string& from, std::size_t count) {
    core::log::warn("the client did not read: " + std::to_string(count) + " notifications of " +
                    from + " were dropped");
}

// A client that its user has configured asks that user itself before it calls a tool; what is denied
// stays denied.
core::Principal principal() {
    return {core::Principal::Kind::Client, {}, "stdio", core::Trust::Approves};
}

gateway::ClientSession::Parts parts_of(Host& host, gateway::Outward& out, gateway::View view,
                                       ClientLines::Others others) {
    gateway::ClientSession::Parts parts{host.callers(), host.servers(), host.catalogue(), out,
                                        std::move(view)};
    parts.alone = others == ClientLines::Others::None;
    return parts;
}

}  // namespace

ClientLines::ClientLines(Parts parts)
    : loop_(parts.host.loop()),
      input_(parts.input),
      changed_(std::move(parts.changed)),
      output_(
          loop_, std::move(parts.output), [this] { advance(); }, tell_dropped),
      client_(parts_of(parts.host, *this, std::move(parts.view), parts.others), principal(),
              connection::Responder(parts.host.config().client, {}), PATCHBAY_VERSION) {}

void ClientLines::begin() {
    input_.begin([this] { advance(); });
}

void ClientLines::send(std::string message) {
    output_.put(std::move(message));
    // It may have been the last that the client waits for.
    if (input_.over()) loop_.defer(lifetime_.guard([this] { advance(); }));
}

void ClientLines::advance() {
    while (!output_.crowded()) {
        const auto line = input_.next();
        if (!line) break;
        if (!*line)
            client_.take_unreadable(line->error());
        else if ((*line)->find_first_not_of(" \t\r") != std::string_view::npos)
            client_.take(**line);
    }
    input_.pause(output_.crowded());
    if (input_.over()) done_ = client_.idle();
    changed_();
}

}  // namespace patchbay::app
