// What comes over the socket of a host that runs, or stands in its lock, before anything is known of who wrote
// it: what is believed is the same when it is said again.
#include "app/hello.hpp"
#include "app/meeting_point.hpp"
#include "fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace patchbay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto hello = app::parse_hello(text)) {
        // What is told in full where it may be left out may be too long for a line.
        const auto line = app::to_line(*hello);
        const auto again = app::parse_hello(line);
        FUZZ_REQUIRE(line.size() > app::kHelloBytes ||
                     (again && again->as == hello->as && again->shown.tools == hello->shown.tools &&
                      again->configuration == hello->configuration));
    }
    if (const auto welcome = app::parse_welcome(text)) {
        const auto again = app::parse_welcome(app::to_line(*welcome));
        FUZZ_REQUIRE(again && again->pid == welcome->pid && again->fits == welcome->fits);
    }
    if (const auto holder = app::parse_holder(text)) {
        FUZZ_REQUIRE(holder->pid > 0);
        const auto again = app::parse_holder(app::to_text(*holder));
        FUZZ_REQUIRE(again && again->pid == holder->pid);
    }
    return 0;
}
