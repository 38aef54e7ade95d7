// From the authorization page back to the plugin, by the listener or by hand.
#include "auth/consent.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::auth {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class FakePerson final : public Person {
public:
    Presence presence() const override { return presence_; }
    void tell(const std::string& text) override { told += text + "\n"; }
    std::uint64_t ask(const std::string& heading, const std::string& prompt, Line line) override {
        asked.push_back(heading + "|" + prompt);
        answer = std::move(line);
        return ++last_;
    }
    void withdraw(std::uint64_t) override { withdrawn = true; }
    Result<void> open_browser(const std::string& url) override {
        opened.push_back(url);
        if (browser) return {};
        return Error{ErrorCode::Unavailable, "no display"};
    }
    // As if a line had come later.
    void say(std::optional<std::string> line) {
        auto asking = std::exchange(answer, {});
        if (!asking(std::move(line))) answer = std::move(asking);
    }

    Presence presence_ = Presence::Ready;
    bool browser = true, withdrawn = false;
    std::string told;
    std::vector<std::string> asked, opened;
    Line answer;

private:
    std::uint64_t last_ = 0;
};

class ConsentTest : public ::testing::Test {
protected:
    explicit ConsentTest(BrowserConsent::Limits limits = BrowserConsent::Limits())
        : consent(loop, person, limits) {}
    void authorize(const std::string& url = "https://as.example/authorize?state=s") {
        auto reserved = consent.reserve(0);
        ASSERT_TRUE(reserved) << reserved.error().message;
        redirect = reserved->redirect_uri;
        id = consent.authorize("demo", *reserved, url,
                               [this](Result<std::string> told) { outcome = std::move(told); });
    }
    bool until(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    int connected() const {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port());
        EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        return fd;
    }
    // What the listener answers to `request`, sent in two pieces.
    std::string answer_to(const std::string& request) {
        const int fd = connected();
        const auto half = request.size() / 2;
        EXPECT_EQ(::send(fd, request.data(), half, MSG_NOSIGNAL), static_cast<ssize_t>(half));
        loop.run_until([] { return false; }, core::Clock::now() + 5ms);
        ::send(fd, request.data() + half, request.size() - half, MSG_NOSIGNAL);
        std::string got;
        bool ended = false;
        const auto watch = loop.watch(fd, core::Loop::kReadable, [&](unsigned) {
            char block[1024];
            const auto bytes = ::recv(fd, block, sizeof block, MSG_DONTWAIT);
            if (bytes > 0) got.append(block, static_cast<std::size_t>(bytes));
            ended = bytes == 0 || (bytes < 0 && errno != EAGAIN);
        });
        EXPECT_TRUE(watch);
        EXPECT_TRUE(until([&] { return ended; }));
        loop.unwatch(*watch);
        ::close(fd);
        return got;
    }
    std::string get(const std::string& target, const std::string& host = "") {
        return answer_to("GET " + target + " HTTP/1.1\r\nHost: " +
                         (host.empty() ? "127.0.0.1:" + std::to_string(port()) : host) +
                         "\r\n\r\n");
    }
    std::uint16_t port() const {
        return static_cast<std::uint16_t>(std::stoi(redirect.substr(redirect.rfind(':') + 1)));
    }

    core::Loop loop;
    FakePerson person;
    BrowserConsent consent;
    std::string redirect;
    std::uint64_t id = 0;
    std::optional<Result<std::string>> outcome;
};

TEST_F(ConsentTest, BringsTheRedirectOfTheBrowserBack) {
    authorize();
    EXPECT_THAT(redirect, ::testing::MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/callback"));
    EXPECT_EQ(person.opened, std::vector<std::string>{"https://as.example/authorize?state=s"});
    EXPECT_THAT(get("/callback?code=c&state=s"), HasSubstr("HTTP/1.1 200 OK"));
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    ASSERT_TRUE(*outcome);
    EXPECT_EQ(**outcome, "code=c&state=s");
}

TEST_F(ConsentTest, TurnsEverythingElseAwayAndGoesOnWaiting) {
    authorize();
    EXPECT_THAT(get("/favicon.ico"), HasSubstr("404"));
    EXPECT_THAT(get("/callback?code=stolen", "evil.example"), HasSubstr("404"));
    EXPECT_THAT(answer_to("POST /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:" +
                          std::to_string(port()) + "\r\nContent-Length: 0\r\n\r\n"),
                HasSubstr("405"));
    EXPECT_EQ(answer_to("\x16\x03\x01 no HTTP at all\r\n\r\n"), "");
    EXPECT_FALSE(outcome);
    EXPECT_THAT(get("/callback?code=c&state=s"), HasSubstr("200"));
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
}

TEST_F(ConsentTest, IsNotEndedByARedirectOfAStranger) {
    authorize();
    for (const char* forged :
         {"/callback", "/callback?code=x", "/callback?error=access_denied&state=guess",
          "/callback?code=x&state=s&state=t", "/callback?code=x&State=s"}) {
        EXPECT_THAT(get(forged), HasSubstr("400 Bad Request")) << forged;
        EXPECT_FALSE(outcome) << forged;
    }
    EXPECT_THAT(get("/callback?code=c&state=%73"), HasSubstr("200 OK"));
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->value(), "code=c&state=%73");
}

