// Every tool in the catalogue by its public name. Internal to this room.
//
// Owns:    the names, and a share in the listings they were made of. Borrows catalogue and pool.
// Threads: [loop].
#pragma once

#include "catalogue/catalogue.hpp"
#include "connection/connection_pool.hpp"
#include "pins/pins.hpp"
#include "policy/policy.hpp"
#include "protocol/argument_check.hpp"
#include "protocol/qualified_name.hpp"
#include "protocol/tool.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace patchbay::router {

class ToolIndex final : public policy::ListedTools {
public:
    struct Entry {
        std::string public_name;
        std::string server;
        const protocol::Tool* tool;
        std::string quoted_name;  // the raw name as it goes on the wire
        // The server's, so that a call looks for no name.
        connection::ServerConnections* connections;
        // How it stands to what was approved, found once for each generation of the pins.
        mutable const pins::Judged* judged = nullptr;
        mutable std::uint64_t judged_at = 0;
        // Once somebody has asked for them.
        mutable std::string digest = {};
        mutable std::shared_ptr<const protocol::ArgumentCheck> check = {};
    };
    // As it is pinned: pins/listed.hpp.
    static const std::string& digest_of(const Entry& entry);

    // `pins` null: nothing is pinned.
    ToolIndex(const catalogue::Catalogue& catalogue, connection::ConnectionPool& pool,
              pins::Pins* pins = nullptr)
        : catalogue_(catalogue), pool_(pool), pins_(pins) {}

    // Null: nobody has told of it. Valid until a server lists its tools, as are entries().
    const Entry* find(std::string_view public_name);
    const Entry* find_raw(const std::string& server, const std::string& tool);
    const std::vector<Entry>& entries();  // sorted by public name
    std::string public_name(const std::string& server, const std::string& tool);

    // Null: nothing is pinned.
    const pins::Judged* judged(const Entry& entry) const {
        if (!pins_ || entry.judged_at == pins_->generation()) return entry.judged;
        return judge(entry);
    }

    std::uint64_t version() const override { return catalogue_.version(); }
    bool any(std::string_view server, std::string_view name, bool or_longer) const override;

private:
    void build();
    const pins::Judged* judge(const Entry& entry) const;
    void tell_apart();

    const catalogue::Catalogue& catalogue_;
    connection::ConnectionPool& pool_;
    pins::Pins* const pins_;
    std::optional<std::uint64_t> version_;  // of the catalogue when this was made; none: it was not
    std::vector<std::shared_ptr<const catalogue::Listing>> listings_;
    std::vector<Entry> entries_;
    std::unordered_map<std::string_view, const Entry*> by_name_;
    protocol::NameTable names_;  // empty while no two names clash
};

}  // namespace patchbay::router
