// The first parser that a server's bytes meet. What it accepts must hold together.
#include "protocol/envelope.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto envelope = parse_envelope(text);
    (void)split_params(text);
    (void)parse_rpc_error(text);
    if (!envelope) return 0;
    for (const auto part : {envelope->id, envelope->params, envelope->result, envelope->error}) {
        boost::json::error_code failed;
        boost::json::parse_options options;
        options.max_depth = 200;
        if (!part.empty())
            (void)boost::json::parse({part.data(), part.size()}, failed, {}, options);
        if (failed) std::abort();  // a part was cut wrong
    }
    return 0;
}
