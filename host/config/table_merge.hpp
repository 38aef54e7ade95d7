// The tables of all fragments that are not servers: by key the strongest counts, [permissions] adds up, [auth.*],
// [agents.*], [bundles.*] and [executors.*] go by name. Internal to this room.
//
// Borrows what comes of merging and the fragments, which must outlive it. Threads: [value]. Errors: are noted; of a table
// whose reading matters to what is forbidden, they close what it would have forbidden.
#pragma once

#include "config/keys.hpp"
#include "config/merging.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::config {

class TableMerge {
public:
    explicit TableMerge(Merging& into) : into_(into) {}

    // Weakest source first.
    void take(const Member& table, const Fragment& fragment);
    // All have been taken. `defined`: the ids of servers that some source defines.
    void finish(const std::vector<Fragment>& fragments, const std::vector<std::string>& defined);

private:
    void take_key(const TableKey& key, const Member& member, const Source& source, Config& into);
    bool speaks_first(const std::string& name, const Source& source, Mark mark);
    void unknown(const Member& table, const Member& member, const Source& source);
    void take_auth(const Member& table, const Fragment& fragment);
    bool may_define(const Member& member, const std::string& name, const Source& source);
    void deny_for_errors_since(std::size_t before, const Source& source);
    template <class T, class Read>
    void take_named(const Member& table, const Source& source, std::map<std::string, T>& all,
                    Read read);
    void take_executors(const Member& table, const Source& source);
    void take_permissions(const Permissions& said, const Member& table, const Source& source);
    void withhold_auth(const Fragment& fragment);

    Merging& into_;
    std::map<std::string, Agent> agents_;
    std::map<std::string, Executor> executors_;
    std::map<std::string, Bundle> bundles_;
    std::map<std::string, std::pair<const Source*, Mark>> said_;  // table keys and auth ids
    bool broken_permissions_ = false;                             // in the table being read
    std::optional<Place> empty_deny_;                             // of the session, the strongest
};

}  // namespace patchbay::config
