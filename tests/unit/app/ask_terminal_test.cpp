// What a person is asked, and is not asked any more. Each test runs in a child without a terminal,
// which reads what is typed from its stdin.
#include "app/ask_terminal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

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
    void end_input() { ::close(std::exchange(typing_, -1)); }
    bool all_is_read() const {
        int left = 0;
        return ::ioctl(reading_, FIONREAD, &left) == 0 && left == 0;
    }
    bool wait(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 30s);
    }
    std::uint64_t ask(const std::string& message, std::string& answer,
                      const std::string& server = "s") {
        return asker.ask(server,
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

[[noreturn]] void lose_the_terminal() {
    AskingChild child;
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) ::_exit(8);
    ::close(::open(::ptsname(terminal), O_RDWR | O_NOCTTY));  // nobody is behind it any more
    if (::dup2(terminal, STDIN_FILENO) < 0) ::_exit(8);
    std::string answer;
    child.ask("one", answer);
    if (!child.wait([&] { return !answer.empty(); })) ::_exit(1);
    ::_exit(answer == "declined" ? 0 : 2);
}

TEST(AskTerminal, ATerminalThatIsGoneDeclines) {
    EXPECT_EXIT(lose_the_terminal(), ::testing::ExitedWithCode(0), "asks: one");
}

// What types at a terminal that is the child's own, with its Ctrl-C a signal.
class OwnTerminal {
public:
    OwnTerminal() {
        ::sigemptyset(&interrupt_);
        ::sigaddset(&interrupt_, SIGINT);
        ::sigprocmask(SIG_BLOCK, &interrupt_, nullptr);
        ::setsid();
        typing_ = ::posix_openpt(O_RDWR | O_NOCTTY);
        if (typing_ < 0 || ::grantpt(typing_) != 0 || ::unlockpt(typing_) != 0) ::_exit(8);
        if (::open(::ptsname(typing_), O_RDWR) < 0) ::_exit(8);  // the first becomes ours
    }
    void type(const std::string& text) const {
        if (::write(typing_, text.data(), text.size()) < 0) ::_exit(9);
    }
    // Until the terminal has shown it, which is when it has taken it.
    void wait_for_echo(const std::string& text) {
        while (shown_.find(text) == std::string::npos) {
            pollfd readable{typing_, POLLIN, 0};
            char some[256];
            if (::poll(&readable, 1, 30'000) != 1) ::_exit(7);
            const auto got = ::read(typing_, some, sizeof some);
            if (got <= 0) ::_exit(7);
            shown_.append(some, static_cast<std::size_t>(got));
        }
    }
    bool was_interrupted() const {
        const timespec limit{30, 0};
        return ::sigtimedwait(&interrupt_, nullptr, &limit) == SIGINT;
    }

private:
    int typing_ = -1;
    sigset_t interrupt_;
    std::string shown_;
};

// Many times: the terminal takes what is typed when it comes to it.
[[noreturn]] void interrupt_behind_a_line() {
    const OwnTerminal terminal;
    core::Loop loop;
    TerminalAsker asker;
    asker.use(loop);
    for (int i = 0; i < 50; ++i) {
        bool answered = false;
        asker.ask_line("", "paste it here", [&](const std::optional<std::string>&) {
            terminal.type("\x03");
            return answered = true;
        });
        terminal.type("garbage\n");
        if (!loop.run_until([&] { return answered; }, core::Clock::now() + 30s)) ::_exit(1);
        if (!terminal.was_interrupted()) ::_exit(2);
    }
    ::_exit(0);
}

TEST(AskTerminal, AnInterruptRightBehindAnAnswerIsHeard) {
    EXPECT_EXIT(interrupt_behind_a_line(), ::testing::ExitedWithCode(0), "");
}

[[noreturn]] void type_half_a_line_ahead() {
    OwnTerminal terminal;
    core::Loop loop;
    TerminalAsker asker;
    asker.use(loop);
    std::optional<std::string> first, second;
    asker.ask_line("", "one", [&](const std::optional<std::string>& line) {
        terminal.type("half an answer");
        terminal.wait_for_echo("half an answer");
        first = line;
        return true;
    });
    asker.ask_line("", "two", [&](const std::optional<std::string>& line) {
        second = line;
        return true;
    });
    terminal.type("mine\n");
    if (!loop.run_until([&] { return first.has_value(); }, core::Clock::now() + 30s)) ::_exit(1);
    terminal.type("yours\n");
    if (!loop.run_until([&] { return second.has_value(); }, core::Clock::now() + 30s)) ::_exit(2);
    ::_exit(first == "mine" && second == "yours" ? 0 : 3);
}

TEST(AskTerminal, HalfALineThatIsTypedAheadAnswersNoOtherQuestion) {
    EXPECT_EXIT(type_half_a_line_ahead(), ::testing::ExitedWithCode(0), "");
}

[[noreturn]] void type_without_a_line_break() {
    AskingChild child;
    std::string answer;
    child.ask("one", answer);
    child.type(std::string(40'000, 'x'));
    if (!child.wait([&] { return child.all_is_read(); })) ::_exit(1);
    child.type(std::string(40'000, 'x'));
    if (!child.wait([&] { return !answer.empty(); })) ::_exit(2);
    ::_exit(answer == "declined" ? 0 : 3);
}

TEST(AskTerminal, ALineWithoutAnEndDeclines) {
    EXPECT_EXIT(type_without_a_line_break(), ::testing::ExitedWithCode(0), "more than 64 KiB");
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

[[noreturn]] void ask_too_often() {
    AskingChild child;
    std::vector<std::string> answers(17);  // and 16 may wait
    for (auto& answer : answers) child.ask("again", answer);
    std::string other;
    child.ask("me too", other, "another");
    ::_exit(answers.back() == "declined" && answers.at(answers.size() - 2).empty() && other.empty()
                ? 0
                : 1);
}

TEST(AskTerminal, DeclinesMoreQuestionsOfOneServerThanMayWait) {
    EXPECT_EXIT(ask_too_often(), ::testing::ExitedWithCode(0), "asks: again");
}

[[noreturn]] void ask_where_nobody_is() {
    AskingChild child;
    TerminalAsker alone;
    alone.use(child.loop);
    int declined = 0;
    const auto ask = [&](const std::string& server) {
        alone.ask(server, {{"message", "m"}, {"requestedSchema", json::object()}},
                  [&](std::optional<json::object> given) { declined += given ? 0 : 1; });
    };
    for (int i = 0; i < 1000; ++i) ask("s");
    ask("other");
    ::_exit(declined == 1001 ? 0 : 1);
}

TEST(AskTerminal, SaysThatNobodyIsThereAFewTimesAServer) {
    EXPECT_EXIT(
        ask_where_nobody_is(), ::testing::ExitedWithCode(0),
        "^(note: server \"s\" asked something; there is no terminal, so it was declined\n){3}"
        "note: server \"s\" goes on asking; no more of it is told\n"
        "note: server \"other\" asked something[^\n]*\n$");
}

[[noreturn]] void ask_and_withdraw_without_end() {
    AskingChild child;
    std::string answer, other;
    for (int i = 0; i < 1000; ++i) child.asker.withdraw(child.ask("now", answer));
    if (answer != "declined") ::_exit(1);
    child.ask("me", other, "other");
    child.type("here\n");
    if (!child.wait([&] { return !other.empty(); })) ::_exit(2);
    ::_exit(other == R"({"n":"here"})" ? 0 : 3);
}

TEST(AskTerminal, DeclinesWhoAsksAndWithdrawsWithoutEnd) {
    EXPECT_EXIT(
        ask_and_withdraw_without_end(), ::testing::ExitedWithCode(0),
        "^(server \"s\" asks: now\n[^\n]*\n  n:\n[^\n]*no answer is wanted[^\n]*\n){16}"
        "(note: server \"s\" asks and withdraws[^\n]*\n){3}note: server \"s\" goes on[^\n]*\n"
        "server \"other\" asks: me\n");
}

[[noreturn]] void ask_without_a_schema() {
    AskingChild child;
    std::string answers;
    const auto add = [&](std::optional<json::object> given) {
        answers += given ? json::serialize(*given) : "declined";
    };
    const bool told = child.asker.ask("s", {{"message", "m"}}, add) == 0 &&
                      child.asker.ask("s", {{"message", "m"}, {"requestedSchema", "x"}}, add) == 0;
    ::_exit(told && answers == "declineddeclined" ? 0 : 1);
}

TEST(AskTerminal, DeclinesWhatIsNoQuestion) {
    EXPECT_EXIT(ask_without_a_schema(), ::testing::ExitedWithCode(0), "");
}

[[noreturn]] void ask_for_nothing_but_consent() {
    AskingChild child;
    const json::value schemas[] = {json::object(),
                                   {{"properties", json::object()}},
                                   {{"type", "object"}, {"properties", 3}},
                                   json::object(),
                                   json::object()};
    const char* typed[] = {"y\n", "n\n", "\n", "yes\n", "yolo\n"};
    std::string answers;
    for (std::size_t i = 0; i < 5; ++i) {
        std::string answer;
        child.asker.ask("s", {{"message", "Delete all?"}, {"requestedSchema", schemas[i]}},
                        [&](std::optional<json::object> given) {
                            answer = given ? json::serialize(*given) : "no";
                        });
        if (!answer.empty()) ::_exit(1);
        child.type(typed[i]);
        if (!child.wait([&] { return !answer.empty(); })) ::_exit(2);
        answers += answer;
    }
    ::_exit(answers == "{}nono{}no" ? 0 : 3);
}

TEST(AskTerminal, AFormWithoutFieldsIsAcceptedByNobodyButThePerson) {
    EXPECT_EXIT(ask_for_nothing_but_consent(), ::testing::ExitedWithCode(0),
                "asks: Delete all\\?(.|\n)*accept\\? \\[y/N\\]:");
}

[[noreturn]] void answer_what_has_choices() {
    AskingChild child;
    std::string answer;
    child.asker.ask(
        "s",
        {{"message", "m"},
         {"requestedSchema",
          {{"type", "object"},
           {"required", {"colour", "shade"}},
           {"properties",
            {{"colour", {{"type", "string"}, {"description", "of it"}, {"enum", {"red", "green"}}}},
             {"shade", {{"type", "string"}, {"default", "dark"}}},
             {"amount", {{"type", "integer"}}},
             {"note", {{"type", "string"}}},
             {"odd", true}}}}}},
        [&](std::optional<json::object> given) {
            answer = given ? json::serialize(*given) : "declined";
        });
    child.type("\ngreen\n\nmany\n7\n\n\n");
    if (!child.wait([&] { return !answer.empty(); })) ::_exit(1);
    ::_exit(answer == R"({"colour":"green","shade":"dark","amount":7})" ? 0 : 2);
}

TEST(AskTerminal, AsksForEachValueUntilItFitsOrIsLeftOut) {
    EXPECT_EXIT(answer_what_has_choices(), ::testing::ExitedWithCode(0),
                "  colour \\(of it; required\\) \\[\"red\",\"green\"\\]:\n"
                "  it is required\n"
                "  shade \\[\"dark\"\\]:\n"
                "  amount \\(integer\\):\n"
                "  [^\n]*\"many\" is not an integer[^\n]*\n"
                "  note:\n"
                "  odd:\n");
}

[[noreturn]] void answer_what_is_none_of_the_choices() {
    AskingChild child;
    std::string answer;
    const json::array titled{{{"const", "r"}, {"title", "Red"}}, {{"const", "g"}}};
    child.asker.ask(
        "s",
        {{"message", "m"},
         {"requestedSchema",
          {{"type", "object"},
           {"properties",
            {{"plain", {{"type", "string"}, {"enum", {"red", "green"}}}},
             {"titled", {{"type", "string"}, {"oneOf", titled}}},
             {"several", {{"type", "array"}, {"maxItems", 1}, {"items", {{"anyOf", titled}}}}},
             {"amount", {{"type", "integer"}, {"maximum", 9}}}}}}}},
        [&](std::optional<json::object> given) {
            answer = given ? json::serialize(*given) : "declined";
        });
    child.type("blue\ngreen\nb\nr\n[\"b\"]\n[\"r\",\"g\"]\n[\"g\"]\n10\n9\n");
    if (!child.wait([&] { return !answer.empty(); })) ::_exit(1);
    ::_exit(answer == R"({"plain":"green","titled":"r","several":["g"],"amount":9})" ? 0 : 2);
}

TEST(AskTerminal, ShowsTheChoicesAndTakesNothingElse) {
    EXPECT_EXIT(answer_what_is_none_of_the_choices(), ::testing::ExitedWithCode(0),
                "  plain \\[\"red\",\"green\"\\]:\n"
                "  argument \"plain\": [^\n]*\n"
                "  titled \\[\"r\",\"g\"\\]\n    \"r\": Red:\n"
                "  argument \"titled\"[^\n]*\n"
                "  several \\(a list, e.g. r, at most 1 of them\\) out of \\[\"r\",\"g\"\\]\n    "
                "\"r\": Red:\n"
                "  argument \"several/0\"[^\n]*\n"
                "  argument \"several\"[^\n]*\n"
                "  amount \\(integer, at most 9\\):\n"
                "  argument \"amount\"[^\n]*\n");
}

[[noreturn]] void ask_for_a_line() {
    AskingChild child;
    std::string heard;
    const auto id = child.asker.ask_line("heading", "prompt", [&](std::optional<std::string> line) {
        heard = line ? *line : "nothing";
        return true;
    });
    if (id == 0 || !heard.empty()) ::_exit(1);
    child.type("a line\n");
    if (!child.wait([&] { return !heard.empty(); })) ::_exit(2);
    if (heard != "a line") ::_exit(3);
    heard.clear();
    child.asker.ask_line("", "again", [&](std::optional<std::string> line) {
        heard = line ? *line : "nothing";
        return true;
    });
    child.end_input();
    if (!child.wait([&] { return !heard.empty(); })) ::_exit(4);
    ::_exit(heard == "nothing" ? 0 : 5);
}

TEST(AskTerminal, TakesALineAsItIsAndTheEndForNone) {
    EXPECT_EXIT(ask_for_a_line(), ::testing::ExitedWithCode(0), "^heading\nprompt\nagain\n$");
}

[[noreturn]] void ask_until_a_line_will_do() {
    AskingChild child;
    std::string heard, second;
    child.asker.ask_line("heading", "prompt", [&](std::optional<std::string> line) {
        heard += line ? *line + ";" : "nothing";
        return line == "right";
    });
    bool begun = false;
    child.loop.defer([&] { begun = true; });
    if (!child.wait([&] { return begun; })) ::_exit(4);
    child.ask("two", second);
    child.type("wrong\n\nright\nahead\n");
    if (!child.wait([&] { return heard.ends_with("right;"); })) ::_exit(1);
    if (heard != "wrong;;right;") ::_exit(2);
    child.end_input();
    ::_exit(child.wait([&] { return !second.empty(); }) ? 0 : 3);
}

TEST(AskTerminal, ALineBehindOneThatWillNotDoIsReadAsWell) {
    EXPECT_EXIT(ask_until_a_line_will_do(), ::testing::ExitedWithCode(0),
                "^heading\nprompt\nprompt\nprompt\n");
}

[[noreturn]] void withdraw_a_line() {
    AskingChild child;
    std::string heard, second;
    bool begun = false;
    const auto id = child.asker.ask_line("heading", "prompt", [&](std::optional<std::string>) {
        heard = "heard";
        return true;
    });
    child.ask("two", second);
    child.loop.defer([&] { begun = true; });
    if (!child.wait([&] { return begun; })) ::_exit(1);
    child.asker.withdraw(id);
    child.type("mine\n");
    if (!child.wait([&] { return !second.empty(); })) ::_exit(2);
    ::_exit(heard.empty() ? 0 : 3);
}

TEST(AskTerminal, SaysOfNoCallThatItHasEndedWhereNoneAsked) {
    EXPECT_EXIT(withdraw_a_line(), ::testing::ExitedWithCode(0),
                R"(^[^(]*\(Ctrl-D declines[^(]*$)");
}

}  // namespace
}  // namespace patchbay::app
