// The real program before an authorization server of tests/servers/oidc, with a scripted browser.
#pragma once

#include "integration/npm.hpp"

#include <fstream>
#include <optional>

namespace patchbay::test {

// A node program of tests/servers/oidc that prints its port.
class Peer {
public:
    Peer(const NpmTest& test, const std::filesystem::path& node, const Words& arguments)
        : program_(command(test, node, arguments)) {
        EXPECT_TRUE(program_.wait_for_out("\n")) << program_.err();
        origin_ = "http://127.0.0.1:" + program_.out().substr(0, program_.out().find('\n'));
    }
    const std::string& origin() const { return origin_; }

private:
    static Command command(const NpmTest&, const std::filesystem::path& node, Words arguments) {
        Command made;
        arguments.insert(arguments.begin(), node);
        arguments[1] = std::string(PATCHBAY_SOURCE_DIR) + "/tests/servers/oidc/" + arguments[1];
        made.argv = std::move(arguments);
        made.deadline = 5 * kDeadline;
        return made;
    }

    Program program_;
    std::string origin_;
};

class SignIn : public NpmTest {
protected:
    void SetUp() override {
        NpmTest::SetUp();
        home.environment["BROWSER"] =
            kNode.string() + " " + PATCHBAY_SOURCE_DIR + "/tests/servers/oidc/browser.mjs";
    }
    void start(const Words& flags = {}) {
        Words arguments{"server.mjs", kModules};
        arguments.insert(arguments.end(), flags.begin(), flags.end());
        peer.emplace(*this, kNode, arguments);
        home.add("guarded", {{"url", peer->origin() + "/mcp"}});
    }
    Outcome login(Words more = {}) {
        Words words{"mcp", "login", "guarded"};
        words.insert(words.end(), more.begin(), more.end());
        return home.run(words);
    }
    Outcome call(const std::string& tool) { return home.run({"call", "mcp__guarded__" + tool}); }
    std::string fetch(const std::string& path, const std::string& method = "GET") const {
        Command get;
        get.argv = {kNode, "-e",
                    "fetch(process.argv[1], {method: process.argv[2]}).then(r => "
                    "r.text()).then(t => console.log(t))",
                    peer->origin() + path, method};
        return test::run(get).out;
    }
    boost::json::object stats() const { return boost::json::parse(fetch("/stats")).as_object(); }
    std::filesystem::path store() const { return home.root() / "state/patchbay/mcp-auth.json"; }
    boost::json::object record() const {
        return boost::json::parse(read_file(store())).at("servers").at("guarded").as_object();
    }

    // As if the token's life were over: nobody has to wait for that.
    void expire() {
        auto file = boost::json::parse(read_file(store()));
        file.at("servers").at("guarded").at("expires_at") = 1;
        std::ofstream(store()) << boost::json::serialize(file);
    }

    std::optional<Peer> peer;
};

}  // namespace patchbay::test
