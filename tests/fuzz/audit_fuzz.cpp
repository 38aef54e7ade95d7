// The files of an audit trail, and its head, whoever wrote them: nothing that was not signed is believed.
#include "audit/entry.hpp"
#include "audit/trail_files.hpp"
#include "fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::audit;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    Chain chain("a key that no input has");
    FUZZ_REQUIRE(!head_in(text, chain));
    for (auto left = text; !left.empty();) {
        const auto line = left.substr(0, left.find('\n'));
        left.remove_prefix(std::min(line.size() + 1, left.size()));
        FUZZ_REQUIRE(!chain.take(line).empty());
        if (const auto link = link_of(line)) {
            FUZZ_REQUIRE(link->number > 0 && !chain.is_ours(*link));
            FUZZ_REQUIRE(line.starts_with(link->signed_text));
        }
        if (const auto entry = Entry::parse(line)) {
            const auto row = csv_row(*entry);
            FUZZ_REQUIRE(static_cast<std::size_t>(std::count(row.begin(), row.end(), ',')) + 1 >=
                         columns().size());
            (void)Wanted{"2026", "a", "b", "c", "d"}.holds(*entry);
        }
        (void)time_text(line, {});
    }
    return 0;
}
