// patchbay.host.consent/1 and patchbay.host.secrets/1, with a plugin's calls on one side and a
// person and a store that answer when the test says so on the other.
#include "plugin/services/sign_in_services.hpp"

#include "core/log.hpp"
#include "plugin/services/host_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct FakeConsent final : Consent {
    std::vector<std::string> shown;  // "server url redirect"
    std::vector<std::uint64_t> withdrawn;
    Answer answer;
    std::optional<Error> refusal;
    std::string path = "/callback";
    int last_socket = -1;

    Result<Reserved> reserve(unsigned port) override {
        if (refusal) return *refusal;
        last_socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return Reserved{last_socket, "http://127.0.0.1:" + std::to_string(port) + path};
    }
    std::uint64_t authorize(const std::string& server, Reserved reserved, const std::string& url,
                            Answer its_answer) override {
        shown.push_back(server + " " + url + " " + reserved.redirect_uri);
        ::close(reserved.socket);
        answer = std::move(its_answer);
        return 41;
    }
    void withdraw(std::uint64_t id) override { withdrawn.push_back(id); }
};

struct FakeStore final : plugin::Secrets {
    std::vector<std::string> asked;  // "get plugin server", ...
    std::vector<std::uint64_t> unlocked;
    Got got;
    Done put_done, lock_done;

    void get(const std::string& plugin, const std::string& server, Got its_got) override {
        asked.push_back("get " + plugin + " " + server);
        got = std::move(its_got);
    }
    void put(const std::string& plugin, const std::string& server, const std::string& record,
             Done done) override {
        asked.push_back("put " + plugin + " " + server + " " + record);
        put_done = std::move(done);
    }
    std::uint64_t lock(const std::string& server, std::chrono::milliseconds limit,
                       Done done) override {
        asked.push_back("lock " + server + " " + std::to_string(limit.count()));
        lock_done = std::move(done);
        return 42;
    }
    void unlock(std::uint64_t id) override { unlocked.push_back(id); }
};

// What one callback was told.
struct Told {
    int times = 0;
    patchbay_status status = PATCHBAY_OK;
    std::string text;

    void take(patchbay_status its_status, std::string its_text, const patchbay_error* error) {
        ++times;
        status = its_status;
        text = error ? error->message : std::move(its_text);
    }
    static void with_text(void* ctx, patchbay_status status, patchbay_str text,
                          const patchbay_error* error) noexcept {
        static_cast<Told*>(ctx)->take(status, std::string(view(text)), error);
    }
    static void plain(void* ctx, patchbay_status status, const patchbay_error* error) noexcept {
        static_cast<Told*>(ctx)->take(status, {}, error);
    }
};

class SignInServicesTest : public testing::Test {
protected:
    SignInServicesTest() { attach({&consent_, &store_}); }
    ~SignInServicesTest() override { services_.detach(); }

    void attach(SignIn offered) {
        services_.attach(loop_, {nullptr, offered});
        consent = SignInServices::consent_table();
        secrets = SignInServices::secrets_table();
    }
    const patchbay_host* host() const { return services_.host(); }
    bool until(const std::function<bool()>& done) {
        return loop_.run_until(done, core::Clock::now() + 20s);
    }
    // What was posted so far is done.
    void settle() {
        bool reached = false;
        loop_.post([&] { reached = true; });
        ASSERT_TRUE(until([&] { return reached; }));
    }
    patchbay_op reserve(const std::string& server = "files") {
        char uri[256] = {};
        patchbay_op op = 0;
        patchbay_error error{};
        EXPECT_EQ(consent->reserve(host(), str(server), 7, uri, &op, &error), PATCHBAY_OK)
            << error.message;
        EXPECT_STREQ(uri, "http://127.0.0.1:7/callback");
        return op;
    }

    core::Loop loop_;
    FakeConsent consent_;
    FakeStore store_;
    Told told_;
    HostServices services_{"method", {PATCHBAY_HOST_CONSENT, PATCHBAY_HOST_SECRETS}};
    const patchbay_host_consent* consent = nullptr;
    const patchbay_host_secrets* secrets = nullptr;
};

