// What a person is asked, and is not asked any more. Each test runs in a child without a terminal,
// which reads what is typed from its stdin.
#include "app/ask_terminal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

class AskingChild {
public:
    AskingChild() {
        ::setsid();  // away from the terminal of whoever runs the tests
        int pipe[2];
        if (::pipe(pipe) != 0 || ::dup2(pipe[0], STDIN_FILENO) < 0) ::_exit(9);
        reading_ = pipe[0];
        typing_ = pipe[1];
        asker.use(loop);
    }
    void type(const std::string& text) const {
        if (::write(typing_, text.data(), text.size()) < 0) ::_exit(9);
    }
    bool all_is_read() const {
        int left = 0;
        return ::ioctl(reading_, FIONREAD, &left) == 0 && left == 0;
    }
    bool wait(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 30s);
    }
    std::uint64_t ask(const std::string& message, std::string& answer) {
        return asker.ask("s",
                         {{"message", message},
                          {"requestedSchema",
                           {{"type", "object"}, {"properties", {{"n", {{"type", "string"}}}}}}}},
                         [&answer](std::optional<json::object> given) {
                             answer = given ? json::serialize(*given) : "declined";
                         });
    }

    core::Loop loop;
    TerminalAsker asker{true};

private:
    int reading_ = -1, typing_ = -1;
};

[[noreturn]] void withdraw_the_first_of_two() {
    AskingChild child;
    std::string first, second;
    const auto id = child.ask("one", first);
    child.ask("two", second);
    child.type("half an ans");
    if (!child.wait([&] { return child.all_is_read(); })) ::_exit(1);
    child.asker.withdraw(id);
    child.type("mine\n");
    if (!child.wait([&] { return !second.empty(); })) ::_exit(2);
    child.asker.withdraw(id);  // it is long gone
    ::_exit(first.empty() && second == R"({"n":"mine"})" ? 0 : 3);
}

TEST(AskTerminal, AQuestionThatIsWithdrawnMakesRoomForTheNext) {
    EXPECT_EXIT(withdraw_the_first_of_two(), ::testing::ExitedWithCode(0),
                "asks: one(.|\n)*no answer is wanted any more(.|\n)*asks: two");
}

[[noreturn]] void type_ahead() {
    AskingChild child;
    std::string first, second;
    child.ask("one", first);
    child.ask("two", second);
    child.type("mine\nmeant for the first as well\n");
    if (!child.wait([&] { return !first.empty() && child.all_is_read(); })) ::_exit(1);
    child.type("yours\n");
    if (!child.wait([&] { return !second.empty(); })) ::_exit(2);
    ::_exit(first == R"({"n":"mine"})" && second == R"({"n":"yours"})" ? 0 : 3);
}

TEST(AskTerminal, WhatIsTypedAheadAnswersNoOtherQuestion) {
    EXPECT_EXIT(type_ahead(), ::testing::ExitedWithCode(0), "asks: two");
}

[[noreturn]] void withdraw_one_that_waits() {
    AskingChild child;
    std::string first, second;
    child.ask("one", first);
    child.asker.withdraw(child.ask("two", second));
    child.type("mine\n");
    if (!child.wait([&] { return !first.empty(); })) ::_exit(1);
    ::_exit(second.empty() && first == R"({"n":"mine"})" ? 0 : 2);
}

TEST(AskTerminal, AQuestionThatWaitsIsWithdrawnWithoutAWord) {
    EXPECT_EXIT(withdraw_one_that_waits(), ::testing::ExitedWithCode(0), "asks: one");
}

}  // namespace
}  // namespace patchbay::app
