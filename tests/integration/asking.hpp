// A home whose calls are asked about, and who answers at a terminal.
#pragma once

#include "integration/on_terminal.hpp"

#include <filesystem>
#include <fstream>

namespace patchbay::test {

namespace fs = std::filesystem;

inline const Words kCall = {"call", "mcp__x__echo", "message=hi"};

class Asking : public ::testing::Test {
protected:
    Asking() { home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000"; }
    void write_level(const char* key, const char* level) {
        home.add_example("x", {}, {{"tools", {{key, level}}}});
    }
    void write_user(const std::string& text) {
        fs::create_directories(home.user_config());
        std::ofstream(home.user_config() / "config.toml") << text;
    }
    fs::path decisions() const { return home.root() / "state/patchbay/decisions.json"; }
    // The example server as `mcp.json` has it, with a question for each call of echo, answered so.
    std::string answer_at_terminal(const char* answer, int exit_code, const Words& words = kCall) {
        OnTerminal call(home.patchbay(words));
        EXPECT_TRUE(call.wait_for("approve? [")) << call.seen();
        call.type(answer);
        EXPECT_EQ(call.finish(), exit_code) << call.seen();
        return call.seen();
    }
    bool is_asked(const Words& words = kCall) {
        OnTerminal call(home.patchbay(words));
        const bool asked = call.wait_for("approve? [");
        if (asked) call.type("\r");
        call.finish();
        return asked;
    }

    Home home;
};

}  // namespace patchbay::test
