// Several who hear of what a host does, for the rooms that tell one. Told in the order in which they were added.
//
// Borrows them. Threads: [loop]. Errors: of what is about to be sent the first one's, which the others do not hear of.
#pragma once

#include "core/observer.hpp"

#include <vector>

namespace patchbay::app {

class Observers final : public core::Observer {
public:
    void add(core::Observer* observer) {
        if (observer) all_.push_back(observer);
    }
    // Null: there is none; the one that is alone: it needs nobody to pass on.
    core::Observer* get() {
        if (all_.empty()) return nullptr;
        return all_.size() == 1 ? all_.front() : this;
    }

    bool wants_arguments() const override;
    Result<void> on_request_sent(const core::SentRequest& sent) override;
    void on_request_ended(const core::EndedRequest& ended) override;
    void on_server_state(const core::ServerState& state) override;
    void on_connection_closing(std::string_view server, std::uint64_t connection) override;
    void on_server_restart(std::string_view server) override;
    void on_http_answer(unsigned status) override;
    void on_call_begun(const core::BegunCall& call) override;
    void on_approval(const core::ApprovalStep& step) override;
    void on_list_changed(const core::ListChange& change) override;
    void on_pins(const core::PinChange& change) override;
    void on_configuration(const core::ConfigurationChange& change) override;

private:
    std::vector<core::Observer*> all_;
};

}  // namespace patchbay::app
