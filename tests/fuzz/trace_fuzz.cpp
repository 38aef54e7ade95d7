// Foreign bytes as a traceparent and, behind a newline, a tracestate: what goes on is JSON members that say
// the same, or nothing.
#include "core/json.hpp"
#include "fuzz/require.hpp"
#include "protocol/trace_context.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto cut = text.find('\n');
    const auto parent = text.substr(0, cut);
    const auto state = cut == text.npos ? std::string_view() : text.substr(cut + 1);

    const auto members = protocol::trace_members(parent, state);
    FUZZ_REQUIRE(members.empty() != protocol::is_traceparent(parent));
    if (members.empty()) return 0;
    const auto read = core::parse_json_object("{" + members + "}");
    FUZZ_REQUIRE(read.has_value());
    FUZZ_REQUIRE(core::text_in(&*read, "traceparent") == parent);
    if (protocol::is_tracestate(state)) {
        FUZZ_REQUIRE(state.size() <= protocol::kTraceStateBytes);
        FUZZ_REQUIRE(core::text_in(&*read, "tracestate") == state);
    } else {
        FUZZ_REQUIRE(!read->contains("tracestate"));
    }
    FUZZ_REQUIRE(protocol::with_trace(members, members) == members);
    return 0;
}
