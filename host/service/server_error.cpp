#include "service/server_error.hpp"

#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::service {
namespace json = boost::json;

ServerError interrupted(const std::string& server) {
    return {
        server,
        {ErrorCode::Cancelled, "server \"" + server + "\": interrupted before it had answered"}};
}

Error nobody_answered(const std::vector<ServerError>& errors) {
    std::vector<std::string> messages;
    for (const auto& each : errors) messages.push_back(each.error.message);
    const auto is = [](ErrorCode code) {
        return [code](const ServerError& each) { return each.error.code == code; };
    };
    // A kind that is not that of all would be wrong of some.
    const auto first = errors.front().error.code;
    const auto code =
        std::any_of(errors.begin(), errors.end(), is(ErrorCode::Cancelled)) ? ErrorCode::Cancelled
        : std::all_of(errors.begin(), errors.end(), is(first))              ? first
                                                               : ErrorCode::Unavailable;
    return {code, core::join(messages, "\n       ")};
}

json::array to_json(const std::vector<ServerError>& errors) {
    json::array told;
    for (const auto& [server, error] : errors)
        told.push_back({{"server", server}, {"message", core::log::masked(error.message)}});
    return told;
}

std::string listed_json(std::string_view member, std::string_view items,
                        const std::vector<ServerError>& errors) {
    auto told = "{" + protocol::quoted(member) + ":" + std::string(items);
    if (!errors.empty()) told.append(",\"errors\":").append(json::serialize(to_json(errors)));
    return told += '}';
}

}  // namespace patchbay::service