TEST_F(SignInServicesTest, APersonIsToldWhichServerWantsThemAndTheRedirectComesBack) {
    const auto op = reserve("files");
    ASSERT_EQ(consent->authorize(host(), op, str("https://as/?a=1"), &told_, Told::with_text),
              PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return !consent_.shown.empty(); }));
    EXPECT_THAT(consent_.shown, ElementsAre("files https://as/?a=1 http://127.0.0.1:7/callback"));
    EXPECT_EQ(told_.times, 0);
    consent_.answer(std::string("code=x"));
    EXPECT_EQ(told_.times, 1);
    EXPECT_EQ(told_.status, PATCHBAY_OK);
    EXPECT_EQ(told_.text, "code=x");
    EXPECT_EQ(consent->authorize(host(), op, str("https://as/"), &told_, Told::with_text),
              PATCHBAY_E_INVALID)
        << "a reservation is used once";
}

TEST_F(SignInServicesTest, ARefusalOfThePersonIsToldInItsWords) {
    ASSERT_EQ(consent->authorize(host(), reserve(), str("https://as/"), &told_, Told::with_text),
              PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return !consent_.shown.empty(); }));
    consent_.answer(Error{ErrorCode::Denied, "you declined"});
    EXPECT_EQ(told_.status, PATCHBAY_E_DENIED);
    EXPECT_EQ(told_.text, "you declined");
}

TEST_F(SignInServicesTest, OnlyAnAddressOfTheWebIsShown) {
    const auto op = reserve();
    for (const auto* url : {"file:///etc/passwd", "javascript:alert(1)", "https://a b", "ftp://x",
                            "https://a\nb", ""}) {
        EXPECT_EQ(consent->authorize(host(), op, str(url), &told_, Told::with_text),
                  PATCHBAY_E_INVALID)
            << url;
    }
    settle();
    EXPECT_TRUE(consent_.shown.empty());
    EXPECT_EQ(told_.times, 0);
}

TEST_F(SignInServicesTest, ACancelledSignInIsWithdrawnFromThePersonAndToldOnce) {
    const auto op = reserve();
    ASSERT_EQ(consent->authorize(host(), op, str("https://as/"), &told_, Told::with_text),
              PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return !consent_.shown.empty(); }));
    consent->cancel(host(), op);
    EXPECT_EQ(told_.times, 0) << "not from inside the call";
    ASSERT_TRUE(until([&] { return told_.times > 0; }));
    EXPECT_EQ(told_.status, PATCHBAY_E_CANCELLED);
    EXPECT_THAT(consent_.withdrawn, ElementsAre(41u));
    consent_.answer(std::string("code=x"));
    consent->cancel(host(), op);
    settle();
    EXPECT_EQ(told_.times, 1);
}

TEST_F(SignInServicesTest, AReservationThatIsGivenUpFreesItsPort) {
    const auto op = reserve();
    ASSERT_NE(::fcntl(consent_.last_socket, F_GETFD), -1);
    consent->cancel(host(), op);
    settle();
    EXPECT_EQ(::fcntl(consent_.last_socket, F_GETFD), -1);
    EXPECT_TRUE(consent_.withdrawn.empty()) << "nobody was asked yet";
}

TEST_F(SignInServicesTest, NoPortToListenOnIsSaid) {
    consent_.refusal = Error{ErrorCode::Io, "cannot listen"};
    char uri[256];
    patchbay_op op = 0;
    patchbay_error error{};
    EXPECT_LT(consent->reserve(host(), str("s"), 7, uri, &op, &error), 0);
    EXPECT_THAT(error.message, HasSubstr("cannot listen"));
    EXPECT_EQ(consent->reserve(host(), str("s"), 65536, uri, &op, &error), PATCHBAY_E_INVALID);
}