TEST_F(ConsentTest, EndsWhenSomebodyKeepsGuessing) {
    authorize();
    for (int i = 0; i < BrowserConsent::kMostStrangers; ++i)
        EXPECT_THAT(get("/callback?state=guess-" + std::to_string(i)), HasSubstr("400"));
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().code, ErrorCode::Denied);
    EXPECT_THAT(outcome->error().message, HasSubstr("do not belong to this sign-in"));
}

TEST_F(ConsentTest, TakesALongExplanationOfARefusal) {
    authorize();
    const auto query =
        "error=server_error&error_description=" + std::string(60'000, 'x') + "&state=s";
    EXPECT_THAT(get("/callback?" + query), HasSubstr("200 OK"));
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->value(), query);
}

TEST_F(ConsentTest, SaysThatAnAddressIsTooLongAndGoesOnWaiting) {
    authorize();
    const int fd = connected();
    const std::string start = "GET /callback?state=s&x=";
    const std::string more(RedirectListener::kMostHeadBytes, 'x');
    std::string got;
    std::size_t sent = 0;
    const auto all = start + more;
    const auto watch = loop.watch(fd, core::Loop::kReadable | core::Loop::kWritable, [&](unsigned) {
        char block[1024];
        const auto bytes = ::recv(fd, block, sizeof block, MSG_DONTWAIT);
        if (bytes > 0) got.append(block, static_cast<std::size_t>(bytes));
        const auto put =
            ::send(fd, all.data() + sent, all.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put > 0) sent += static_cast<std::size_t>(put);
    });
    ASSERT_TRUE(watch);
    EXPECT_TRUE(until([&] { return got.find("sign-in") != got.npos; }));
    loop.unwatch(*watch);
    ::close(fd);
    EXPECT_THAT(got, HasSubstr("431"));
    EXPECT_FALSE(outcome);
    EXPECT_THAT(get("/callback?code=c&state=s"), HasSubstr("200"));
}

TEST_F(ConsentTest, FailsAtOnceWhenNobodyIsThere) {
    person.presence_ = Person::Presence::Nobody;
    authorize();
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().code, ErrorCode::AuthRequired);
    EXPECT_THAT(outcome->error().message, HasSubstr("patchbay mcp login demo"));
    EXPECT_TRUE(person.opened.empty());
}

TEST_F(ConsentTest, AsksBeforeItOpensABrowserForSomebodyWhoDoesSomethingElse) {
    person.presence_ = Person::Presence::AskFirst;
    authorize();
    EXPECT_TRUE(person.opened.empty());
    EXPECT_THAT(person.asked.at(0),
                HasSubstr("server \"demo\" wants you to sign in at as.example"));
    person.say("");
    EXPECT_EQ(person.opened.size(), 1u);
}

TEST_F(ConsentTest, NamesTheHostThatTheBrowserWouldGoToAndCutsALongOne) {
    person.presence_ = Person::Presence::AskFirst;
    const std::string longest(200, 'h');
    for (const auto& host : {longest, longest + "h"}) authorize("https://" + host + "/a?state=s");
    ASSERT_EQ(person.asked.size(), 2u);
    for (const auto& asked : person.asked) {
        EXPECT_THAT(asked, HasSubstr("sign in at " + longest));
        EXPECT_THAT(asked, ::testing::Not(HasSubstr(longest + "h")));
    }
}

TEST_F(ConsentTest, TakesNoForAnAnswer) {
    person.presence_ = Person::Presence::AskFirst;
    authorize();
    person.say("n");
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().code, ErrorCode::Denied);
    EXPECT_TRUE(person.opened.empty());
}

