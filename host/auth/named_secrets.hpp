// Secrets that a person keeps by name, for `${secret:NAME}` in configuration files: in mcp-secrets.json, or in the
// desktop's Secret Service with only their names there.
//
// Owns:    nothing but names; each call reads the file anew.
// Threads: [any]; blocks for the disk, and for the Secret Service at most Keyring::kLimit.
// Errors:  those of store_file.hpp and keyring.hpp. NotFound: there is none by that name. Never a byte of the
//          secret.
// Limits:  kValueBytes; of a name core::check_secret_name().
#pragma once

#include "auth/keyring.hpp"
#include "auth/store_file.hpp"
#include "core/time_source.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::auth {

class NamedSecrets {
public:
    static constexpr std::size_t kValueBytes = 60u << 10;  // what a pipe holds, and its quotes

    // `keyring`: may be null, then the file holds everything.
    NamedSecrets(std::string directory, std::unique_ptr<Keyring> keyring)
        : file_(std::move(directory), StoreFile::kNamed), keyring_(std::move(keyring)) {}

    Result<std::string> read(const std::string& name) const;
    Result<void> check(const std::string& name) const;  // whether there is one

    // Says where it went; of a keyring that did not take it, why.
    struct Kept {
        bool in_keyring = false;
        std::string warning;
    };
    Result<Kept> write(const std::string& name, const std::string& value,
                       core::Calendar::time_point now) const;
    Result<void> erase(const std::string& name) const;

    struct Listed {
        std::string name;
        bool in_keyring = false;
        core::Calendar::time_point written;
    };
    Result<std::vector<Listed>> list() const;  // by name

private:
    Result<boost::json::object> record_of(const std::string& name) const;

    const StoreFile file_;
    const std::unique_ptr<Keyring> keyring_;
    mutable std::mutex keyring_turn_;
};

}  // namespace patchbay::auth
