// Records of sign-ins for auth plugins: in mcp-auth.json, or with their secrets in the desktop's
// Secret Service. Disk and keyring are waited for on a thread of its own, never on the loop.
//
// Owns:    a core::Worker of one thread, so that records keep their order; locks that were not given
//          back.
// Threads: [loop]; stored() too. Callbacks come on the loop, never from inside a call.
// Errors:  those of store_file.hpp. A keyring that does not answer within 2 s is passed over with a
//          warning: the record goes to the file.
#pragma once

#include "auth/keyring.hpp"
#include "auth/store_file.hpp"
#include "core/loop.hpp"
#include "core/secrets.hpp"
#include "core/worker.hpp"
#include "plugin/sign_in.hpp"

#include <map>
#include <set>

namespace patchbay::auth {

class SecretStore final : public plugin::Secrets {
public:
    // `keyring`: may be null, then the file holds everything.
    SecretStore(core::Loop& loop, std::string directory, std::unique_ptr<Keyring> keyring);
    ~SecretStore() override;  // what is under way ends, nobody is told

    void get(const std::string& plugin, const std::string& server, Got got) override;
    void put(const std::string& plugin, const std::string& server, const std::string& record,
             Done done) override;
    std::uint64_t lock(const std::string& server, std::chrono::milliseconds limit,
                       Done done) override;
    void unlock(std::uint64_t id) override;

    // All records as they are in the file, for lists and for "is there one": secrets may be
    // elsewhere. Reads the file now.
    Result<boost::json::object> stored() const;
    // Whether a record of this server was put here and lasts: an older one may look the same.
    bool has_put(const std::string& server) const { return put_.count(server) > 0; }
    // Erases a record, whoever put it.
    void erase(const std::string& server, Done done);

private:
    struct Lock {
        std::string server;
        int fd = -1;
        core::Clock::time_point deadline;
        std::chrono::milliseconds pause{1};
        core::Loop::TimerId timer = 0;
        Done done;
    };

    Result<std::string> read_record(const std::string& plugin, const std::string& server) const;
    Result<void> write_record(const std::string& plugin, const std::string& server,
                              boost::json::object record) const;
    Result<void> forget(const std::string& server) const;
    void try_lock(std::uint64_t id);

    core::Loop& loop_;
    const StoreFile file_;
    const std::unique_ptr<Keyring> keyring_;
    mutable core::Secrets secrets_;  // of the records that were read and written
    std::map<std::uint64_t, Lock> locks_;
    std::uint64_t last_lock_ = 0;
    std::set<std::string> put_;
    core::Worker worker_;  // the last member: its work uses the others
};

}  // namespace patchbay::auth
