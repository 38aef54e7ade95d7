#include "gateway/client_handshake.hpp"

#include "core/json.hpp"
#include "gateway/client_abilities.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/task_extension.hpp"

#include <utility>

namespace patchbay::gateway {
namespace json = boost::json;
using protocol::Era;

json::object ClientHandshake::about_us() const {
    return {{"name", "patchbay"}, {"title", "Patchbay"}, {"version", version_}};
}

// A revision that we do not speak is answered with the newest of its era that we do: the client decides
// whether that will do.
Result<std::string> ClientHandshake::initialize(const protocol::Params& params) {
    const auto object = core::parse_json_object("{" + params.members + "}");
    const auto* members = object ? &*object : nullptr;
    const auto asked = core::text_in(members, "protocolVersion");
    if (!asked) return Error{ErrorCode::Invalid, "initialize needs \"protocolVersion\", a text"};
    if (protocol::raw_member(params.members, "capabilities").size() > kMostCapabilityBytes)
        return Error{ErrorCode::Invalid, "the \"capabilities\" of initialize have more than " +
                                             std::to_string(kMostCapabilityBytes) + " bytes"};
    const bool known = protocol::speaks(*asked) && protocol::era_of(*asked) == Era::Legacy;
    const auto* told = core::object_in(members, "capabilities");
    restore(std::string(known ? *asked : protocol::kLegacyVersion), told ? *told : capabilities_);
    json::object result{{"protocolVersion", revision_},
                        {"capabilities", our_capabilities(Era::Legacy)},
                        {"serverInfo", about_us()}};
    if (const auto text = instructions_.text(); !text.empty()) result["instructions"] = text;
    return json::serialize(result);
}

std::string ClientHandshake::discovered(bool tasks) const {
    auto capabilities = our_capabilities(Era::Modern);
    if (tasks) capabilities["extensions"] = {{protocol::kTasksExtension, json::object()}};
    json::object result{
        {"supportedVersions", json::array(protocol::kVersions.begin(), protocol::kVersions.end())},
        {"capabilities", std::move(capabilities)},
        {"_meta", {{"io.modelcontextprotocol/serverInfo", about_us()}}}};
    if (const auto text = instructions_.text(); !text.empty()) result["instructions"] = text;
    return json::serialize(result);
}

std::string ClientHandshake::identity() const {
    return "\"io.modelcontextprotocol/serverInfo\":" + json::serialize(about_us());
}

void ClientHandshake::restore(const std::string& revision, const json::object& capabilities) {
    revision_ = revision;
    capabilities_ = capabilities;
    raw_capabilities_ = json::serialize(capabilities_);
    abilities_.offer(raw_capabilities_);
}

json::object ClientHandshake::abilities_behind(const ClientRequest& request) const {
    if (!request.modern()) return capabilities_;
    auto object = core::parse_json_object(request.meta.capabilities);
    return object ? std::move(*object) : json::object();
}

}  // namespace patchbay::gateway
