#include "protocol/schema_node.hpp"

#include <gtest/gtest.h>

namespace patchbay::protocol::schema {
namespace {

TEST(SchemaUri, IsResolvedAsTheExamplesOfRfc3986Are) {
    const std::pair<const char*, const char*> cases[] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y#s"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/../x", "http://a/b/c/g#s/../x"},
        {"http:g", "http:g"},
    };
    for (const auto& [reference, resolved] : cases)
        EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", reference), resolved) << reference;
}

TEST(SchemaUri, IsResolvedAgainstWhateverTheBaseHas) {
    const struct {
        const char *base, *reference, *resolved;
    } cases[] = {
        {"", "a/b", "a/b"},
        {"a", "b", "b"},
        {"http://h", "g", "http://h/g"},
        {"http://h?q", "#s", "http://h?q#s"},
        {"http://h#f", "?q", "http://h?q"},
        {"http://a", "//g/x/../y?q", "http://g/y?q"},
        {"http://a", "//g?q", "http://g?q"},
        {"http://a", "//g#s", "http://g#s"},
        {"urn:a", "urn:b#s", "urn:b#s"},
        {"1:a", "b", "b"},
        {"http://a/b", "1:c", "http://a/1:c"},
        {"http://a/b", ":c", "http://a/:c"},
        {"http://a/b", "c?d:e", "http://a/c?d:e"},
    };
    for (const auto& c : cases)
        EXPECT_EQ(resolve_uri(c.base, c.reference), c.resolved) << c.base << " " << c.reference;
}

TEST(SchemaUri, IsDecodedWhereAPercentHasTwoDigits) {
    EXPECT_EQ(percent_decoded("a%2Fb%2fc%5F%7a"), "a/b/c_z");
    EXPECT_EQ(percent_decoded("%AF%fA%09%90"), "\xAF\xFA\x09\x90");
    EXPECT_EQ(percent_decoded("%2"), "%2");
    EXPECT_EQ(percent_decoded("%"), "%");
    EXPECT_EQ(percent_decoded("%g0%0g%25"), "%g0%0g%");
    EXPECT_EQ(percent_decoded("%41"), "A") << "also at the very end";
}

}  // namespace
}  // namespace patchbay::protocol::schema
