#include "crypto/openssl/openssl.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <cstdint>
#include <sys/socket.h>
#include <utility>

namespace patchbay::crypto::openssl {

namespace {

using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Freed<SSL_free>>;

int descriptor_of(BIO* bio) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

// OpenSSL's own BIO of a socket would raise SIGPIPE.
int bio_write(BIO* bio, const char* bytes, int size) {
    BIO_clear_retry_flags(bio);
    const auto sent =
        ::send(descriptor_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
    return static_cast<int>(sent);
}

int bio_read(BIO* bio, char* into, int size) {
    BIO_clear_retry_flags(bio);
    const auto got = ::recv(descriptor_of(bio), into, static_cast<std::size_t>(size), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
    return static_cast<int>(got);
}

long bio_control(BIO*, int command, long, void*) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO* bio_of(int fd) {
    static auto* const method = [] {
        auto* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "patchbay socket");
        BIO_meth_set_write(made, bio_write);
        BIO_meth_set_read(made, bio_read);
        BIO_meth_set_ctrl(made, bio_control);
        return made;
    }();
    auto* bio = BIO_new(method);
    BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
    BIO_set_init(bio, 1);
    return bio;
}

class Session final : public TlsSession {
public:
    Session(SSL_CTX* context, int socket) : ssl_(SSL_new(context)) {
        auto* bio = bio_of(socket);
        SSL_set_bio(ssl_.get(), bio, bio);
        SSL_set_accept_state(ssl_.get());
    }

    std::optional<std::size_t> read(char* into, std::size_t size) override {
        ERR_clear_error();
        std::size_t got = 0;
        const int done = SSL_read_ex(ssl_.get(), into, size, &got);
        const int why = done == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), done);
        reads_by_writing_ = why == SSL_ERROR_WANT_WRITE;
        if (done == 1) return got;
        if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return std::nullopt;
        broken_ = why != SSL_ERROR_ZERO_RETURN;
        return 0;
    }
    std::optional<std::size_t> write(std::string_view bytes) override {
        if (broken_ || !ready()) return std::nullopt;
        ERR_clear_error();
        std::size_t taken = 0;
        if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &taken) == 1) return taken;
        if (SSL_get_error(ssl_.get(), 0) == SSL_ERROR_WANT_WRITE) return 0;
        broken_ = true;
        return std::nullopt;
    }
    bool reads_by_writing() const override { return reads_by_writing_; }
    bool ready() const override { return SSL_is_init_finished(ssl_.get()) == 1; }
    void end() override {
        ERR_clear_error();
        if (!broken_ && ready()) SSL_shutdown(ssl_.get());
    }

private:
    const Ssl ssl_;
    bool reads_by_writing_ = false, broken_ = false;
};

class Server final : public TlsServer {
public:
    explicit Server(Context context) : context_(std::move(context)) {}

    std::unique_ptr<TlsSession> session_over(int socket) const override {
        return std::make_unique<Session>(context_.get(), socket);
    }
    bool out_of_date() const override {
        const auto* certificate = SSL_CTX_get0_certificate(context_.get());
        return X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0 ||
               X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0;
    }

private:
    const Context context_;
};

// A password would be asked for on the terminal otherwise.
int no_password(char*, int, int, void*) {
    return -1;
}

// A client that offers protocols and not this one would speak HTTP/2 to us.
int choose_http(SSL*, const unsigned char** chosen, unsigned char* size,
                const unsigned char* offered, unsigned offered_size, void*) {
    static constexpr unsigned char kHttp[] = "\x08http/1.1";
    auto* out = const_cast<unsigned char*>(*chosen);
    if (SSL_select_next_proto(&out, size, kHttp, sizeof kHttp - 1, offered, offered_size) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = out;
    return SSL_TLSEXT_ERR_OK;
}

Error with_file(const char* what, const std::string& path, const std::string& why) {
    return {ErrorCode::Invalid, std::string(what) + " \"" + path + "\" " + why};
}

// No renegotiation and no compression (CRIME); no session cache, whose memory strangers would fill.
Context server_context() {
    Context made(SSL_CTX_new(TLS_server_method()));
    auto* const context = made.get();
    if (!context) return made;
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // tickets are the client's
    SSL_CTX_set_default_passwd_cb(context, no_password);
    SSL_CTX_set_alpn_select_cb(context, choose_http, nullptr);
    return made;
}

// Nothing: they are a pair, and the context has them.
std::optional<Error> take_files(SSL_CTX* context, const std::string& certificate,
                                const std::string& key) {
    const auto no_pair = [&] {
        return with_file("the key", key, "is not that of the certificate \"" + certificate + "\"");
    };
    if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1)
        return with_file("the certificate", certificate,
                         "holds no certificate in PEM (-----BEGIN CERTIFICATE-----)");
    if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
        if (ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH) return no_pair();
        return with_file(
            "the key", key,
            "holds no private key in PEM without a password (-----BEGIN PRIVATE KEY-----)");
    }
    if (SSL_CTX_check_private_key(context) != 1) return no_pair();
    return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<TlsServer>> tls_server(const std::string& certificate_file,
                                              const std::string& key_file) {
    ERR_clear_error();
    auto context = server_context();
    if (!context) return Error{ErrorCode::Internal, "OpenSSL cannot be set up for TLS"};
    auto wrong = take_files(context.get(), certificate_file, key_file);
    ERR_clear_error();
    if (wrong) return std::move(*wrong);
    return std::unique_ptr<TlsServer>(std::make_unique<Server>(std::move(context)));
}

}  // namespace patchbay::crypto::openssl
