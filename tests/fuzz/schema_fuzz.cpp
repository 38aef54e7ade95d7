// A schema and an instance from a server: `[schema, instance]`.
#include "protocol/arguments.hpp"
#include "protocol/schema.hpp"

#include <boost/json.hpp>

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    boost::json::error_code failed;
    const auto value = boost::json::parse({reinterpret_cast<const char*>(data), size}, failed);
    if (failed || !value.is_array() || value.get_array().size() != 2) return 0;
    const auto& pair = value.get_array();
    if (const auto schema = Schema::compile(pair[0])) (void)schema->validate(pair[1]);
    if (pair[1].is_object()) (void)check_arguments(pair[0], pair[1].get_object());
    (void)defaults_for(pair[0]);
    return 0;
}
