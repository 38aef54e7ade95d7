// Auth method bearer: a token or headers that are configured, or that a program prints.
//
// Owns:    the program while it runs, and the headers it printed until the server refuses them.
// Threads: those of an authenticator; all state is guarded by the core's turns.
// Errors:  E_AUTH when the server does not accept what is configured, with what to change;
//          E_INVALID for a variable that is not set; those of the program.
#pragma once

#include "header_command.hpp"

#include <patchbay/cpp/auth.hpp>
#include <patchbay/cpp/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace patchbay::bearer {

class Bearer final : public sdk::Authenticator,
                     private transport::ChannelCore::Owner,
                     private HeaderCommand::Listener {
public:
    static std::unique_ptr<Bearer> create(const patchbay_auth_params& params);

    void acquire(const patchbay_auth_request& request) override;
    void cancel(std::uint64_t operation) override;
    void forget() override;
    void close() override;

private:
    explicit Bearer(const patchbay_auth_params& params);

    static void on_close_posted(void* self) noexcept;
    void broken(const std::string& why) override;
    void headers_came(std::map<std::string, std::string> headers) override;
    void command_failed(patchbay_status code, const std::string& why) override;
    std::vector<sdk::Credential> configured() const;  // throws sdk::Failure
    std::string source() const;
    void grant(std::uint64_t operation);
    void leave();

    const sdk::AuthSink sink_;
    const sdk::Config config_;
    const std::vector<std::string> command_;
    transport::ChannelCore core_;
    HeaderCommand program_;
    std::vector<sdk::Credential> printed_;
    std::uint64_t operation_ = 0;  // waits for the program
    bool given_ = false, closing_ = false;
};

}  // namespace patchbay::bearer
