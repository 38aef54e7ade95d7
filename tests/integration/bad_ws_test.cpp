// WebSocket servers, good and bad, frame by frame.
#include "integration/npm.hpp"

#include <gmock/gmock.h>

namespace patchbay::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Frames {
    const char* behaviour;
    int exit_code;
    Words says;
};

class WsPeers : public NpmTest, public ::testing::WithParamInterface<Frames> {
protected:
    void start(const std::string& behaviour) {
        const auto program = fs::path(PATCHBAY_SOURCE_DIR) / "tests/servers/ws_peer/peer.mjs";
        peer_ = std::make_unique<Program>(
            Command{{kNode, program, behaviour}, home.environment, home.work(), {}, kDeadline});
        ASSERT_TRUE(peer_->wait_until([&] { return peer_->out().find('\n') != std::string::npos; }))
            << peer_->err();
        const auto port = peer_->out().substr(0, peer_->out().find('\n'));
        home.add("bad", {{"url", "ws://127.0.0.1:" + port + "/mcp"}, {"restart", false}});
    }
    std::unique_ptr<Program> peer_;
};

TEST_P(WsPeers, AreUsedOrLeftWithAClearError) {
    const auto& frames = GetParam();
    start(frames.behaviour);
    const auto done = home.run({"--set", "limits.message_bytes=100000", "call", "mcp__bad__say"});
    EXPECT_EQ(done.exit_code, frames.exit_code) << done.out << done.err;
    EXPECT_EQ(done.out, frames.exit_code == 0 ? "hi\n" : "");
    for (const auto& part : frames.says) EXPECT_THAT(done.err, HasSubstr(part));
    EXPECT_LT(done.took, 10s);
}

INSTANTIATE_TEST_SUITE_P(
    , WsPeers,
    ::testing::Values(
        Frames{"fine", 0, {}}, Frames{"fragments", 0, {}}, Frames{"pings", 0, {}},
        Frames{"rest-without-beginning", 1, {"the rest of a message that never began"}},
        Frames{"beginning-twice", 1, {"a new message inside another one"}},
        Frames{"binary", 1, {"a message that is not text"}},
        Frames{"reserved", 1, {"an extension that was not agreed on"}},
        Frames{"masked", 1, {"a masked frame"}}, Frames{"masked-ping", 1, {"a masked frame"}},
        Frames{"ping-too-long", 1, {"a broken control frame"}},
        Frames{"ping-in-parts", 1, {"a broken control frame"}},
        Frames{"too-large", 1, {"limit message_bytes"}},
        Frames{"claims-too-much", 1, {"limit message_bytes"}},
        Frames{"too-large-in-parts", 1, {"more than 100000 bytes (limit message_bytes)"}},
        Frames{"closes-with-a-code", 5, {"WebSocket code 1011: out of ideas"}},
        Frames{"cut-off", 5, {"connection lost: the server closed the connection in the middle"}},
        Frames{"ends", 5, {"connection lost"}}, Frames{"refuses", 5, {"403"}},
        Frames{"other-subprotocol", 5, {"another WebSocket subprotocol"}}),
    [](const auto& frames) {
        std::string name = frames.param.behaviour;
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

}  // namespace
}  // namespace patchbay::test
