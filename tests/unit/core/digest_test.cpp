#include "core/digest.hpp"

#include <gtest/gtest.h>

namespace patchbay::core {
namespace {

// RFC 4231, 4.2, 4.3, 4.4, 4.7, 4.8.
TEST(Digest, MakesTheCodesOfTheStandardsExamples) {
    EXPECT_EQ(hmac_sha256_hex(std::string(20, '\x0b'), "Hi There"),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hmac_sha256_hex("Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hmac_sha256_hex(std::string(20, '\xaa'), std::string(50, '\xdd')),
              "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

TEST(Digest, HashesAKeyThatIsLongerThanABlock) {
    const std::string key(131, '\xaa');
    EXPECT_EQ(hmac_sha256_hex(key, "Test Using Larger Than Block-Size Key - Hash Key First"),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    EXPECT_EQ(
        hmac_sha256_hex(key,
                        "This is a test using a larger than block-size key and a larger than "
                        "block-size data. The key needs to be hashed before being used by the "
                        "HMAC algorithm."),
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Digest, TakesAKeyOfExactlyOneBlockAsItIs) {
    EXPECT_NE(hmac_sha256_hex(std::string(64, 'k'), ""), hmac_sha256_hex(std::string(63, 'k'), ""));
    EXPECT_EQ(hmac_sha256_hex(std::string(63, 'k') + '\0', "x"),
              hmac_sha256_hex(std::string(63, 'k'), "x"));
}

}  // namespace
}  // namespace patchbay::core
