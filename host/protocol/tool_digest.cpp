#include "protocol/tool_digest.hpp"

#include "core/digest.hpp"
#include "protocol/canonical_json.hpp"
#include "protocol/compose.hpp"

namespace patchbay::protocol {

std::string tool_digest(const Tool& tool) {
    const auto members = joined("\"name\":" + quoted(tool.name), joined(tool.known, tool.others));
    return core::sha256_hex(canonical_json("{" + members + "}"));
}

}  // namespace patchbay::protocol
