// Clients that come from npm, before `patchbay serve` and the MCP project's own servers behind it.
//
// Owns:    a home with the servers that are added, and the gateway over HTTP where one is started.
// Threads: one. Errors: what does not start or end is reported by gtest.
#pragma once

#include "integration/npm.hpp"

#include <csignal>
#include <memory>
#include <string>
#include <utility>

namespace patchbay::test {

class Clients : public NpmTest {
protected:
    void add(const std::string& id) { add(home, id); }
    void add(Home& to, const std::string& id) {
        const auto script =
            kServers / (id == "every" ? "server-everything" : "server-memory") / "dist/index.js";
        to.add(id, {{"command", kNode.string()}, {"args", json::array{script.string()}}});
    }
    Words sdk(const std::string& version, const Words& server) const {
        Words all{kNode.string(), std::string(PATCHBAY_SOURCE_DIR) + "/tests/clients/sdk.mjs",
                  version, kModules.string()};
        all.insert(all.end(), server.begin(), server.end());
        return all;
    }
    // A bridge from stdio to HTTP. `protocol`: "legacy" passes on what the client says, "auto" says
    // it anew to a server of 2026-07-28.
    Words mcp_remote(const std::string& url, const std::string& protocol) const {
        const auto script = needs(kModules / "mcp-remote/dist/proxy.js");
        return {kNode.string(), script, url, "--transport", "http-only", "--protocol", protocol};
    }
    Outcome run_client(Words argv) const {
        auto command = home.patchbay({});
        command.argv = std::move(argv);
        return run(command);
    }
    Words serve() const { return home.patchbay({"serve"}).argv; }
    // Its endpoints: Streamable HTTP, and the older transport.
    struct Urls {
        std::string http, sse;
    };
    Urls serve_http() { return serve_http(home, {"--sse"}); }
    Urls serve_http(const Home& whose, const Words& flags) {
        Words words{"serve", "--http", "127.0.0.1:0"};
        words.insert(words.end(), flags.begin(), flags.end());
        auto command = whose.patchbay(std::move(words));
        command.deadline = 3 * kDeadline;  // there are several clients
        gateway = std::make_unique<Program>(command);
        const bool older = flags == Words{"--sse"};
        EXPECT_TRUE(gateway->wait_for_out(older ? "/sse\n" : "/mcp\n")) << gateway->err();
        const auto& said = gateway->out();
        const auto end = said.find('\n');
        return {said.substr(0, end), older ? said.substr(end + 1, said.size() - end - 2) : ""};
    }
    // The gateway is ended; empty: it ended well, and no process of it is there any more.
    std::string what_is_left_at_the_end() {
        if (gateway) {
            gateway->signal(SIGTERM);
            const auto done = gateway->finish();
            if (done.exit_code != 0)
                return "the gateway ended with " + std::to_string(done.exit_code) + ": " + done.err;
        }
        return nothing_left();
    }

    std::unique_ptr<Program> gateway;
};

}  // namespace patchbay::test
