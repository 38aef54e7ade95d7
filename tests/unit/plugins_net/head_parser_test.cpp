#include "net/head_parser.hpp"

#include "net/trouble.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace patchbay::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What the parser makes of it, or why it refuses; the rest is what follows the head.
struct Parsed {
    std::string shown, rest;
};
Parsed parsed(std::string_view bytes, std::size_t piece = 1) {
    try {
        HeadParser parser;
        while (!bytes.empty()) {
            auto next = bytes.substr(0, piece);
            bytes.remove_prefix(next.size());
            if (!parser.feed(next)) continue;
            const auto head = parser.take();
            std::string shown = std::to_string(head.status) + " " + head.reason;
            for (const auto& [name, value] : head.fields) shown += "|" + name + "=" + value;
            return {shown + (head.keeps() ? "" : "|closes"),
                    std::string(next) + std::string(bytes)};
        }
        parser.finish();
    } catch (const Trouble& trouble) {
        EXPECT_EQ(trouble.code, PATCHBAY_E_CLOSED);
        return {trouble.text, {}};
    }
    return {"nothing", {}};
}

TEST(HeadParser, ReadsAHeadCutAnywhereAndLeavesTheBody) {
    const std::string text =
        "HTTP/1.1 200 All is well\r\nContent-Type: a/b; c=d\r\nX:\t y "
        "\t\r\nEmpty:\r\n\r\n{\"body\"}";
    for (std::size_t piece : {1, 2, 3, 7, 64, 1000}) {
        const auto head = parsed(text, piece);
        EXPECT_EQ(head.shown, "200 All is well|Content-Type=a/b; c=d|X=y|Empty=") << piece;
        EXPECT_EQ(head.rest, "{\"body\"}") << piece;
    }
}

TEST(HeadParser, TakesWhatOldServersSend) {
    EXPECT_EQ(parsed("HTTP/1.1 200\r\n\r\n").shown, "200 ");
    EXPECT_EQ(parsed("HTTP/1.1 200 \nA: b\n\n").shown, "200 |A=b");
    EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\td\r\n\r\n").shown, "200 OK|A=b c d");
    EXPECT_EQ(parsed("HTTP/1.0 200 OK\r\n\r\n").shown, "200 OK|closes");
    EXPECT_EQ(parsed("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n").shown,
              "200 OK|Connection=Keep-Alive");
    EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nconnection: x, Close\r\n\r\n").shown,
              "200 OK|connection=x, Close|closes");
}

TEST(HeadParser, PassesOverInterimAnswers) {
    const std::string early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    EXPECT_EQ(parsed("HTTP/1.1 100 Continue\r\n\r\n" + early + "HTTP/1.1 204 None\r\n\r\n").shown,
              "204 None");
    std::string many;
    for (std::size_t i = 0; i <= HeadParser::kMostInterim; ++i) many += early;
    EXPECT_THAT(parsed(many).shown, HasSubstr("interim answers without end"));
    EXPECT_EQ(parsed("HTTP/1.1 101 Switching\r\n\r\n").shown, "101 Switching|closes");
}

TEST(HeadParser, RefusesWhatIsNotHttp) {
    for (const char* text :
         {"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2 200\r\n", "http/1.1 200 OK\r\n", "\r\n", "{}\n",
          "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000\r\n", "HTTP/1.1 -20 OK\r\n", "HTTP/1.1  200 OK\r\n",
          "HTTP/1.1 099 OK\r\n", "HTTP/1.11 200 OK\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n",
          "HTTP/1.1 200 OK\r\n: b\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n",
          "HTTP/1.1 200 OK\r\n folded\r\n", "HTTP/1.1 200 OK\r\nA: b\rc\r\n"})
        EXPECT_THAT(parsed(text + std::string("\r\n")).shown,
                    StartsWith("the answer is not HTTP: "))
            << text;
    EXPECT_THAT(parsed("HTTP/1.1 200 OK\r\n").shown, StartsWith("the answer is not HTTP: "));
    EXPECT_THAT(parsed(std::string("HTTP/1.1 200 OK\r\nA: b\0c\r\n", 25)).shown,
                HasSubstr("a control character"));
    EXPECT_EQ(parsed("").shown, "nothing");
}

TEST(HeadParser, KeepsItsLimits) {
    const std::string start = "HTTP/1.1 200 OK\r\n";
    const auto field = [](std::size_t size) { return "A: " + std::string(size, 'x') + "\r\n"; };
    std::string many = start;
    for (std::size_t i = 0; i < HeadParser::kMostFields; ++i) many += "A: b\r\n";
    EXPECT_THAT(parsed(many + "\r\n").shown, StartsWith("200 OK|A=b"));
    EXPECT_THAT(parsed(many + "A: b\r\n").shown, HasSubstr("more than 100 header fields"));
    EXPECT_THAT(parsed(start + field(HeadParser::kValueBytes) + "\r\n").shown,
                StartsWith("200 OK|"));
    EXPECT_THAT(parsed(start + field(HeadParser::kValueBytes + 1)).shown, HasSubstr("too long"));
    // A folded one has a space for each fold.
    const std::string more = " " + std::string(5000, 'y') + "\r\n";
    EXPECT_THAT(parsed(start + field(HeadParser::kValueBytes - 5001) + more + "\r\n").shown,
                StartsWith("200 OK|"));
    EXPECT_THAT(parsed(start + field(HeadParser::kValueBytes - 5000) + more + "\r\n").shown,
                HasSubstr("too long"));
    // Without the end of the line, too.
    EXPECT_THAT(parsed(start + std::string(HeadParser::kLineBytes + 1, 'x'), 100).shown,
                HasSubstr("too long"));
}

TEST(Head, KnowsItsMediaType) {
    Head head{200, "OK", {{"content-TYPE", "Text/Event-Stream ; charset=utf-8"}}};
    EXPECT_EQ(head.media_type(), "text/event-stream");
    EXPECT_EQ(Head{}.media_type(), "");
}

TEST(Head, KnowsWhetherTheConnectionIsKept) {
    struct Case {
        bool persistent;
        std::vector<HeaderList::Field> fields;
        bool keeps;
        int status = 200;
    };
    const Case cases[] = {{true, {}, true},
                          {false, {}, false},
                          {true, {{"Connection", "Close"}}, false},
                          {false, {{"connection", "Keep-Alive"}}, true},
                          {true, {{"Connection", "keep-alive"}, {"Connection", "close"}}, false},
                          {true, {{"X-Connection", "close"}}, true},
                          {true, {}, false, 101}};
    for (const auto& [persistent, fields, keeps, status] : cases) {
        const Head head{status, "OK", fields, persistent};
        EXPECT_EQ(head.keeps(), keeps) << ::testing::PrintToString(fields);
    }
}

}  // namespace
}  // namespace patchbay::net
