// One record of the audit, read, and which of them somebody wants to see.
//
// Threads: [value]. Errors: a line that is no record is none.
#pragma once

#include "core/result.hpp"
#include "core/time_source.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::audit {

class Entry {
public:
    // Nothing: it is none. Whether it is a link of the chain is not asked.
    static std::optional<Entry> parse(std::string_view line);

    std::string_view text(std::string_view key) const;  // empty: it has none
    std::optional<std::int64_t> number(std::string_view key) const;
    std::string caller() const;  // `client "7" (editor)`; empty: of the trail itself
    // As a cell of a table; a table inside of it as JSON.
    std::string cell(std::string_view key) const;
    const boost::json::object& members() const { return members_; }

private:
    friend struct Wanted;
    explicit Entry(boost::json::object members) : members_(std::move(members)) {}

    boost::json::object members_;
};

// All that is set has to fit.
struct Wanted {
    std::string since{};  // as time_text() has it; empty: ever since
    std::string server{}, tool{}, about{}, principal{}, decision{};

    // `tool`: public or its server's name. `about`: a part of what was asked for by another request. `principal`: a kind, an
    // id or a name.
    bool holds(const Entry& entry) const;
};

// What a record may have for its decision, in the order of config/README.md.
const std::vector<std::string>& decisions();

// What `--since` says as records write times: "2026-07-28", "2026-07-28T09:00", with seconds and Z or without, in UTC;
// or how long ago: "90s", "30m", "2h", "7d".
Result<std::string> time_text(std::string_view written, core::Calendar::time_point now);

// The columns of a table of comma-separated values, and a record as such a row (RFC 4180). What a spreadsheet would take for
// a formula begins with an apostrophe.
const std::vector<std::string_view>& columns();
std::string csv_header();
std::string csv_row(const Entry& entry);

}  // namespace patchbay::audit