TEST_F(SignInServicesTest, ARedirectIsGivenWholeOrNotAtAll) {
    const std::string start = "http://127.0.0.1:7";
    char uri[PATCHBAY_REDIRECT_BYTES];
    patchbay_op op = 0;
    patchbay_error error{};
    consent_.path = std::string(sizeof uri - start.size() - 1, 'x');
    ASSERT_EQ(consent->reserve(host(), str("s"), 7, uri, &op, &error), PATCHBAY_OK);
    EXPECT_EQ(uri, start + consent_.path);
    consent_.path += 'x';
    EXPECT_EQ(consent->reserve(host(), str("s"), 7, uri, &op, &error), PATCHBAY_E_LIMIT);
    EXPECT_THAT(error.message, HasSubstr("the redirect URI is too long"));
    EXPECT_EQ(::fcntl(consent_.last_socket, F_GETFD), -1);
}

TEST_F(SignInServicesTest, ARecordIsReadAndWrittenInTheNameOfThePlugin) {
    ASSERT_EQ(secrets->get(host(), str("files"), &told_, Told::with_text), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return store_.got != nullptr; }));
    store_.got(std::string(R"({"a":1})"));
    EXPECT_EQ(told_.text, R"({"a":1})");
    Told put;
    ASSERT_EQ(secrets->put(host(), str("files"), str(R"({"b":2})"), &put, Told::plain),
              PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return store_.put_done != nullptr; }));
    EXPECT_EQ(put.times, 0) << "it is not on disk yet";
    store_.put_done({});
    EXPECT_EQ(put.times, 1);
    EXPECT_EQ(put.status, PATCHBAY_OK);
    EXPECT_THAT(store_.asked, ElementsAre("get method files", R"(put method files {"b":2})"));
}

// Whoever believes that a login is kept when it is not asks nobody again until it is lost.
TEST_F(SignInServicesTest, ARecordThatCouldNotBeKeptIsNoRecordThatIs) {
    ASSERT_EQ(secrets->put(host(), str("files"), str("{}"), &told_, Told::plain), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return store_.put_done != nullptr; }));
    store_.put_done(Error{ErrorCode::Io, "no space left"});
    EXPECT_EQ(told_.times, 1);
    EXPECT_EQ(told_.status, PATCHBAY_E_IO);
    EXPECT_EQ(told_.text, "no space left");
    for (const auto* bad : {"[]", "{", "text"})
        EXPECT_EQ(secrets->put(host(), str("files"), str(bad), &told_, Told::plain),
                  PATCHBAY_E_INVALID)
            << bad;
    const std::string large = "{\"a\":\"" + std::string(SignInServices::kRecordBytes, 'x') + "\"}";
    EXPECT_EQ(secrets->put(host(), str("files"), str(large), &told_, Told::plain),
              PATCHBAY_E_LIMIT);
    EXPECT_EQ(told_.times, 1);
}

TEST_F(SignInServicesTest, ALockIsHeldUntilItIsGivenBack) {
    patchbay_op op = 0;
    ASSERT_EQ(secrets->lock(host(), str("files"), 1500, &told_, Told::plain, &op), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return store_.lock_done != nullptr; }));
    EXPECT_THAT(store_.asked, ElementsAre("lock files 1500"));
    store_.lock_done({});
    EXPECT_EQ(told_.times, 1);
    EXPECT_TRUE(store_.unlocked.empty());
    secrets->unlock(host(), op);
    ASSERT_TRUE(until([&] { return !store_.unlocked.empty(); }));
    EXPECT_THAT(store_.unlocked, ElementsAre(42u));
    EXPECT_EQ(told_.times, 1) << "the one answer was that it is held";
}

TEST_F(SignInServicesTest, ALockThatIsNotHadIsForgotten) {
    patchbay_op op = 0;
    ASSERT_EQ(secrets->lock(host(), str("files"), 1, &told_, Told::plain, &op), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return store_.lock_done != nullptr; }));
    store_.lock_done(Error{ErrorCode::Timeout, "busy"});
    EXPECT_EQ(told_.status, PATCHBAY_E_TIMEOUT);
    secrets->unlock(host(), op);
    settle();
    EXPECT_TRUE(store_.unlocked.empty());
    EXPECT_EQ(told_.times, 1);
}