TEST_F(ConsentTest, ShowsTheAddressAndTakesThePastedRedirect) {
    person.presence_ = Person::Presence::NoBrowser;
    authorize();
    EXPECT_TRUE(person.opened.empty());
    EXPECT_THAT(person.told, HasSubstr("https://as.example/authorize?state=s"));
    EXPECT_THAT(person.told, HasSubstr("There are 5 min for it."));
    person.say("https://elsewhere.example/?code=x");
    EXPECT_THAT(person.told, HasSubstr("that does not begin with " + redirect));
    person.say(redirect + "?code=c&state=another");
    EXPECT_THAT(person.told, HasSubstr("of another sign-in"));
    EXPECT_FALSE(outcome);
    person.say("  " + redirect + "?code=c&state=s#_  ");
    ASSERT_TRUE(outcome && *outcome);
    EXPECT_EQ(**outcome, "code=c&state=s");
}

TEST_F(ConsentTest, ShowsTheAddressWhenNoBrowserOpens) {
    person.browser = false;
    authorize();
    EXPECT_THAT(person.told, HasSubstr("no display"));
    person.say(std::nullopt);
    EXPECT_FALSE(outcome) << "a forwarded port may still bring it";
    EXPECT_THAT(person.told, HasSubstr("the input has ended; a redirect to " + redirect +
                                       " is still waited for, 5 min"));
    get("/callback?code=c&state=s");
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
}

TEST_F(ConsentTest, SaysNothingOfWhatIsWithdrawn) {
    person.presence_ = Person::Presence::NoBrowser;
    authorize();
    consent.withdraw(id);
    EXPECT_TRUE(person.withdrawn);
    loop.run_until([] { return false; }, core::Clock::now() + 5ms);
    EXPECT_FALSE(outcome);
}

TEST_F(ConsentTest, SaysWhichPortIsTaken) {
    const auto first = consent.reserve(0);
    ASSERT_TRUE(first);
    const auto port = first->redirect_uri.substr(17, first->redirect_uri.find("/callback") - 17);
    const auto second = consent.reserve(static_cast<unsigned>(std::stoi(port)));
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("cannot listen on 127.0.0.1:" + port));
    ::close(first->socket);
}

TEST_F(ConsentTest, TakesOnlyAYesForAYes) {
    const std::pair<const char*, bool> lines[] = {{"", true},    {"y", true},  {"Y", true},
                                                  {"yes", true}, {"n", false}, {"yess", false}};
    person.presence_ = Person::Presence::AskFirst;
    for (const auto& [line, yes] : lines) {
        outcome.reset();
        person.opened.clear();
        authorize("https://as.example:8443/authorize?state=s");
        EXPECT_THAT(person.asked.back(), HasSubstr("sign in at as.example:8443|Open the browser"));
        person.say(line);
        EXPECT_EQ(person.opened.size(), yes ? 1u : 0u) << line;
        EXPECT_EQ(outcome.has_value(), !yes) << line;
        consent.withdraw(id);
    }
    outcome.reset();
    authorize();
    person.say(std::nullopt);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->error().code, ErrorCode::Denied);
    EXPECT_THAT(outcome->error().message, HasSubstr("patchbay mcp login demo"));
}

TEST_F(ConsentTest, SaysWhereToGoWhenTheBrowserDoesNotShowUp) {
    authorize();
    EXPECT_EQ(person.told,
              "sign in to \"demo\" in the browser that opens, within 5 min. If none does: "
              "https://as.example/authorize?state=s\n");
    EXPECT_TRUE(person.asked.empty());
}

TEST_F(ConsentTest, TakesAnyRedirectWhenTheSignInHasNoState) {
    authorize("https://as.example/authorize");
    EXPECT_THAT(get("/callback"), HasSubstr("200 OK"));
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->value(), "");
    outcome.reset();
    person.presence_ = Person::Presence::NoBrowser;
    authorize("https://as.example/authorize");
    person.say(redirect + "?code=c");
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->value(), "code=c");
}

TEST_F(ConsentTest, SpeaksOfStrangersOnce) {
    authorize();
    const auto before = person.told.size();
    get("/callback?state=guess");
    const auto once = person.told;
    EXPECT_THAT(once.substr(before), HasSubstr("does not belong to this sign-in"));
    get("/callback?state=guess");
    EXPECT_EQ(person.told, once);
    EXPECT_FALSE(outcome);
}

TEST_F(ConsentTest, LetsOneStrangerLessThanTooManyPass) {
    authorize();
    for (int i = 1; i < BrowserConsent::kMostStrangers; ++i) get("/callback?state=guess");
    loop.run_until([] { return false; }, core::Clock::now() + 5ms);
    EXPECT_FALSE(outcome);
    EXPECT_THAT(get("/callback?code=c&state=s"), HasSubstr("200"));
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome);
}

TEST_F(ConsentTest, WithdrawsTheQuestionWhenTheRedirectComes) {
    person.presence_ = Person::Presence::NoBrowser;
    authorize();
    get("/callback?code=c&state=s");
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_TRUE(person.withdrawn);
}

