// Commands beside `patchbay run`, and that they say what they say without it.
#pragma once

#include "integration/host_guest.hpp"

#include <regex>
#include <string>

namespace patchbay::test {

// What is another one with every process; without the number of the server's, which a loaded machine tells
// after its tools, and what it has cost.
inline std::string without_numbers(const std::string& text) {
    static const std::regex pid(
        "\\npid +[0-9]+|,\"pid\":\"?[0-9]+\"?|\\ncost +[^\\n]*|,\"cost\":[{][^}]*[}]");
    static const std::regex kept(",\"kept\":(true|false)");  // alone it is from before
    static const std::regex number("(\"pid\":|last connected +|_at\":\"|/image-)[0-9TZ:-]+");
    const auto without = std::regex_replace(std::regex_replace(text, pid, ""), kept, "");
    return std::regex_replace(without, number, "$1N");
}

class Asked : public ::testing::Test {
protected:
    // A slow machine is no reason not to ask.
    Asked() { home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000"; }
    ~Asked() override { EXPECT_EQ(nothing_left(), ""); }

    static bool asks(const Outcome& done) {
        return done.err.find("the running host (pid ") != std::string::npos &&
               done.err.find(" is asked\n") != std::string::npos;
    }
    void says_the_same(const Words& words, const std::string& input = {}) const {
        SCOPED_TRACE(::testing::PrintToString(words));
        const auto with = home.run(words, input);
        auto alone = words;
        alone.insert(alone.begin(), "--alone");
        const auto without = home.run(alone, input);
        EXPECT_EQ(with.exit_code, without.exit_code);
        EXPECT_EQ(without_numbers(with.out), without_numbers(without.out));
        EXPECT_EQ(without_numbers(with.err), without_numbers(without.err));
    }
    Home home;
};

}  // namespace patchbay::test
