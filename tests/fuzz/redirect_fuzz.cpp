// Foreign bytes as the redirect that ends a sign-in. The listener and the method that gets the query
// afterwards read the same in it, and a person who pastes an address gives its query and no more.
#include "auth/consent.hpp"
#include "auth/query.hpp"
#include "encoding.hpp"
#include "fuzz/require.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay;
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const char* name : {"code", "state", "iss", "error", "error_description"}) {
        const auto value = auth::query_value(text, name);
        FUZZ_REQUIRE(!value || value->size() <= text.size());
        if (text.find_first_of("?#") == text.npos)
            FUZZ_REQUIRE(value == oauth::only(oauth::form_decode(text), name));
    }
    const auto form = oauth::form_decode(text);
    FUZZ_REQUIRE(oauth::form_decode(oauth::form_encode(form)) == form);

    const std::string ours = "http://127.0.0.1:43210/callback";
    if (const auto query = auth::query_of_redirect(text, ours)) {
        FUZZ_REQUIRE(text.find(ours + "?" + *query) != text.npos);
        FUZZ_REQUIRE(query->find('#') == query->npos);
    }
    const auto pasted = auth::query_of_redirect(" " + ours + "?" + text + "#rest\r\n", ours);
    FUZZ_REQUIRE(pasted && *pasted == text.substr(0, text.find('#')));
    return 0;
}
