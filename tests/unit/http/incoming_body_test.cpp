// Who waits for the body of a request, and what all bodies of a server may be together.
#include "http/incoming_body.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace patchbay::http {
namespace {

using Step = RequestReader::Step;

// A request with a body of `length` bytes, of which `sent` have come.
struct Request {
    Request(const Limits& limits, std::size_t& of_all, std::size_t length, std::size_t sent)
        : reader(limits), body(reader, limits, of_all) {
        const auto text =
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" +
            std::string(sent, 'x');
        reader.append(text.data(), text.size());
        EXPECT_EQ(reader.next(), Step::Begun);
        EXPECT_EQ(reader.next(), Step::Head);
        static_cast<void>(reader.take_head());
        body.expect();
    }
    void more(std::size_t count) {
        const std::string text(count, 'x');
        reader.append(text.data(), text.size());
        last = reader.next();
    }
    RequestReader reader;
    IncomingBody body;
    Step last = Step::Nothing;
};

TEST(IncomingBody, IsHandedOverOnceAndItsBytesAreGivenBack) {
    const Limits limits;
    std::size_t of_all = 0;
    Request one(limits, of_all, 100, 0);
    std::optional<std::string> taken;
    one.body.want([&](std::string body) {
        EXPECT_FALSE(one.body.is_due()) << "whoever takes it may answer at once";
        taken = std::move(body);
    });
    one.more(60);
    EXPECT_TRUE(one.body.count());
    EXPECT_EQ(of_all, 60u);
    one.more(40);
    ASSERT_EQ(one.last, Step::Whole);
    one.body.hand_over();
    EXPECT_EQ(taken, std::string(100, 'x'));
    EXPECT_FALSE(one.body.is_wanted());
    EXPECT_EQ(of_all, 0u);
}

TEST(IncomingBody, OfManyBytesIsTooMuchBesideOthersAndASmallOneIsNot) {
    Limits limits;
    limits.all_body_bytes = 150;
    limits.own_bytes = 50;
    std::size_t of_all = 0;
    Request first(limits, of_all, 200, 0), large(limits, of_all, 200, 0),
        small(limits, of_all, 50, 0);
    first.more(120);
    EXPECT_TRUE(first.body.count());
    large.more(51);
    EXPECT_FALSE(large.body.count());
    small.more(50);
    EXPECT_TRUE(small.body.count());
    EXPECT_EQ(of_all, 221u);
    first.body.drop();
    EXPECT_TRUE(large.body.count()) << "there is room again";
}

TEST(IncomingBody, ThatIsNotWholeWhenItsAnswerBeginsLeavesNothingBehindIt) {
    const Limits limits;
    std::size_t of_all = 0;
    Request whole(limits, of_all, 10, 10), half(limits, of_all, 10, 5);
    half.body.want([](const auto&) { ADD_FAILURE() << "nobody gets half of one"; });
    EXPECT_TRUE(whole.body.forgo());
    EXPECT_FALSE(half.body.forgo());
    EXPECT_FALSE(half.body.is_wanted());
    EXPECT_TRUE(half.body.forgo()) << "there is none any more";
    EXPECT_EQ(of_all, 0u);
}

TEST(IncomingBody, OfAConnectionThatIsGoneCountsNoLonger) {
    const Limits limits;
    std::size_t of_all = 0;
    {
        Request one(limits, of_all, 100, 0);
        one.more(60);
        EXPECT_TRUE(one.body.count());
        EXPECT_EQ(of_all, 60u);
    }
    EXPECT_EQ(of_all, 0u);
}

}  // namespace
}  // namespace patchbay::http