TEST_F(SignInServicesTest, WhatWaitsWhenTheHostClosesIsToldSo) {
    Told kept;
    patchbay_op lock = 0;
    ASSERT_EQ(consent->authorize(host(), reserve(), str("https://as/"), &told_, Told::with_text),
              PATCHBAY_OK);
    ASSERT_EQ(secrets->lock(host(), str("files"), 1, &kept, Told::plain, &lock), PATCHBAY_OK);
    ASSERT_TRUE(until([&] { return store_.lock_done && !consent_.shown.empty(); }));
    services_.detach();
    for (const auto* told : {&told_, &kept}) {
        EXPECT_EQ(told->times, 1);
        EXPECT_THAT(told->text, HasSubstr("the host is closing"));
    }
    EXPECT_THAT(consent_.withdrawn, ElementsAre(41u));
    EXPECT_THAT(store_.unlocked, ElementsAre(42u));
    EXPECT_EQ(secrets->get(host(), str("files"), &told_, Told::with_text), PATCHBAY_E_CLOSED);
    store_.lock_done({});
    consent_.answer(std::string("code=x"));
    EXPECT_EQ(told_.times + kept.times, 2);
}

TEST_F(SignInServicesTest, TakesWhatIsExactlyAtItsLimit) {
    const std::string server(256, 's');
    const std::string frame = R"({"a":""})";
    const std::string record =
        R"({"a":")" + std::string(SignInServices::kRecordBytes - frame.size(), 'x') + R"("})";
    EXPECT_EQ(secrets->put(host(), str(server), str(record), &told_, Told::plain), PATCHBAY_OK);
    EXPECT_EQ(secrets->put(host(), str(server), str(record + " "), &told_, Told::plain),
              PATCHBAY_E_LIMIT);
    EXPECT_EQ(secrets->get(host(), str(server + "s"), &told_, Told::with_text), PATCHBAY_E_INVALID);
    EXPECT_EQ(secrets->get(host(), str(""), &told_, Told::with_text), PATCHBAY_E_INVALID);
    char uri[256];
    patchbay_op op = 0;
    patchbay_error error{};
    EXPECT_EQ(consent->reserve(host(), str(server), 65535, uri, &op, &error), PATCHBAY_OK);
    const std::string url = "https://a/" + std::string((16u << 10) - 10, 'x');
    EXPECT_EQ(consent->authorize(host(), op, str(url + "x"), &told_, Told::with_text),
              PATCHBAY_E_INVALID);
    EXPECT_EQ(consent->authorize(host(), op, str(url), &told_, Told::with_text), PATCHBAY_OK);
    EXPECT_EQ(consent->reserve(host(), str(server + "s"), 7, uri, &op, &error), PATCHBAY_E_INVALID);
}

TEST_F(SignInServicesTest, RefusesACallWithoutWhatItNeeds) {
    char uri[256];
    patchbay_op op = 0;
    patchbay_error error{};
    EXPECT_EQ(consent->reserve(host(), str("s"), 7, nullptr, &op, &error), PATCHBAY_E_INVALID);
    EXPECT_EQ(consent->reserve(host(), str("s"), 7, uri, nullptr, &error), PATCHBAY_E_INVALID);
    EXPECT_EQ(consent->authorize(host(), reserve(), str("https://as/"), nullptr, nullptr),
              PATCHBAY_E_INVALID);
    EXPECT_EQ(secrets->get(host(), str("s"), nullptr, nullptr), PATCHBAY_E_INVALID);
    EXPECT_EQ(secrets->put(host(), str("s"), str("{}"), nullptr, nullptr), PATCHBAY_E_INVALID);
    EXPECT_EQ(secrets->lock(host(), str("s"), 1, &told_, nullptr, &op), PATCHBAY_E_INVALID);
    EXPECT_EQ(secrets->lock(host(), str("s"), 1, &told_, Told::plain, nullptr), PATCHBAY_E_INVALID);
    settle();
    EXPECT_THAT(store_.asked, ElementsAre());
}

