// Header fields on their way to a server: the one place that checks names and values, because the
// HTTP library writes what it is given.
//
// Threads: [value]. Errors: sdk::Failure(E_INVALID) with the name, never the value.
// Follows: RFC 9110 section 5.
#pragma once

#include <patchbay/plugin.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::net {

bool is_token(std::string_view name);
bool is_field_value(std::string_view value);  // no control characters, no space around it

class HeaderList {
public:
    using Field = std::pair<std::string, std::string>;

    // Replaces a field of that name.
    void set(std::string_view name, std::string_view value);
    // The same for what configuration or a person wrote: not the names that are ours to set (Host,
    // Content-Length, Mcp-* and the like).
    void set_foreign(std::string_view name, std::string_view value);
    void set_all(const patchbay_kv* fields, std::size_t count);  // made by the host

    auto begin() const { return fields_.begin(); }
    auto end() const { return fields_.end(); }
    bool has(std::string_view name) const;

private:
    std::vector<Field> fields_;
};

}  // namespace patchbay::net
