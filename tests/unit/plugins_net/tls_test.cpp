// Connections through TLS: whom they trust, by which name, and what they carry.
#include "net/connection.hpp"
#include "support/tls_server.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <gmock/gmock.h>
#include <openssl/err.h>

#include <filesystem>
#include <optional>

namespace patchbay::net {
namespace {

using test::TlsServer;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string answer_with(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
std::string echo(const std::string& request) {
    return answer_with(request.substr(request.find("\r\n\r\n") + 4));
}

class Tls : public ::testing::Test {
protected:
    void serve(const TlsServer::Play& play = {}) {
        server_.emplace(play, echo);
        url_ = server_->url();
        endpoint_.tls.ca_file = server_->ca_file();
    }
    Dialed dialed() { return dial(endpoint_, Url::parse(url_), fuse_); }
    // Why nobody is connected to; empty: somebody is.
    std::string trouble() {
        try {
            dialed();
            return {};
        } catch (const Trouble& caught) {
            EXPECT_EQ(caught.code, PATCHBAY_E_IO);
            EXPECT_FALSE(caught.sent);
            return caught.text;
        }
    }
    // What comes back for `body`.
    static std::string asked(Connection& connection, const std::string& body) {
        Outgoing request;
        request.method = "POST";
        request.body = body;
        request.has_body = true;
        connection.ask(Url::parse("https://127.0.0.1/mcp"), request, {});
        std::string answer;
        bool head = false;
        while (!connection.answered()) {
            pollfd wait{connection.fd(), POLLIN, 0};
            if (connection.wants_to_write()) wait.events |= POLLOUT;
            if (::poll(&wait, 1, 20'000) != 1) return "nothing in time";
            connection.flush();
            char buffer[Connection::kPiece];
            auto piece = connection.receive(buffer);
            if (!piece) continue;
            if (!head) head = connection.take_head(*piece).has_value();
            if (head) connection.body().feed(*piece, answer, SIZE_MAX);
        }
        EXPECT_EQ(connection.unsent(), 0u);
        EXPECT_TRUE(connection.sent());
        return answer;
    }

    std::optional<TlsServer> server_;
    std::string url_;
    Endpoint endpoint_{Url{}};
    Fuse fuse_;
};

TEST_F(Tls, AConnectionCarriesMoreThanASocketTakesAndIsAskedAgain) {
    serve();
    Connection connection(dialed(), Url::parse(url_));
    for (const std::size_t size : {2u, 8u << 20, 3u}) {
        const std::string body(size, 'x');
        EXPECT_TRUE(asked(connection, body) == body) << size;
        EXPECT_TRUE(connection.reusable());
        EXPECT_TRUE(connection.fresh());
    }
}

TEST_F(Tls, WhatAnotherOneLeftOfItsErrorsIsNoneOfTheConnection) {
    serve();
    Connection connection(dialed(), Url::parse(url_));
    const auto leave = [] { ERR_raise(ERR_LIB_USER, ERR_R_INTERNAL_ERROR); };
    leave();
    EXPECT_TRUE(connection.fresh());
    leave();
    EXPECT_EQ(asked(connection, "{}"), "{}");
    // More than the socket takes: the write that waits looks at them as well.
    const std::string body(64u << 20, 'x');  // far above what both ends of a socket keep
    Outgoing request;
    request.method = "POST";
    request.body = body;
    request.has_body = true;
    leave();
    connection.ask(Url::parse(url_), request, {});
    EXPECT_GT(connection.unsent(), 0u);
    EXPECT_TRUE(connection.wants_to_write());
    leave();
    EXPECT_NO_THROW(connection.flush()) << "it goes on when there is room";
}

TEST_F(Tls, AConnectionThatWasEndedBreaks) {
    serve();
    Connection connection(dialed(), Url::parse(url_));
    EXPECT_EQ(asked(connection, "{}"), "{}");
    server_.reset();
    pollfd wait{connection.fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&wait, 1, 20'000), 1);
    EXPECT_FALSE(connection.fresh());
}

TEST_F(Tls, OnlyAnAuthorityThatIsNamedIsTrusted) {
    serve();
    EXPECT_EQ(trouble(), "");
    endpoint_.tls.ca_file.clear();
    EXPECT_THAT(trouble(), StartsWith("TLS with 127.0.0.1:"));
    EXPECT_THAT(trouble(), HasSubstr(" failed: unable to get local issuer certificate"));
    // What was said about that one is not said about the next.
    server_.emplace(TlsServer::Play{"DNS:other.example", "127.0.0.1", TLS1_3_VERSION, false}, echo);
    url_ = server_->url();
    endpoint_.tls.ca_file = server_->ca_file();
    EXPECT_THAT(trouble(), Not(HasSubstr("issuer")));
}

TEST_F(Tls, TheCertificateNamesTheHostAndNotByItsCommonName) {
    serve({"IP:127.0.0.2,DNS:127.0.0.1.example", "127.0.0.1", TLS1_3_VERSION, false});
    EXPECT_THAT(trouble(), HasSubstr("the certificate is not for this host"));
    serve({"", "127.0.0.1", TLS1_3_VERSION, false});
    EXPECT_THAT(trouble(), HasSubstr("its subjectAltName does not name it"));
    serve({"", "mcp.example", TLS1_3_VERSION, false});
    EXPECT_THAT(trouble(), HasSubstr("the certificate is not for this host"));
}

TEST_F(Tls, AHostOfANameIsLookedForAmongTheNames) {
    const auto dials = [&](const std::string& names, const std::string& common_name) {
        serve({names, common_name, TLS1_3_VERSION, false});
        url_.replace(url_.find("127.0.0.1"), 9, "a.mcp.example");
        endpoint_.resolve = [](const std::string&, std::uint16_t port) {
            return Endpoint::Addresses{{"127.0.0.1", port}};
        };
        return trouble();
    };
    EXPECT_EQ(dials("DNS:a.mcp.example", "anybody"), "");
    EXPECT_EQ(dials("DNS:*.mcp.example", "anybody"), "");
    EXPECT_THAT(dials("", "a.mcp.example"), HasSubstr("its subjectAltName does not name it"));
    EXPECT_THAT(dials("DNS:b.mcp.example,DNS:mcp.example", "anybody"),
                HasSubstr("is not for this host"));
}

TEST_F(Tls, WhatIsOlderThanTls12IsNotSpoken) {
    serve({"IP:127.0.0.1", "127.0.0.1", TLS1_2_VERSION, false});
    EXPECT_EQ(trouble(), "");
    serve({"IP:127.0.0.1", "127.0.0.1", TLS1_1_VERSION, false});
    EXPECT_THAT(trouble(), StartsWith("TLS with 127.0.0.1:"));
}

TEST_F(Tls, AClientShowsItsCertificateWhereItHasOne) {
    // With TLS 1.3 a client hears of what it lacks behind the handshake only.
    serve({"IP:127.0.0.1", "127.0.0.1", TLS1_2_VERSION, true});
    EXPECT_THAT(trouble(), HasSubstr(" failed: "));
    endpoint_.tls.client_certificate = server_->client_file();
    EXPECT_EQ(trouble(), "") << "the key of the same file";
    endpoint_.tls.client_key = server_->key_file();
    EXPECT_EQ(trouble(), "");
    const TlsServer other({}, echo);
    endpoint_.tls.client_key = other.key_file();
    try {
        dialed();
        ADD_FAILURE() << "the key of another certificate";
    } catch (const Trouble& caught) {
        EXPECT_THAT(caught.text, HasSubstr("cannot be used together"));
        EXPECT_EQ(caught.code, PATCHBAY_E_INVALID);
    }
    endpoint_.tls.client_certificate = other.client_file();
    EXPECT_THAT(trouble(), HasSubstr(" failed: ")) << "of another authority";
}

TEST_F(Tls, AFileMustHoldWhatItIsFor) {
    serve();
    const auto refused = [](const TlsSettings& settings) -> std::string {
        try {
            check_files(settings);
            return {};
        } catch (const sdk::Failure& failure) {
            return failure.what();
        }
    };
    const auto ca = server_->ca_file(), client = server_->client_file(), key = server_->key_file();
    EXPECT_EQ(refused({ca, client, {}}), "");
    EXPECT_EQ(refused({ca, client, key}), "");
    EXPECT_EQ(refused({std::filesystem::path(ca).parent_path(), {}, {}}), "") << "of authorities";
    EXPECT_THAT(refused({key, {}, {}}), HasSubstr("holds no certificate in PEM"));
    EXPECT_THAT(refused({ca, key, {}}), HasSubstr("client_certificate"));
    EXPECT_THAT(refused({ca, ca, {}}), StartsWith("client_certificate"));
    EXPECT_THAT(refused({ca, ca, {}}), HasSubstr("holds no private key"));
    EXPECT_THAT(refused({ca, client, ca}), StartsWith("client_key"));
    EXPECT_EQ(ERR_peek_error(), 0u) << "what was wrong is no error of the next call";
}

TEST_F(Tls, AServerThatSpeaksNoTlsOrNothingIsLeft) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listener, any, size), 0);
    ASSERT_EQ(::listen(listener, 8), 0);
    ASSERT_EQ(::getsockname(listener, any, &size), 0);
    url_ = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    endpoint_.connect_timeout = std::chrono::milliseconds(50);
    // It waits for nobody to accept it.
    EXPECT_THAT(trouble(), HasSubstr("failed: no answer within connect_timeout_ms"));
    endpoint_.connect_timeout = std::chrono::seconds(20);
    std::thread other([&] {
        for (int i = 0; i < 2; ++i) {
            const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            static_cast<void>(::send(fd, "HTTP/1.1 400 Bad\r\n\r\n", 20, MSG_NOSIGNAL));
            ::shutdown(fd, SHUT_WR);
            for (char byte[4096]; ::recv(fd, byte, sizeof byte, 0) > 0;) {
            }
            ::close(fd);
        }
    });
    EXPECT_THAT(trouble(), HasSubstr("failed: "));
    other.join();
    ::close(listener);
}

}  // namespace
}  // namespace patchbay::net
