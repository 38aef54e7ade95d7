// What others make of a secret is as secret as itself.
#include "core/secrets.hpp"

#include "core/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace patchbay::core {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// As any client does it, letter by letter.
std::string base64(const std::string& text, const char* last_two) {
    const std::string alphabet =
        std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") + last_two;
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += 3) {
        unsigned bits = 0;
        for (std::size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k)
            out += i + k <= text.size() ? alphabet[bits >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

TEST(SecretForms, InBase64ASecretIsMaskedWhereverItStands) {
    ASSERT_EQ(base64("user:passw0rd", "+/"), "dXNlcjpwYXNzdzByZA==");
    Secrets mine;
    for (const std::string secret : {"passw0rd", "\xff\xfe?>~~\xfb\xef\xbe", "123456"}) {
        mine.add(secret);
        for (const auto* before : {"", "u", "me", "user:", "me:x"}) {
            for (const auto* after : {"", "!", "@h", ":80"}) {
                for (const auto* last_two : {"+/", "-_"}) {
                    const auto sent = base64(before + secret + after, last_two);
                    SCOPED_TRACE(sent);
                    const auto shown = masked("Authorization: Basic " + sent);
                    EXPECT_THAT(shown, HasSubstr("***"));
                    // At most a letter at each end, which its neighbour has a part in, is left.
                    const auto from = std::string(before).size() * 8 / 6;
                    const auto size = secret.size() * 8 / 6 - 2;
                    EXPECT_THAT(shown, Not(HasSubstr(sent.substr(from + 2, size - 2))));
                }
            }
        }
    }
}

TEST(SecretForms, EncodedForAUrlASecretIsMasked) {
    Secrets mine;
    mine.add("p/a+s s!w&=\xc3\xa4");
    for (const auto* form : {
             "p%2Fa%2Bs+s%21w%26%3D%C3%A4",    // a form
             "p%2fa%2bs+s%21w%26%3d%c3%a4",    // the same in small letters
             "p%2Fa%2Bs%20s%21w%26%3D%C3%A4",  // all but the unreserved
             "p/a%2Bs%20s%21w%26%3D%C3%A4",    // a path
             "p%2Fa%2Bs%20s!w%26%3D%C3%A4",    // encodeURIComponent
         }) {
        EXPECT_EQ(masked("https://h/?token=" + std::string(form) + "&b=1"),
                  "https://h/?token=***&b=1");
    }
}

TEST(SecretForms, AreForgottenWithTheSecret) {
    const auto sent = base64("shared secret", "+/");
    {
        Secrets mine, yours;
        mine.add("shared secret");
        yours.add("shared secret");
        { const auto gone = std::move(yours); }
        EXPECT_THAT(masked(sent), HasSubstr("***"));
        EXPECT_EQ(masked("shared%20secret"), "***");
        EXPECT_EQ(mine.size(), 1u) << "forms are no secrets of their own";
    }
    EXPECT_EQ(masked(sent), sent);
    EXPECT_EQ(masked("shared%20secret"), "shared%20secret");
}

TEST(SecretForms, OfALongSecretOnlyItselfIsKnown) {
    Secrets mine;
    const std::string longest(Secrets::kLongestDerived, '~'), longer(longest + "~");
    mine.add(longer);
    EXPECT_EQ(masked(longer), "***");
    EXPECT_EQ(masked(base64(longer, "+/")), base64(longer, "+/"));
    mine.add(longest);
    EXPECT_THAT(masked(base64(longest, "+/")), HasSubstr("***"));
}

TEST(SecretForms, InJsonASecretIsMaskedHoweverItIsEscaped) {
    Secrets mine;
    mine.add("k/9\"<q\\w\xc3\xa4\xf0\x9f\x98\x80\nz");
    for (const auto* form : {
             R"(k/9\"<q\\wä😀\nz)",                               // no more than must be
             R"(k\/9\"<q\\w\u00e4\ud83d\ude00\nz)",              // PHP
             R"(k/9\u0022\u003Cq\\w\u00E4\uD83D\uDE00\u000az)",  // .NET
             R"(\u006b/9\"<q\\w\u00e4\ud83d\ude00\nz)",          // an escape at its beginning
             R"(k\\/9\\\"<q\\\\w\\u00e4\\ud83d\\ude00\\nz)",     // JSON in JSON
             R"(k/9"<q\\w\xc3\xa4\xf0\x9f\x98\x80\nz)",          // Python, of bytes
         }) {
        EXPECT_EQ(masked("{\"token\":\"" + std::string(form) + "\"}"), R"({"token":"***"})");
    }
    EXPECT_EQ(masked(R"(k\/9\"<q\\w\ud83d\ude00\nz)"), R"(k\/9\"<q\\w\ud83d\ude00\nz)");
}

TEST(SecretForms, ABackslashThatBelongsToTheTextAroundStays) {
    Secrets mine;
    mine.add("hunter2");
    EXPECT_EQ(masked(R"(C:\hunter2\x)"), R"(C:\***\x)");
    EXPECT_EQ(masked(R"("a\nhunter2\")"), R"("a\n***\")");
    mine.add(R"(C:\new\table)");
    EXPECT_EQ(masked(R"(at C:\new\table!)"), "at ***!") << "itself, and no line end";
}

TEST(CutSecrets, TheBeginningOfASecretIsMaskedBeforeTheMarkOfACut) {
    Secrets mine;
    mine.add("ab/d.ef\xc3\xa4-and-more");
    for (const auto* begun : {"ab/d", "ab/d.", "ab/d.ef\xc3\xa4-and-mor", R"(ab\/d.ef\u00e4-an)",
                              "ab%2Fd.ef%C3%A", "YWIvZC5lZ"}) {
        EXPECT_EQ(masked("it was " + std::string(begun) + "...!"), "it was ***...!") << begun;
        EXPECT_EQ(clipped("it was " + std::string(begun), 7 + std::string(begun).size()),
                  "it was ***")
            << begun;
        EXPECT_EQ(masked("it was " + std::string(begun)), "it was " + std::string(begun))
            << "it is whole";
    }
    EXPECT_EQ(masked("ab/...") + clipped("ab/", 3), "ab/...ab/") << "too little to tell";
    EXPECT_THAT(masked(R"(ab/d.ef\u00...)"), Not(HasSubstr("ab"))) << "cut in an escape";
    EXPECT_THAT(clipped(R"(ab/d.ef\u00)", 11), Not(HasSubstr("ab")));
    EXPECT_EQ(masked("ab/d.. and.."), "ab/d.. and..") << "no mark";
}

TEST(CutSecrets, ATextIsMaskedBeforeItIsCutWhereverThatIs) {
    Secrets mine;
    const std::string secret = "k9ZqA7Lw2+pXv4";
    mine.add(secret);
    const std::string text = "xx" + secret + "yy";
    for (std::size_t most = 0; most <= text.size() + 1; ++most) {
        SCOPED_TRACE(most);
        for (const auto& cut : {clipped(text, most), printable(text, most)}) {
            EXPECT_LE(cut.size(), most);
            EXPECT_THAT(masked(cut), Not(HasSubstr(secret.substr(0, 4))));
        }
    }
    EXPECT_EQ(clipped(text, text.size() + 1), text) << "who shows it masks it";
    EXPECT_EQ(printable(text, text.size()), text);
    EXPECT_EQ(printable(text, 10), "xx***");
    EXPECT_EQ(printable("\x01" + text, 10), "\xEF\xBF\xBDxx***");
}

// Were the rest of the text looked at for each beginning of a secret, this would take minutes.
TEST(CutSecrets, ALongTextFullOfBeginningsIsReadOnce) {
    Secrets mine;
    mine.add_header("Bearer tok-ABCDEFGHIJKLMNOP");
    std::string text;
    while (text.size() < (4u << 20)) text += "Bear\\u0065";
    EXPECT_EQ(masked(text).size(), text.size());
}

}  // namespace
}  // namespace patchbay::core
