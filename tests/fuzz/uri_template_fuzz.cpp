// A server's resource template and an URI that a person typed, with a newline between: variables are
// named as they stand there, and what has none comes of itself alone.
#include "fuzz/require.hpp"
#include "protocol/uri_template.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto cut = text.find('\n');
    const auto uri_template = text.substr(0, cut);
    const auto uri = cut == text.npos ? std::string_view() : text.substr(cut + 1);

    std::size_t bytes = 0;
    for (const auto& name : template_variables(uri_template)) {
        FUZZ_REQUIRE(uri_template.find(name) != uri_template.npos);
        bytes += name.size();
    }
    FUZZ_REQUIRE(bytes <= uri_template.size());
    const bool has_expression = uri_template.find('{') != text.npos &&
                                uri_template.find('}', uri_template.find('{')) != text.npos;
    if (!has_expression) {
        FUZZ_REQUIRE(template_variables(uri_template).empty());
        FUZZ_REQUIRE(may_come_of(uri, uri_template) == (uri == uri_template));
    } else {
        FUZZ_REQUIRE(may_come_of(uri_template, uri_template));
    }
    FUZZ_REQUIRE(may_come_of(uri, uri));
    FUZZ_REQUIRE(may_come_of(uri, "{+any}"));
    return 0;
}