TEST_F(SignInServicesTest, AskForAReservationOnceAndForNothingElse) {
    const auto op = reserve();
    ASSERT_EQ(consent->authorize(host(), op, str("https://as/"), &told_, Told::with_text),
              PATCHBAY_OK);
    EXPECT_EQ(consent->authorize(host(), op, str("https://as/"), &told_, Told::with_text),
              PATCHBAY_E_INVALID);
    patchbay_op lock = 0;
    ASSERT_EQ(secrets->lock(host(), str("files"), 1, &told_, Told::plain, &lock), PATCHBAY_OK);
    EXPECT_EQ(consent->authorize(host(), lock, str("https://as/"), &told_, Told::with_text),
              PATCHBAY_E_INVALID);
    settle();
    EXPECT_EQ(consent_.shown.size(), 1u);
}

TEST_F(SignInServicesTest, EndsBeforeItBeganWhenItIsGivenUpAtOnce) {
    patchbay_op op = 0;
    ASSERT_EQ(secrets->lock(host(), str("files"), 1, &told_, Told::plain, &op), PATCHBAY_OK);
    services_.detach();
    EXPECT_EQ(told_.times, 1);
    EXPECT_EQ(told_.status, PATCHBAY_E_CLOSED);
    settle();
    EXPECT_THAT(store_.asked, ElementsAre()) << "begun after its end";
    char uri[256];
    patchbay_error error{};
    EXPECT_EQ(consent->reserve(host(), str("s"), 7, uri, &op, &error), PATCHBAY_E_CLOSED);
    EXPECT_STREQ(error.message, "the host is closing");
    EXPECT_EQ(consent->authorize(host(), op, str("https://as/"), &told_, Told::with_text),
              PATCHBAY_E_CLOSED);
}

TEST_F(SignInServicesTest, AReservationTooManyFreesItsPort) {
    patchbay_op op = 0;
    for (std::size_t i = 0; i < SignInServices::kMostCalls; ++i)
        ASSERT_EQ(secrets->lock(host(), str("files"), 1, &told_, Told::plain, &op), PATCHBAY_OK);
    char uri[256];
    patchbay_error error{};
    EXPECT_EQ(consent->reserve(host(), str("s"), 7, uri, &op, &error), PATCHBAY_E_LIMIT);
    EXPECT_EQ(::fcntl(consent_.last_socket, F_GETFD), -1);
    EXPECT_STREQ(error.message, "too many calls are under way");
}

TEST_F(SignInServicesTest, CallsAreCounted) {
    patchbay_op op = 0;
    for (std::size_t i = 0; i < SignInServices::kMostCalls; ++i)
        ASSERT_EQ(secrets->lock(host(), str("files"), 1, &told_, Told::plain, &op), PATCHBAY_OK);
    EXPECT_EQ(secrets->lock(host(), str("files"), 1, &told_, Told::plain, &op), PATCHBAY_E_LIMIT);
    secrets->unlock(host(), op);
    settle();
    EXPECT_EQ(secrets->lock(host(), str("files"), 1, &told_, Told::plain, &op), PATCHBAY_OK);
}

TEST_F(SignInServicesTest, WhatThisHostDoesNotOfferIsSaid) {
    services_.detach();
    attach({});
    char uri[256];
    patchbay_op op = 0;
    patchbay_error error{};
    EXPECT_EQ(consent->reserve(host(), str("s"), 0, uri, &op, &error), PATCHBAY_E_UNSUPPORTED);
    EXPECT_EQ(secrets->get(host(), str("s"), &told_, Told::with_text), PATCHBAY_E_UNSUPPORTED);
}

TEST_F(SignInServicesTest, WhatAPluginNamesIsMasked) {
    secrets->mask(host(), str("hunter-of-the-method"));
    EXPECT_EQ(core::log::masked("it is hunter-of-the-method"), "it is ***");
    services_.detach();
    EXPECT_EQ(core::log::masked("hunter-of-the-method"), "hunter-of-the-method");
}

}  // namespace
