// A server behind TLS, and clients of OpenSSL's own.
#include "http/byte_stream.hpp"
#include "http/server.hpp"
#include "http/tls_watch.hpp"
#include "support/key_pair.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::http {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};

// One that is driven by the test, a step at a time.
class Client {
public:
    Client(const Address& address, int newest = TLS1_3_VERSION)
        : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
          context_(SSL_CTX_new(TLS_client_method())) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(address.port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
        ::fcntl(fd_, F_SETFL, O_NONBLOCK);
        SSL_CTX_set_max_proto_version(context_.get(), newest);
        if (newest < TLS1_2_VERSION) SSL_CTX_set_security_level(context_.get(), 0);
        SSL_CTX_set_mode(context_.get(),
                         SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        static constexpr unsigned char kOffered[] = "\x02h2\x08http/1.1";
        SSL_CTX_set_alpn_protos(context_.get(), kOffered, sizeof kOffered - 1);
        session_.reset(SSL_new(context_.get()));
        SSL_set_fd(session_.get(), fd_);
        SSL_set_connect_state(session_.get());
    }
    ~Client() { ::close(fd_); }
    Client(const Client&) = delete;

    void send(std::string bytes) { out_ += std::move(bytes); }
    // Goes on as far as it can.
    void turn() {
        ERR_clear_error();
        if (!SSL_is_init_finished(session_.get()) && !done(SSL_do_handshake(session_.get())))
            return;
        std::size_t count = 0;
        while (!out_.empty() && SSL_write_ex(session_.get(), out_.data(), out_.size(), &count) == 1)
            out_.erase(0, count);
        char block[16'384];
        for (;;) {
            const int got = SSL_read_ex(session_.get(), block, sizeof block, &count);
            if (got != 1) {
                done(got);
                return;
            }
            got_.append(block, count);
        }
    }
    const std::string& got() const { return got_; }
    bool ended() const { return ended_; }    // with a word
    bool broken() const { return broken_; }  // or without
    bool greeted() const { return SSL_is_init_finished(session_.get()) == 1; }
    std::string name() const {
        char name[100] = "";
        X509_NAME_get_text_by_NID(X509_get_subject_name(SSL_get0_peer_certificate(session_.get())),
                                  NID_commonName, name, sizeof name);
        return name;
    }
    std::string protocol() const {
        const unsigned char* chosen = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(session_.get(), &chosen, &size);
        return {reinterpret_cast<const char*>(chosen), size};
    }

private:
    bool done(int result) {
        const int why = SSL_get_error(session_.get(), result);
        ended_ = ended_ || why == SSL_ERROR_ZERO_RETURN;
        broken_ = broken_ || why == SSL_ERROR_SSL || why == SSL_ERROR_SYSCALL;
        return result == 1;
    }
    const int fd_;
    const std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context_;
    std::unique_ptr<SSL, Freed<SSL_free>> session_;
    std::string out_, got_;
    bool ended_ = false, broken_ = false;
};

class Tls : public ::testing::Test, protected Handler {
protected:
    Tls() {
        first.write_certificate(files.certificate);
        first.write_key(files.key);
    }
    void on_request(std::shared_ptr<Exchange> exchange, Request request) override {
        exchange->read_body([this, exchange, request](std::string body) {
            requests.push_back(request);
            requests.back().body = std::move(body);
            if (respond) return respond(*exchange);
            exchange->answer(200, {}, "you said " + std::to_string(requests.back().body.size()));
        });
    }
    Server& server() {
        if (!server_) {
            watch = TlsWatch::open(loop, files).value();
            server_.emplace(loop, *Listener::open(*parse_address("127.0.0.1:0")),
                            static_cast<Handler&>(*this), limits, watch.get());
        }
        return *server_;
    }
    // The machine's own time, as long as it takes.
    bool wait(Client& client, const std::function<bool()>& done) {
        const auto deadline = core::Clock::now() + 30s;
        while (!done() && core::Clock::now() < deadline) {
            client.turn();
            loop.run_until(done, core::Clock::now() + 2ms);
        }
        return done();
    }
    std::string why_not(const TlsFiles& wrong) {
        const auto opened = TlsIdentity::open(wrong);
        return opened ? "" : opened.error().message;
    }

    test::ScratchFolder folder;
    const TlsFiles files{folder / "cert.pem", folder / "key.pem"};
    const test::KeyPair first{"first"};
    core::Loop loop;
    Limits limits;
    std::vector<Request> requests;
    std::function<void(Exchange&)> respond;
    std::unique_ptr<TlsWatch> watch;
    std::optional<Server> server_;
};

const std::string kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

TEST_F(Tls, CarriesRequestsAndAnswers) {
    Client client(server().address());
    client.send(kGet);
    ASSERT_TRUE(wait(client, [&] { return client.got().ends_with("you said 0"); })) << client.got();
    EXPECT_EQ(client.name(), "first");
    EXPECT_EQ(client.protocol(), "http/1.1");
    const std::string body(3u << 20, 'x');
    client.send("POST /y HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    ASSERT_TRUE(wait(client, [&] { return requests.size() == 2; }));
    EXPECT_EQ(requests[1].body, body);
    EXPECT_EQ(requests[1].peer, "127.0.0.1");
}

TEST_F(Tls, SpeaksTheVersionsThatCount) {
    Client older(server().address(), TLS1_2_VERSION);
    older.send(kGet);
    EXPECT_TRUE(wait(older, [&] { return older.got().ends_with("you said 0"); }));
    Client oldest(server().address(), TLS1_1_VERSION);
    oldest.send(kGet);
    EXPECT_TRUE(wait(oldest, [&] { return oldest.broken(); }));
    EXPECT_EQ(requests.size(), 1u);
}

// More than the socket holds: what was not taken comes again, at its place.
TEST_F(Tls, ALongAnswerArrivesWholeAtASlowReader) {
    std::string body;
    for (int i = 0; body.size() < (8u << 20); ++i) body += std::to_string(i) + ",";
    respond = [&](Exchange& exchange) { exchange.answer(200, {{"Connection", "close"}}, body); };
    Client client(server().address());
    client.send(kGet);
    ASSERT_TRUE(wait(client, [&] { return !requests.empty(); }));
    ASSERT_TRUE(wait(client, [&] { return client.got().size() > body.size(); }));
    EXPECT_TRUE(client.got().ends_with(body));
}

TEST_F(Tls, AStreamGoesOnAndEndsWithAWord) {
    Client client(server().address());
    client.send("GET /s HTTP/1.0\r\n\r\n");
    respond = [&](Exchange& exchange) {
        exchange.begin({});
        exchange.write("one");
        loop.after(1ms, [&exchange] {
            exchange.write("two");
            exchange.end();
        });
    };
    ASSERT_TRUE(wait(client, [&] { return client.ended(); })) << client.got();
    EXPECT_TRUE(client.got().ends_with("onetwo"));
    EXPECT_FALSE(client.broken());
}

TEST_F(Tls, WhoSpeaksNoneIsNotHeard) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(server().address().port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where);
    EXPECT_EQ(::send(fd, kGet.data(), kGet.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(kGet.size()));
    char byte = 0;
    ssize_t got = -1;
    EXPECT_TRUE(loop.run_until(
        [&] {
            char block[100];
            while ((got = ::recv(fd, block, sizeof block, 0)) > 0) byte = block[0];
            return got == 0 || errno != EAGAIN;
        },
        core::Clock::now() + 20s));
    EXPECT_NE(byte, 'H') << "no answer in the clear";
    EXPECT_TRUE(requests.empty());
    ::close(fd);
}

TEST_F(Tls, WhoDoesNotFinishTheGreetingIsCutOff) {
    limits.head = 1s;
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(server().address().port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where);
    ::send(fd, "\x16\x03\x01", 3, MSG_NOSIGNAL);
    EXPECT_TRUE(loop.run_until(
        [&] {
            char byte;
            return ::recv(fd, &byte, 1, 0) == 0;
        },
        core::Clock::now() + 20s));
    ::close(fd);
}

TEST_F(Tls, ARenewedCertificateCountsFromTheNextConnectionOn) {
    Client before(server().address());
    before.send(kGet);
    ASSERT_TRUE(wait(before, [&] { return !before.got().empty(); }));
    const test::KeyPair second("second");
    second.write_certificate(files.certificate);  // no pair for now, which changes nothing
    second.write_key(files.key);
    std::string name;
    const auto deadline = core::Clock::now() + 40s;
    while (name != "second" && core::Clock::now() < deadline) {
        Client now(server().address());
        ASSERT_TRUE(wait(now, [&] { return now.greeted(); }));
        name = now.name();
        loop.run_until([] { return false; }, core::Clock::now() + 20ms);
    }
    EXPECT_EQ(name, "second");
    before.send(kGet);
    EXPECT_TRUE(wait(before, [&] { return requests.size() == 2; })) << "it goes on as it was";
}

TEST_F(Tls, FilesThatCannotBeUsedAreToldByTheirNames) {
    EXPECT_EQ(why_not(files), "");
    EXPECT_THAT(why_not({folder / "none.pem", files.key}),
                AllOf(HasSubstr("none.pem"), HasSubstr("cannot be read: No such file")));
    EXPECT_THAT(why_not({files.certificate, folder / "none.pem"}), HasSubstr("the key \""));
    EXPECT_THAT(why_not({folder.path(), files.key}), HasSubstr("is no file"));
    const auto other = folder / "other.pem";
    test::write_whole_file(other, 0600, [](FILE* file) { std::fputs("garbage", file); });
    EXPECT_THAT(why_not({other, files.key}), HasSubstr("holds no certificate in PEM"));
    EXPECT_THAT(why_not({files.certificate, other}), HasSubstr("holds no private key in PEM"));
    test::KeyPair("other").write_key(other);
    EXPECT_THAT(why_not({files.certificate, other}), HasSubstr("is not that of the certificate"));
    first.write_certificate(other);
    ::chmod(other.c_str(), 0600);
    EXPECT_THAT(why_not({files.key, other}), HasSubstr("the two files are swapped"));
    first.write_key(other, 0644);
    EXPECT_THAT(why_not({files.certificate, other}), HasSubstr("can be read by everybody"));
    first.write_key(other, 0640);
    EXPECT_EQ(why_not({files.certificate, other}), "") << "a group that was made for keys";
    test::write_whole_file(other, 0600, [&](FILE* file) {
        PEM_write_PrivateKey(file, first.key(), EVP_aes_256_cbc(),
                             reinterpret_cast<const unsigned char*>("pass"), 4, nullptr, nullptr);
    });
    EXPECT_THAT(why_not({files.certificate, other}), HasSubstr("without a password"));
}

TEST_F(Tls, ACertificateThatHasExpiredIsKnown) {
    EXPECT_FALSE((*TlsIdentity::open(files))->out_of_date());
    const test::KeyPair old("old", -3'600);
    old.write_certificate(files.certificate);
    old.write_key(files.key);
    EXPECT_TRUE((*TlsIdentity::open(files))->out_of_date());
}

}  // namespace
}  // namespace patchbay::http
