#include "net/endpoint.hpp"

#include <patchbay/cpp/base64.hpp>

#include <Poco/Exception.h>
#include <Poco/Net/IPAddress.h>
#include <Poco/Net/SSLException.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/Net/X509Certificate.h>
#include <Poco/URI.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unistd.h>

namespace patchbay::net {
namespace {

thread_local std::string tls_refusal;

int note_refusal(int fine, X509_STORE_CTX* store) {
    if (!fine) tls_refusal = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
    return fine;
}

std::string variable(const char* upper, const char* lower) {
    for (const char* name : {lower, upper}) {
        if (const char* value = std::getenv(name); value && *value) return value;
    }
    return {};
}

bool this_machine(const std::string& host) {
    if (host == "localhost" || host.ends_with(".localhost")) return true;
    Poco::Net::IPAddress address;
    return Poco::Net::IPAddress::tryParse(host, address) && address.isLoopback();
}

// NO_PROXY: host names, domains (with or without a leading dot), addresses, each perhaps with a
// port; "*" is all.
bool excepted(const Url& url) {
    std::stringstream list(variable("NO_PROXY", "no_proxy"));
    for (std::string entry; std::getline(list, entry, ',');) {
        const auto first = entry.find_first_not_of(" \t"), last = entry.find_last_not_of(" \t");
        if (first == entry.npos) continue;
        entry = entry.substr(first, last - first + 1);
        if (entry == "*") return true;
        const auto colon = entry.rfind(':');
        if (colon != entry.npos && entry.find(':') == colon) {
            if (entry.substr(colon + 1) != std::to_string(url.port)) continue;
            entry.resize(colon);
        }
        if (!entry.empty() && entry.front() == '.') entry.erase(0, 1);
        if (url.host == entry || url.host.ends_with("." + entry)) return true;
    }
    return false;
}

Proxy read_proxy(const std::string& text, const char* from) {
    const auto fail = [&](const char* why) -> sdk::Failure {
        return {PATCHBAY_E_INVALID,
                std::string(from) + " " + why + "; expected http://[user:password@]host[:port]"};
    };
    try {
        const Poco::URI uri(text.find("://") == text.npos ? "http://" + text : text);
        if (uri.getScheme() != "http") throw fail("is not an http proxy");
        if (uri.getHost().empty()) throw fail("names no host");
        Proxy proxy{uri.getHost(), uri.getSpecifiedPort(), {}};
        if (proxy.port == 0) proxy.port = 80;
        if (!uri.getUserInfo().empty()) {
            std::string plain;
            Poco::URI::decode(uri.getUserInfo(), plain);
            proxy.authorization = "Basic " + sdk::base64(plain);
        }
        return proxy;
    } catch (const Poco::Exception&) {
        throw fail("cannot be read");
    }
}

// `holds` finds in the file what `wanted` says.
template <class Holds>
void check_file(const char* setting, const std::string& path, const char* wanted, Holds holds) {
    if (path.empty()) return;
    const auto named = std::string(setting) + " \"" + path + "\" ";
    if (::access(path.c_str(), R_OK) != 0)
        throw sdk::Failure(PATCHBAY_E_INVALID, named + "cannot be read: " + std::strerror(errno));
    const std::unique_ptr<BIO, decltype(&BIO_free)> file(BIO_new_file(path.c_str(), "r"), BIO_free);
    const bool held = file && holds(file.get());
    clear_tls_errors();
    if (!held) throw sdk::Failure(PATCHBAY_E_INVALID, named + "holds no " + wanted);
}

bool holds_certificate(BIO* file) {
    const std::unique_ptr<X509, decltype(&X509_free)> found(
        PEM_read_bio_X509(file, nullptr, nullptr, nullptr), X509_free);
    return found != nullptr;
}

bool holds_key(BIO* file) {
    // A password would be asked for on the terminal otherwise.
    const auto no_password = [](char*, int, int, void*) { return -1; };
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> found(
        PEM_read_bio_PrivateKey(file, nullptr, no_password, nullptr), EVP_PKEY_free);
    return found != nullptr;
}

}  // namespace

void check_files(const TlsSettings& settings) {
    constexpr const char* kCertificate = "certificate in PEM (-----BEGIN CERTIFICATE-----)";
    // A folder of authorities, as `openssl rehash` makes it, is taken as it is.
    std::error_code failed;
    if (!std::filesystem::is_directory(settings.ca_file, failed))
        check_file("ca_file", settings.ca_file, kCertificate, holds_certificate);
    check_file("client_certificate", settings.client_certificate, kCertificate, holds_certificate);
    const bool apart = !settings.client_key.empty();
    check_file(apart ? "client_key" : "client_certificate",
               apart ? settings.client_key : settings.client_certificate,
               "private key in PEM without a password (-----BEGIN PRIVATE KEY-----)", holds_key);
}

bool is_certified_for(Poco::Net::SecureStreamSocket& socket, const std::string& host) {
    const auto shown = socket.peerCertificate();
    auto* const certificate = const_cast<X509*>(shown.certificate());
    Poco::Net::IPAddress address;
    if (Poco::Net::IPAddress::tryParse(host, address))
        return X509_check_ip_asc(certificate, host.c_str(), 0) == 1;
    return X509_check_host(certificate, host.c_str(), host.size(),
                           X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1;
}

std::optional<Proxy> proxy_for(const Url& url, const std::string& configured) {
    if (configured == "none") return std::nullopt;
    if (!configured.empty()) return read_proxy(configured, "proxy");
    if (this_machine(url.host) || excepted(url)) return std::nullopt;
    const auto found = url.secure() ? variable("HTTPS_PROXY", "https_proxy")
                                    : variable("HTTP_PROXY", "http_proxy");
    if (found.empty()) return std::nullopt;
    return read_proxy(found, url.secure() ? "HTTPS_PROXY" : "HTTP_PROXY");
}

bool TlsSettings::operator<(const TlsSettings& other) const {
    return std::tie(ca_file, client_certificate, client_key) <
           std::tie(other.ca_file, other.client_certificate, other.client_key);
}

Poco::Net::Context::Ptr tls_context(const TlsSettings& settings) {
    using Poco::Net::Context;
    static std::mutex mutex;
    static auto& contexts = *new std::map<TlsSettings, Context::Ptr>;  // for good: threads use them
    const std::scoped_lock lock(mutex);
    if (const auto found = contexts.find(settings); found != contexts.end()) return found->second;
    check_files(settings);
    Context::Params params;
    params.verificationMode = Context::VERIFY_STRICT;
    params.loadDefaultCAs = true;
    params.caLocation = settings.ca_file;
    params.certificateFile = settings.client_certificate;
    params.privateKeyFile =
        settings.client_key.empty() ? settings.client_certificate : settings.client_key;
    try {
        Context::Ptr context(new Context(Context::TLS_CLIENT_USE, params));
        // OpenSSL drops the key then, and the server would miss a certificate.
        const bool fits =
            params.certificateFile.empty() || SSL_CTX_check_private_key(context->sslContext()) == 1;
        clear_tls_errors();
        if (!fits) throw Poco::Net::SSLContextException("the key is not that of the certificate");
        context->requireMinimumProtocol(Context::PROTO_TLSV1_2);
        context->enableExtendedCertificateVerification();  // the name
        SSL_CTX_set_verify(context->sslContext(), SSL_VERIFY_PEER, note_refusal);
        return contexts.emplace(settings, context).first->second;
    } catch (const Poco::Exception& error) {
        throw sdk::Failure(PATCHBAY_E_INVALID,
                           "the TLS settings (ca_file \"" + settings.ca_file +
                               "\", client_certificate \"" + settings.client_certificate +
                               "\", client_key \"" + settings.client_key +
                               "\") cannot be used together: " + error.displayText());
    }
}

std::string take_tls_refusal() {
    return std::exchange(tls_refusal, {});
}

void clear_tls_errors() {
    ERR_clear_error();
}

Endpoint Endpoint::from(const sdk::Config& settings) {
    Endpoint endpoint(Url::parse(settings.text("url")));
    for (const auto& [name, value] : settings.object("headers"))
        endpoint.headers.set_foreign(name, value);
    endpoint.tls = {settings.text("ca_file"), settings.text("client_certificate"),
                    settings.text("client_key")};
    check_files(endpoint.tls);
    endpoint.proxy = settings.text("proxy");
    static_cast<void>(proxy_for(endpoint.url, endpoint.proxy));  // its errors now
    endpoint.unix_socket = settings.text("unix_socket");
    endpoint.connect_timeout = std::chrono::milliseconds(
        static_cast<std::int64_t>(settings.number("connect_timeout_ms", 10'000, 1, 600'000)));
    endpoint.keep_alive = std::chrono::seconds(
        static_cast<std::int64_t>(settings.number("keep_alive_sec", 50, 0, 3'600)));
    return endpoint;
}

}  // namespace patchbay::net
