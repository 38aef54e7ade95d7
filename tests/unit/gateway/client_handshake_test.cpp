// What a client is answered as it says what it is; no session, and no server is spoken to.
#include "gateway/client_handshake.hpp"

#include "unit/service/fixture.hpp"

#include <optional>
#include <string>

namespace patchbay::gateway {
namespace {

using ::testing::HasSubstr;
namespace json = boost::json;

class ClientHandshakeTest : public service::ServiceTest {
protected:
    ClientHandshake& handshake() {
        if (!handshake_) {
            auto& servers_known = known();
            instructions_.emplace(servers_known.connections(), servers_known.router(), view_, 1);
            handshake_.emplace(servers_known, *instructions_, Told::Nothing, "7.1");
        }
        return *handshake_;
    }
    Result<std::string> initialize(const std::string& members) {
        return handshake().initialize({members, {}});
    }
    static json::object parsed(const std::string& raw) { return json::parse(raw).as_object(); }

private:
    View view_;
    std::optional<Instructions> instructions_;
    std::optional<ClientHandshake> handshake_;
};

TEST_F(ClientHandshakeTest, ARevisionThatWeSpeakIsAgreedOn) {
    const auto result =
        initialize(R"("protocolVersion":"2025-03-26","capabilities":{"sampling":{}})");
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(parsed(*result).at("protocolVersion"), "2025-03-26");
    EXPECT_EQ(parsed(*result).at("serverInfo").at("version"), "7.1");
    EXPECT_EQ(handshake().revision(), "2025-03-26");
    EXPECT_TRUE(handshake().capabilities().contains("sampling"));
}

TEST_F(ClientHandshakeTest, AnotherOneIsAnsweredWithTheNewestOfItsEra) {
    for (const char* asked : {"1999-01-01", "2026-07-28", ""}) {
        const auto result =
            initialize(R"("protocolVersion":")" + std::string(asked) + R"(","capabilities":{})");
        ASSERT_TRUE(result) << result.error().message;
        EXPECT_EQ(parsed(*result).at("protocolVersion"), "2025-11-25") << asked;
    }
}

TEST_F(ClientHandshakeTest, WhatIsRefusedBeginsNothing) {
    const auto nameless = initialize(R"("capabilities":{})");
    ASSERT_FALSE(nameless);
    EXPECT_THAT(nameless.error().message, HasSubstr("\"protocolVersion\", a text"));
    const auto many = initialize(R"("protocolVersion":"2025-11-25","capabilities":{"x":")" +
                                 std::string(kMostCapabilityBytes, 'x') + "\"}");
    ASSERT_FALSE(many);
    EXPECT_THAT(many.error().message, HasSubstr("more than 65536 bytes"));
    EXPECT_FALSE(handshake().initialized());
}

TEST_F(ClientHandshakeTest, EachRequestOfTheModernEraSaysWhatItsClientCan) {
    ASSERT_TRUE(initialize(R"("protocolVersion":"2025-11-25","capabilities":{"sampling":{}})"));
    ClientRequest legacy{"1", "tools/call", {}};
    ClientRequest modern{"2", "tools/call", {}};
    modern.meta.era = protocol::Era::Modern;
    modern.meta.capabilities = R"({"elicitation":{}})";
    EXPECT_EQ(handshake().abilities_behind(legacy), parsed(R"({"sampling":{}})"));
    EXPECT_EQ(handshake().abilities_behind(modern), parsed(R"({"elicitation":{}})"));
}

}  // namespace
}  // namespace patchbay::gateway
