#include "record.hpp"

#include "ascii.hpp"
#include "encoding.hpp"
#include "json.hpp"

#include <algorithm>

namespace patchbay::oauth {
namespace {

struct Member {
    const char* name;
    std::string Record::*value;
};

constexpr Member kTexts[] = {
    {"access_token", &Record::access_token},
    {"refresh_token", &Record::refresh_token},
    {"token_type", &Record::token_type},
    {"scope", &Record::scope},
    {"client_id", &Record::client_id},
    {"client_secret", &Record::client_secret},
    {"token_endpoint_auth_method", &Record::token_endpoint_auth_method},
    {"redirect_uri", &Record::redirect_uri},
    {"issuer", &Record::issuer},
    {"resource", &Record::resource},
    {"server_url", &Record::server_url},
    {"principal", &Record::principal},
    {"token_endpoint", &Record::token_endpoint},
    {"revocation_endpoint", &Record::revocation_endpoint},
    {"dpop_key", &Record::dpop_key},
    {"ended", &Record::why_ended},
};

std::int64_t seconds(const Document& document, const char* name) {
    constexpr double most = 253402300799.0;  // the year 9999
    const auto* value = document.find(name);
    if (!value || value->kind != sdk::ConfigValue::Kind::Number) return 0;
    return static_cast<std::int64_t>(std::clamp(value->number, 0.0, most));
}

}  // namespace

std::optional<Record> Record::parse(std::string_view json) {
    if (json.empty()) return std::nullopt;
    try {
        const auto document = Document::parse(json, "the stored login");
        Record record;
        for (const auto& member : kTexts) record.*member.value = document.text_or(member.name, "");
        record.expires_at = seconds(document, "expires_at");
        record.obtained_at = seconds(document, "obtained_at");
        const bool bound = ascii::same(record.token_type, "DPoP");
        // Without its key a bound token is of no use to anybody.
        return bound && record.dpop_key.empty() ? std::nullopt : std::optional(record);
    } catch (const Trouble&) {
        return std::nullopt;
    }
}

std::string Record::json() const {
    ObjectWriter writer;
    for (const auto& member : kTexts)
        if (!(this->*member.value).empty() || member.value == &Record::principal)
            writer.text(member.name, this->*member.value);
    writer.number("expires_at", expires_at).number("obtained_at", obtained_at);
    return writer.str();
}

bool Record::belongs_to(const WebUrl& server, const Settings& settings) const {
    return server_url == server.canonical() &&
           (settings.issuer.empty() || settings.issuer == issuer) &&
           (settings.token_url.empty() || settings.token_url == token_endpoint) &&
           (settings.client_id.empty() || settings.client_id == client_id);
}

bool Record::ends_soon(std::int64_t now) const {
    constexpr std::int64_t least = 30;
    if (expires_at == 0) return false;
    const auto life = std::max<std::int64_t>(0, expires_at - obtained_at);
    return now >= expires_at - std::min(least, life / 10);
}

bool Record::is_new(std::int64_t now) const {
    constexpr std::int64_t usual = 600;
    const auto life = expires_at == 0 ? usual : expires_at - obtained_at;
    return (now - obtained_at) * 10 < life;
}

bool Record::covers(std::string_view wanted_scope) const {
    const auto have = words(scope);
    const auto wanted = words(wanted_scope);
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
        return std::find(have.begin(), have.end(), each) != have.end();
    });
}

void Record::mask(const Services& services) const {
    for (const auto* secret : {&access_token, &refresh_token, &client_secret, &dpop_key})
        services.mask(*secret);
}

}  // namespace patchbay::oauth
