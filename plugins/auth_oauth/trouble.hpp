// Why there are no credentials: a status, words for people, and what the server called it.
//
// Threads: [value]. Texts never hold a token, code, verifier, assertion or secret.
#pragma once

#include <patchbay/cpp/plugin.hpp>

#include <string>
#include <utility>

namespace patchbay::oauth {

class Trouble : public sdk::Failure {
public:
    Trouble(patchbay_status code, std::string text, std::uint32_t flags = 0, std::string error = {})
        : Failure(code, std::move(text)), flags_(flags), error_(std::move(error)) {}
    std::uint32_t flags() const { return flags_; }  // PATCHBAY_ERR_*
    const std::string& error() const {
        return error_;
    }  // "invalid_grant"; empty: not from a server

private:
    std::uint32_t flags_;
    std::string error_;
};

// Nobody has to sign in: the server answers as it is, and offers no sign-in.
struct NoNeed {};

}  // namespace patchbay::oauth
