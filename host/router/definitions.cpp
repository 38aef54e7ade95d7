#include "router/definitions.hpp"

#include "core/digest.hpp"

namespace patchbay::router {

std::string Definitions::of(const std::string& server) const {
    const auto found = pool_.find(server);
    return found ? found->get().spec().definition_key : std::string();
}

std::string Definitions::of(const std::string& server, const protocol::Tool& tool) const {
    return of(server) + " " + core::sha256_hex(tool.known + "," + tool.others);
}

std::optional<Error> Definitions::changed(const connection::Approvable& wanted) const {
    if (!pool_.find(wanted.server)) return {};
    const auto key = of(wanted.server);
    if (!wanted.definition.starts_with(key)) return another_one(wanted.server, wanted.public_name);
    const auto* entry =
        wanted.tool.empty() ? nullptr : finder_.index().find_raw(wanted.server, wanted.tool);
    if (!entry || of(wanted.server, *entry->tool) == wanted.definition) return {};
    return Error{
        ErrorCode::Unavailable,
        wanted.public_name + " is described otherwise than when it was to be approved; ask again"};
}

Error Definitions::another_one(const std::string& server, const std::string& approvable) {
    return {ErrorCode::Unavailable, "server \"" + server + "\" is another one than when " +
                                        approvable + " was to be approved; ask again"};
}

}  // namespace patchbay::router
