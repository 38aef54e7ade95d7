// The desktop's Secret Service, reached through `secret-tool` (libsecret-tools): nothing is linked,
// and a service that hangs is a child that is killed. Secrets go through its stdin and stdout.
//
// Threads: [any], one call at a time. Errors: Unavailable, with what is missing or hung.
// Limits:  kLimit for a call.
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::auth {

class Keyring {
public:
    static constexpr std::chrono::seconds kLimit{2};

    // Empty: there is nothing for `server`.
    Result<std::string> read(const std::string& server) const;
    // `label`: what people see it as.
    Result<void> write(const std::string& server, const std::string& secrets,
                       const std::string& label) const;
    Result<void> erase(const std::string& server) const;

private:
    struct Ended {
        int code = 0;
        std::string output;
    };
    static Result<Ended> run(const std::vector<std::string>& arguments, const std::string& input);
};

// The record of a sign-in with the secrets that the keyring answered; nothing: it holds none any more,
// somebody has erased or changed them there. [value]
std::optional<boost::json::object> with_secrets(boost::json::object record,
                                                const std::string& answer);

}  // namespace patchbay::auth
