// What other clients have, taken over into a file of ours: which servers they have, and each of them put there, judged
// and approved. Everything that `import` and `init` do but asking and telling.
//
// Owns:    the turn of those who change files, from the first server until it ends. Borrows options. Threads: [loop].
// Errors:  of one server in its Outcome: it hides no other. Of a file that was named, what is wrong with it.
#pragma once

#include "app/entry_check.hpp"
#include "app/entry_secrets.hpp"
#include "app/foreign_servers.hpp"
#include "app/scope_file.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchbay::app {

struct ImportOptions {
    std::vector<std::string> ids;
    std::string from, file, as, scope = "user", secrets = "keep";
    bool dry_run = false, replace = false;

    bool names(const std::string& id) const {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    }
    config::Scope into() const { return config::scope_named(scope).value_or(config::Scope::User); }
};

// What has become of one.
struct Outcome {
    const ForeignFile* file;
    const ForeignServer* server;
    std::string state, why;  // "added", "would be added", "replaced", "there already", "left"
    std::vector<std::string> warnings = {};
};

// Of all clients, or the one that is named; of one that cannot be read it is told.
Result<std::vector<ForeignFile>> read_foreign_files(const ImportOptions& options,
                                                    const config::Environment& environment);

class Import {
public:
    Import(const GlobalOptions& global, const ImportOptions& options);

    Outcome take(const ForeignFile& from, const ForeignServer& server);

    const std::set<std::string>& files() const { return files_; }  // that it has written
    // Why no server at all could be put there: what is wrong with the file that was to have it, and not with one of them.
    const std::optional<Error>& fault() const { return fault_; }
    // Once per file that was written, or would be.
    void warn_of_clear_text() const;

private:
    Result<std::string> put(const ForeignServer& server);
    std::vector<TakenSecret> put_away(const std::string& id, boost::json::object& entry) const;
    bool is_as_stored(const ForeignServer& server, const boost::json::object& there) const;
    // Names in the place of secrets; those that are not kept yet.
    std::vector<TakenSecret> stored_as(const std::string& id, boost::json::object& entry) const;
    Result<void> keep(const std::vector<TakenSecret>& taken) const;
    void forget(const std::vector<TakenSecret>& taken) const;
    Result<void> write(const ScopeFile& file, std::string text, const std::string& id,
                       const boost::json::object& entry, const std::vector<TakenSecret>& taken);

    const GlobalOptions& global_;
    const ImportOptions& options_;
    const config::Environment environment_;
    Host host_;
    std::map<std::string, boost::json::object> planned_;  // of this run, by id
    std::map<std::string, ClearSecrets> clear_;           // by file
    std::optional<ScopeChange> last_;
    Turn turn_;  // one for all servers: they are one change
    std::set<std::string> files_;
    std::optional<Error> fault_;
};

}  // namespace patchbay::app
