// Foreign bytes as what was remembered of a configuration: believed as a whole or not at all, and what
// is believed is written again as it was read.
#include "app/snapshot_file.hpp"
#include "core/json.hpp"
#include "fuzz/state_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/stat.h>

using namespace patchbay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const test::StateFolder folder;
    static const bool made = ::mkdir((folder / "snapshots").c_str(), 0700) == 0;
    FUZZ_REQUIRE(made);
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const app::SnapshotFile file(folder.path(), "/srv/app");
    folder.put(file.path(), text);

    const auto read = file.read();
    if (!read) {
        FUZZ_REQUIRE(read.error().message.find(file.path()) != std::string::npos);
        // Not written over either.
        FUZZ_REQUIRE(!file.remember(registry::Snapshot{}));
        return 0;
    }
    FUZZ_REQUIRE(read->has_value());
    const auto again = registry::imprint_from(registry::to_json(**read));
    FUZZ_REQUIRE(again && *again == **read);
    return 0;
}
