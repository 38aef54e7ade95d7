// What others make of a secret is as secret as itself.
#include "core/secrets.hpp"

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

}  // namespace
}  // namespace patchbay::core
