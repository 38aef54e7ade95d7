#include "gateway/http/session_id.hpp"

#include "core/base64.hpp"
#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/random.hpp"
#include "protocol/versions.hpp"

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostIdBytes = 4'096;

// Of what a client said that it can, only that it can: the rest may be as long as it likes.
json::object essence(const json::object& capabilities) {
    json::object kept;
    for (const auto* each : {"roots", "sampling", "elicitation"}) {
        const auto* told = core::object_in(&capabilities, each);
        if (!told) continue;
        auto& object = kept[each].emplace_object();
        for (const auto* part : {"form", "url", "tools", "context"})
            if (told->contains(part)) object[part] = json::object();
        if (told->contains("listChanged"))
            object["listChanged"] = core::flag_in(told, "listChanged").value_or(false);
    }
    return kept;
}

}  // namespace

// Base64 as it may stand in a URL, without padding.
std::string SessionIds::make(const SessionTerms& terms, std::string_view guest) const {
    const auto payload =
        core::base64url(json::serialize(json::object{{"r", terms.revision},
                                                     {"c", essence(terms.capabilities)},
                                                     {"g", guest},
                                                     {"n", core::random_hex(16)}}));
    return payload + "." + seal_of(payload);
}

Result<SessionTerms> SessionIds::open(std::string_view id, std::string_view guest) const {
    const Error unknown{ErrorCode::Invalid, "unknown session"};
    const auto dot = id.find('.');
    if (id.size() > kMostIdBytes || dot == std::string_view::npos) return unknown;
    const auto payload = id.substr(0, dot);
    if (!core::same_secret(id.substr(dot + 1), seal_of(payload))) return unknown;
    const auto text = core::base64url_decoded(payload);
    const auto object = text ? core::parse_json_object(*text) : text.error();
    if (!object) return unknown;
    const auto revision = core::text_in(&*object, "r").value_or("");
    const auto* capabilities = core::object_in(&*object, "c");
    if (core::text_in(&*object, "g").value_or("") != guest || !protocol::speaks(revision) ||
        !capabilities)
        return unknown;
    return SessionTerms{std::string(revision), *capabilities};
}

std::string SessionIds::seal_of(std::string_view payload) const {
    return core::hmac_sha256_hex(key_, payload);
}

}  // namespace patchbay::gateway