TEST_F(ConsentTest, AsksNothingThatItWouldHaveToWithdraw) {
    authorize();
    get("/callback?code=c&state=s");
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_FALSE(person.withdrawn) << "a browser opened: no line was asked for";
    consent.withdraw(id);  // gone already
    person.presence_ = Person::Presence::NoBrowser;
    authorize();
    person.say(redirect + "?code=c&state=s");
    EXPECT_FALSE(person.withdrawn) << "the line was given";
}

TEST_F(ConsentTest, LetsEverySignInGoWithItself) {
    auto gone = std::make_unique<BrowserConsent>(loop, person);
    person.presence_ = Person::Presence::NoBrowser;
    const auto reserved = gone->reserve(0);
    ASSERT_TRUE(reserved);
    gone->authorize("demo", *reserved, "https://as.example/?state=s",
                    [](Result<std::string>) { ADD_FAILURE() << "told after its end"; });
    gone.reset();
    EXPECT_TRUE(person.withdrawn);
    redirect = reserved->redirect_uri;
    const auto again = consent.reserve(port());
    ASSERT_TRUE(again) << again.error().message;
    ::close(again->socket);
}

TEST_F(ConsentTest, AnswersWithAPageThatKeepsNothing) {
    authorize();
    const auto page = get("/callback?code=c&state=s");
    for (const char* part :
         {"Content-Type: text/html; charset=utf-8\r\n", "Cache-Control: no-store\r\n",
          "Referrer-Policy: no-referrer\r\n", "Connection: close\r\n\r\n<!doctype html>",
          "You may close this window"})
        EXPECT_THAT(page, HasSubstr(part));
    const auto body = page.substr(page.find("\r\n\r\n") + 4);
    EXPECT_THAT(page, HasSubstr("Content-Length: " + std::to_string(body.size()) + "\r\n"));
}

TEST_F(ConsentTest, HearsEightAtOnceAndLetsTheOldestGoForANinth) {
    authorize();
    std::vector<int> waiting;
    const auto closed = [&](std::size_t which) {
        char byte = 0;
        return ::recv(waiting.at(which), &byte, 1, MSG_DONTWAIT) == 0;
    };
    for (std::size_t i = 0; i <= RedirectListener::kMostConnections; ++i)
        waiting.push_back(connected());
    EXPECT_TRUE(until([&] { return closed(0); }));
    EXPECT_FALSE(closed(1));
    for (const int fd : waiting) ::close(fd);
    EXPECT_THAT(get("/callback?code=c&state=s"), HasSubstr("200"));
}

TEST_F(ConsentTest, GivesAPersonFiveMinutesAndAConnectionTenSeconds) {
    EXPECT_EQ(BrowserConsent::Limits().person, 5min);
    EXPECT_EQ(BrowserConsent::Limits().connection, 10s);
}

struct ImpatientConsentTest : ConsentTest {
    ImpatientConsentTest() : ConsentTest({0ms, 1h}) {}
};

TEST_F(ImpatientConsentTest, EndsASignInThatNobodyGoesThrough) {
    person.presence_ = Person::Presence::NoBrowser;
    authorize();
    EXPECT_FALSE(outcome) << "from inside the call";
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().code, ErrorCode::Timeout);
    EXPECT_EQ(outcome->error().message, "nobody signed in within 0 min");
    EXPECT_TRUE(person.withdrawn) << "nobody reads the answer any more";
    const auto again = consent.reserve(port());
    ASSERT_TRUE(again) << again.error().message;
    ::close(again->socket);
}

TEST_F(ImpatientConsentTest, LeavesASignInAloneThatWasWithdrawnInTime) {
    authorize();
    consent.withdraw(id);
    bool later = false;
    loop.after(1ms, [&] { later = true; });
    ASSERT_TRUE(until([&] { return later; }));
    EXPECT_FALSE(outcome);
}

struct ImpatientListenerTest : ConsentTest {
    ImpatientListenerTest() : ConsentTest({1h, 0ms}) {}
};

TEST_F(ImpatientListenerTest, TurnsAConnectionAwayThatAsksForNothing) {
    authorize();
    const int fd = connected();
    bool ended = false;
    const auto watch = loop.watch(fd, core::Loop::kReadable, [&](unsigned) {
        char byte;
        ended = ::recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
    });
    ASSERT_TRUE(watch);
    EXPECT_TRUE(until([&] { return ended; }));
    loop.unwatch(*watch);
    ::close(fd);
    EXPECT_FALSE(outcome) << "the sign-in goes on";
}

}  // namespace
}  // namespace patchbay::auth
