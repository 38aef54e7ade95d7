// Foreign bytes as the body of an HTTP answer: what the transports find in a JSON object is what is
// there.
#include "fuzz/require.hpp"
#include "net/rpc_body.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace json = boost::json;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto found = patchbay::net::rpc_in(text);
    FUZZ_REQUIRE(found.is_rpc || (!found.is_error && found.id.empty()));
    json::error_code failed;
    const auto value =
        json::parse({text.data(), text.size()}, failed);  // 32 levels: fewer than ours
    const auto* object = failed ? nullptr : value.if_object();
    if (!object || text.find('\\') != text.npos) return 0;  // a name that is escaped is not ours
    FUZZ_REQUIRE(found.is_rpc == object->contains("jsonrpc"));
    if (!found.is_rpc) return 0;
    FUZZ_REQUIRE(found.is_error == object->contains("error"));
    const auto* id = object->if_contains("id");
    FUZZ_REQUIRE(!found.id.empty() == (id && !id->is_null()));
    return 0;
}
