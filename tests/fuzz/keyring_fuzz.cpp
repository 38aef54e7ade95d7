// Foreign bytes as what secret-tool answers: the secrets of a sign-in, or nothing of use. What the file
// has of the record stays, unless the keyring says otherwise.
#include "auth/keyring.hpp"
#include "fuzz/require.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay;
    namespace json = boost::json;
    const std::string answer(reinterpret_cast<const char*>(data), size);
    const json::object record{{"issuer", "https://as.test"}, {"expires", 7}};
    const auto whole = auth::with_secrets(record, answer);
    if (!whole) return 0;
    FUZZ_REQUIRE(answer.find('{') != answer.npos);
    for (const auto& member : record) FUZZ_REQUIRE(whole->contains(member.key()));
    FUZZ_REQUIRE(auth::with_secrets(*whole, answer) == whole);
    FUZZ_REQUIRE(json::parse(json::serialize(*whole), {}, {256}).is_object());
    return 0;
}
