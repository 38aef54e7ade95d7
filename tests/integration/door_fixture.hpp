// `patchbay serve` over HTTP, and strangers who knock at its door with an `initialize`.
//
// Threads: one. Errors: what does not come in time is reported by gtest, or an empty answer.
#pragma once

#include "integration/home.hpp"
#include "integration/http_peer.hpp"

#include <csignal>
#include <optional>
#include <string>

namespace patchbay::test {

inline const std::string kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})";

class DoorTest : public ::testing::Test {
protected:
    // The words are all that it is told: of where it listens too.
    void run(Words words) {
        program_.emplace(home.patchbay(std::move(words)));
        ASSERT_TRUE(program_->wait_for_out("/mcp\n")) << program_->err();
        const auto& out = program_->out();
        url = out.substr(0, out.find("/mcp"));
    }
    void serve(const Words& flags) {
        Words words{"serve", "--http", "127.0.0.1:0"};
        words.insert(words.end(), flags.begin(), flags.end());
        run(std::move(words));
    }
    std::string give_token(const std::string& name, const Words& more = {}) {
        Words words{"token", "add", name};
        words.insert(words.end(), more.begin(), more.end());
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 0) << done.err;
        return done.out.substr(0, done.out.find('\n'));
    }
    static HttpPeer::Headers with(const std::string& token) {
        return {{"Authorization", "Bearer " + token}};
    }
    int status(const HttpPeer::Headers& headers, const std::string& path = "/mcp") {
        return HttpPeer(url, "POST", headers, kInitialize, path).status();
    }
    // All that it said.
    std::string end() {
        program_->signal(SIGTERM);
        const auto ended = program_->finish();
        EXPECT_EQ(ended.exit_code, 0) << "SIGTERM is how it is asked to end";
        return ended.out + ended.err;
    }

    Home home;
    std::string url;
    std::optional<Program> program_;
};

}  // namespace patchbay::test
