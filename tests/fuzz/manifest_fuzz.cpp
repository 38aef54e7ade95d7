// Foreign bytes as a plugin's manifest: what is accepted names one library inside its own folder, by
// its hash, and things that can be shown.
#include "core/text.hpp"
#include "fuzz/require.hpp"
#include "plugin/loading/manifest.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto manifest = plugin::parse_manifest(text, "plugin.toml", "linux-x86_64-gnu");
    if (!manifest) {
        FUZZ_REQUIRE(manifest.error().code == ErrorCode::Invalid ||
                     manifest.error().code == ErrorCode::Limit ||
                     manifest.error().code == ErrorCode::Unsupported ||
                     manifest.error().code == ErrorCode::NotFound);
        return 0;
    }
    FUZZ_REQUIRE(!manifest->id.empty() && !manifest->library.empty());
    FUZZ_REQUIRE(manifest->library.front() != '/');
    for (const auto& part : std::filesystem::path(manifest->library)) FUZZ_REQUIRE(part != "..");
    FUZZ_REQUIRE(manifest->sha256.size() == 64);
    for (const auto& each : manifest->provides) {
        FUZZ_REQUIRE(plugin::valid_kind_name(each.name));
        FUZZ_REQUIRE(each.schema_file.empty() || each.schema_file.front() != '/');
    }
    for (const auto* shown : {&manifest->id, &manifest->name, &manifest->version})
        FUZZ_REQUIRE(core::printable(*shown, 1000) == *shown);
    return 0;
}
