#include "settings.hpp"

#include "encoding.hpp"

#include <patchbay/cpp/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::oauth {
namespace {

constexpr std::size_t kSettingBytes = 64 * 1024;

Grant grant_of(const std::string& name) {
    if (name == "client_credentials") return Grant::kClientCredentials;
    if (name == "jwt_bearer") return Grant::kJwtBearer;
    if (name == "enterprise_managed") return Grant::kEnterpriseManaged;
    if (name.empty() || name == "authorization_code") return Grant::kAuthorizationCode;
    throw sdk::Failure(PATCHBAY_E_INVALID,
                       "\"grant\" must be authorization_code, client_credentials, jwt_bearer or "
                       "enterprise_managed");
}

std::string scope_of(const sdk::Config& config) {
    const auto* value = config.find("scope");
    if (value && value->kind == sdk::ConfigValue::Kind::Strings) return joined(value->strings);
    return config.text("scope");
}

[[noreturn]] void unreadable(const std::string& file, const std::string& why) {
    throw Trouble(PATCHBAY_E_IO, "the file " + file + " cannot be read: " + why);
}

std::string trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const auto from = text.find_first_not_of(space);
    if (from == text.npos) return {};
    return std::string(text.substr(from, text.find_last_not_of(space) - from + 1));
}

struct Closes {
    int fd;
    ~Closes() { ::close(fd); }
};

// A regular file only: nothing that could make the reactor wait.
std::string content_of(const std::string& file) {
    const Closes opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (opened.fd < 0) unreadable(file, std::strerror(errno));
    struct stat about {};
    if (::fstat(opened.fd, &about) != 0 || !S_ISREG(about.st_mode))
        unreadable(file, "it is no regular file");
    std::string out(kSettingBytes, '\0');
    const auto count = ::read(opened.fd, out.data(), out.size());
    if (count < 0) unreadable(file, std::strerror(errno));
    out.resize(static_cast<std::size_t>(count));
    return trimmed(out);
}

}  // namespace

Settings Settings::parse(std::string_view text) {
    const sdk::Config config(text);
    Settings settings;
    const auto read = [&](const char* key, std::string& value) { value = config.text(key); };
    read("authorization_url", settings.authorization_url);
    read("token_url", settings.token_url);
    read("registration_url", settings.registration_url);
    read("issuer", settings.issuer);
    read("client_id", settings.client_id);
    read("client_secret", settings.client_secret);
    read("client_metadata_url", settings.client_metadata_url);
    read("token_endpoint_auth_method", settings.token_endpoint_auth_method);
    read("audience", settings.audience);
    read("private_key", settings.private_key);
    read("private_key_file", settings.private_key_file);
    read("signing_alg", settings.signing_alg);
    read("key_id", settings.key_id);
    read("assertion", settings.assertion);
    read("assertion_file", settings.assertion_file);
    read("idp_token_url", settings.idp_token_url);
    read("idp_client_id", settings.idp_client_id);
    read("idp_client_secret", settings.idp_client_secret);
    read("id_token", settings.id_token);
    read("id_token_file", settings.id_token_file);
    read("ca_file", settings.ca_file);
    read("proxy", settings.proxy);
    settings.scope = scope_of(config);
    settings.grant = grant_of(config.text("grant"));
    settings.callback_port =
        static_cast<std::uint32_t>(config.number("callback_port", 0, 0, 65535));
    if (config.find("dpop"))
        settings.dpop = config.boolean("dpop", false) ? Dpop::kAlways : Dpop::kNever;
    for (const auto* key : {"authorization_url", "token_url", "registration_url", "issuer",
                            "idp_token_url", "client_metadata_url"}) {
        const auto url = config.text(key);
        if (!url.empty()) check_endpoint(url, "the setting " + std::string(key));
    }
    return settings;
}

void Settings::mask(const Services& services) const {
    for (const auto* secret :
         {&client_secret, &private_key, &assertion, &idp_client_secret, &id_token})
        services.mask(*secret);
}

std::string secret_of(const Services& services, const std::string& value, const std::string& file) {
    auto secret = value.empty() && !file.empty() ? content_of(file) : value;
    services.mask(secret);
    return secret;
}

}  // namespace patchbay::oauth
