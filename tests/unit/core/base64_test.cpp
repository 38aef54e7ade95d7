#include "core/base64.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace patchbay::core {
namespace {

TEST(Base64, IsWrittenPaddedAndReadBack) {
    const std::pair<std::string, std::string> known[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"},
                                                         {std::string("\0\xff\xfb", 3), "AP/7"}};
    for (const auto& [bytes, text] : known) {
        EXPECT_EQ(base64(bytes), text);
        EXPECT_EQ(base64_decoded(text).value(), bytes) << text;
    }
}

TEST(Base64, IsReadWithoutItsPadding) {
    EXPECT_EQ(base64_decoded("Zg").value(), "f");
    EXPECT_EQ(base64_decoded("Zm8").value(), "fo");
}

TEST(Base64, ThatIsNoneIsRefused) {
    for (const char* text : {"Z", "Zm9vY", "Zm=v", "Zm9v===", "Zm 9", "Zm-_"})
        EXPECT_FALSE(base64_decoded(text)) << text;
}

TEST(Base64, OfUrlsHasOtherLettersAndNoPadding) {
    const std::string bytes("\xff\xfb\x3e\xf9", 4);
    EXPECT_EQ(base64(bytes), "//s++Q==");
    EXPECT_EQ(base64url(bytes), "__s--Q");
    EXPECT_EQ(base64url_decoded("__s--Q").value(), bytes);
    for (const char* text : {"Z", "__s--Q==", "//s++Q", "__s- Q"})
        EXPECT_FALSE(base64url_decoded(text)) << text;
}

}  // namespace
}  // namespace patchbay::core
