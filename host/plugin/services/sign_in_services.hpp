// patchbay.host.consent/1 and patchbay.host.secrets/1 of one plugin: its calls are checked where
// they come, carried to the loop, and answered there.
//
// Owns:    the calls on their way, until their one callback. Borrows the loop and `offered`.
// Threads: constructor and destructor are [loop], what plugins call is [any].
// Errors:  through the callbacks; CLOSED for what the destructor ends.
// Limits:  kMostCalls under way, kRecordBytes of one record.
#pragma once

#include "core/loop.hpp"
#include "plugin/abi.hpp"
#include "plugin/sign_in.hpp"

#include <memory>
#include <string>

namespace patchbay::plugin {

class SignInServices {
public:
    static constexpr std::size_t kMostCalls = 256;
    static constexpr std::size_t kRecordBytes = 64u << 10;

    SignInServices(core::Loop& loop, std::string plugin, SignIn offered);
    ~SignInServices();
    SignInServices(const SignInServices&) = delete;

    // For plugins; they find the service through HostServices.
    static const patchbay_host_consent* consent_table();
    static const patchbay_host_secrets* secrets_table();

    struct State;

private:
    friend State& state_of(const SignInServices& services);
    std::shared_ptr<State> state_;
};

}  // namespace patchbay::plugin
