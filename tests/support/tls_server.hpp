// An HTTP server behind TLS, with an authority of its own: who its certificate is for, what it
// wants of a client and how new its protocol is are the test's to say. One connection at a time.
//
// Threads: one of its own, until the object ends.
#pragma once

#include "support/loopback.hpp"
#include "support/scratch_folder.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace patchbay::test {

class TlsServer {
public:
    struct Play {
        std::string names = "IP:127.0.0.1";  // of its certificate, as subjectAltName; empty: none
        std::string common_name = "127.0.0.1";
        int newest = TLS1_3_VERSION;
        bool wants_certificate = false;  // one of its own authority
        bool leaves = false;             // behind its first answer, and says so
    };
    // Of a request with its body, the whole answer.
    using Script = std::function<std::string(const std::string& request)>;

    TlsServer(Play play, Script script) : script_(std::move(script)), leaves_(play.leaves) {
        const Identity authority("authority", {}, nullptr);
        const Identity server(play.common_name, play.names, &authority);
        const Identity client("client", {}, &authority);
        write(ca_file(), authority.certificate.get(), nullptr);
        write(client_file(), client.certificate.get(), client.key.get());
        write(key_file(), nullptr, client.key.get());
        context_.reset(SSL_CTX_new(TLS_server_method()));
        SSL_CTX_set_max_proto_version(context_.get(), play.newest);
        // What is old needs weak signatures, which the system's settings forbid.
        if (play.newest < TLS1_2_VERSION) SSL_CTX_set_security_level(context_.get(), 0);
        SSL_CTX_use_certificate(context_.get(), server.certificate.get());
        SSL_CTX_use_PrivateKey(context_.get(), server.key.get());
        if (play.wants_certificate) {
            SSL_CTX_load_verify_locations(context_.get(), ca_file().c_str(), nullptr);
            SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                               nullptr);
        }
        listener_ = listen_on_loopback(port_);
        thread_ = std::thread([this] { serve(); });
    }
    ~TlsServer() {
        stopping_ = true;
        thread_.join();
        ::close(listener_);
    }
    TlsServer(const TlsServer&) = delete;

    std::string url() const { return "https://127.0.0.1:" + std::to_string(port_) + "/mcp"; }
    std::string ca_file() const { return folder_ / "ca.pem"; }
    std::string client_file() const { return folder_ / "client.pem"; }  // certificate and key
    std::string key_file() const { return folder_ / "key.pem"; }

private:
    template <auto Free>
    struct Freed {
        template <class Thing>
        void operator()(Thing* thing) const {
            Free(thing);
        }
    };

    // A key and what `issuer` says about it; null: itself, as an authority.
    struct Identity {
        Identity(const std::string& common_name, const std::string& names, const Identity* issuer)
            : key(EVP_EC_gen("P-256")), certificate(X509_new()) {
            static std::atomic<long> serial{0};
            auto* const it = certificate.get();
            X509_set_version(it, X509_VERSION_3);
            ASN1_INTEGER_set(X509_get_serialNumber(it), ++serial);
            X509_gmtime_adj(X509_getm_notBefore(it), -3600);
            X509_gmtime_adj(X509_getm_notAfter(it), 3600);
            X509_set_pubkey(it, key.get());
            X509_NAME_add_entry_by_txt(X509_get_subject_name(it), "CN", MBSTRING_ASC,
                                       reinterpret_cast<const unsigned char*>(common_name.c_str()),
                                       -1, -1, 0);
            X509_set_issuer_name(it,
                                 X509_get_subject_name(issuer ? issuer->certificate.get() : it));
            if (!issuer) add(NID_basic_constraints, "critical,CA:TRUE");
            if (!names.empty()) add(NID_subject_alt_name, names);
            X509_sign(it, (issuer ? issuer->key : key).get(), EVP_sha256());
        }
        void add(int kind, const std::string& text) {
            const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
                X509V3_EXT_conf_nid(nullptr, nullptr, kind, text.c_str()));
            X509_add_ext(certificate.get(), extension.get(), -1);
        }
        std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key;
        std::unique_ptr<X509, Freed<X509_free>> certificate;
    };

    static void write(const std::string& path, X509* certificate, EVP_PKEY* key) {
        const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "w"),
                                                         std::fclose);
        if (certificate) PEM_write_X509(file.get(), certificate);
        if (key) PEM_write_PrivateKey(file.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
    }

    void serve() {
        while (!stopping_) {
            pollfd wait{listener_, POLLIN, 0};
            if (::poll(&wait, 1, 10) <= 0) continue;
            const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            const timeval often{0, 20'000};  // it looks whether it is stopped
            ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &often, sizeof often);
            ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &often, sizeof often);
            const std::unique_ptr<SSL, Freed<SSL_free>> session(SSL_new(context_.get()));
            SSL_set_fd(session.get(), fd);
            converse(session.get());
            ::close(fd);
        }
    }
    // As often as it takes. False: it is over.
    template <class Step>
    bool done(SSL* session, Step step) {
        for (;;) {
            const int result = step();
            if (result > 0) return true;
            const int why = SSL_get_error(session, result);
            if (stopping_ || (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE))
                return false;
        }
    }
    void converse(SSL* session) {
        if (!done(session, [&] { return SSL_accept(session); })) return;
        std::string request;
        for (char piece[16'384];;) {
            std::size_t got = 0;
            if (!done(session, [&] { return SSL_read_ex(session, piece, sizeof piece, &got); }))
                return;
            request.append(piece, got);
            const auto end = request.find("\r\n\r\n");
            if (end == request.npos) continue;
            const auto length = request.find("Content-Length: ");
            const auto size =
                length < end ? static_cast<std::size_t>(std::atol(&request[length + 16])) : 0;
            if (request.size() < end + 4 + size) continue;
            const auto answer = script_(std::exchange(request, {}));
            std::size_t put = 0;
            if (!done(session,
                      [&] { return SSL_write_ex(session, answer.data(), answer.size(), &put); }))
                return;
            if (leaves_) {
                SSL_shutdown(session);
                return;
            }
        }
    }

    const Script script_;
    const bool leaves_;
    const ScratchFolder folder_;
    std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context_;
    int listener_ = -1, port_ = 0;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace patchbay::test
