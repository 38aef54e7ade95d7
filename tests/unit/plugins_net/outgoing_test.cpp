#include "net/outgoing.hpp"

#include "net/url.hpp"

#include <gtest/gtest.h>

namespace patchbay::net {
namespace {

const Url kUrl = Url::parse("http://example.com:8080/mcp?a=b");

TEST(Outgoing, IsWrittenAsTheProtocolHasIt) {
    Outgoing request;
    request.method = "POST";
    request.headers.set("Accept", "text/event-stream");
    request.body = "{}";
    request.has_body = true;
    EXPECT_EQ(request.head(kUrl.target, kUrl.authority(), {}, {}),
              "POST /mcp?a=b HTTP/1.1\r\nHost: example.com:8080\r\nAccept: text/event-stream\r\n"
              "Content-Length: 2\r\n\r\n");
}

TEST(Outgoing, ItsOwnFieldsAreStrongerThanSecretsAndLengthsAreOurs) {
    Outgoing request;
    request.method = "POST";
    request.headers.set("X-One", "own");
    request.headers.set("content-length", "77");
    request.has_body = true;
    HeaderList secrets;
    secrets.set("x-one", "configured");
    secrets.set("Authorization", "Bearer t");
    EXPECT_EQ(request.head("/", "h", secrets, {}),
              "POST / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\n"
              "X-One: own\r\nContent-Length: 0\r\n\r\n");
}

TEST(Outgoing, WithoutABodyItHasNoLengthAndAProxyGetsItsLogin) {
    Outgoing request;
    request.method = "GET";
    EXPECT_EQ(request.head(kUrl.text(), kUrl.authority(), {}, "Basic dTpw"),
              "GET http://example.com:8080/mcp?a=b HTTP/1.1\r\nHost: example.com:8080\r\n"
              "Proxy-Authorization: Basic dTpw\r\n\r\n");
}

}  // namespace
}  // namespace patchbay::net
