// Header fields on their way to a server: the one place that checks names and values, because the
// HTTP library writes what it is given.
//
// Threads: [value]. Errors: sdk::Failure(E_INVALID) with the name, never the value.
// Follows: RFC 9110 section 5.
#pragma once

#include <patchbay/plugin.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::net {

bool is_token(std::string_view name);
bool is_field_value(std::string_view value);  // no control characters, no space around it

// Of the connection, of the body, or of the protocol: a setting that changes them breaks something.
// With `mcp-*` this is what `x-patchbay-reserved` in the schemas of http, sse and ws tells the host,
// which refuses such a setting before it connects; a test compares them.
inline constexpr std::array<std::string_view, 18> kReserved = {
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
};

class HeaderList {
public:
    using Field = std::pair<std::string, std::string>;

    // Replaces a field of that name.
    void set(std::string_view name, std::string_view value);
    // The same for what configuration or a person wrote: not the names that are ours to set,
    // kReserved and Mcp-*.
    void set_foreign(std::string_view name, std::string_view value);
    void set_all(const patchbay_kv* fields, std::size_t count);  // made by the host

    auto begin() const { return fields_.begin(); }
    auto end() const { return fields_.end(); }
    bool has(std::string_view name) const;

private:
    std::vector<Field> fields_;
};

}  // namespace patchbay::net
