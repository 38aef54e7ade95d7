#include "app/observers.hpp"

#include <algorithm>

namespace patchbay::app {

bool Observers::wants_arguments() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const auto* each) { return each->wants_arguments(); });
}

Result<void> Observers::on_request_sent(const core::SentRequest& sent) {
    for (auto* each : all_)
        if (auto may = each->on_request_sent(sent); !may) return may;
    return {};
}

void Observers::on_request_ended(const core::EndedRequest& ended) {
    for (auto* each : all_) each->on_request_ended(ended);
}
void Observers::on_server_state(const core::ServerState& state) {
    for (auto* each : all_) each->on_server_state(state);
}
void Observers::on_connection_closing(std::string_view server, std::uint64_t connection) {
    for (auto* each : all_) each->on_connection_closing(server, connection);
}
void Observers::on_server_restart(std::string_view server) {
    for (auto* each : all_) each->on_server_restart(server);
}
void Observers::on_http_answer(unsigned status) {
    for (auto* each : all_) each->on_http_answer(status);
}
void Observers::on_call_begun(const core::BegunCall& call) {
    for (auto* each : all_) each->on_call_begun(call);
}
void Observers::on_approval(const core::ApprovalStep& step) {
    for (auto* each : all_) each->on_approval(step);
}
void Observers::on_list_changed(const core::ListChange& change) {
    for (auto* each : all_) each->on_list_changed(change);
}
void Observers::on_pins(const core::PinChange& change) {
    for (auto* each : all_) each->on_pins(change);
}
void Observers::on_configuration(const core::ConfigurationChange& change) {
    for (auto* each : all_) each->on_configuration(change);
}

}  // namespace patchbay::app
