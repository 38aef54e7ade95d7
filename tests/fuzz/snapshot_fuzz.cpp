// Foreign bytes as what was remembered of a configuration: believed as a whole or not at all, and what
// is believed is written again as it was read.
#include "app/snapshot_file.hpp"
#include "core/json.hpp"
#include "fuzz/require.hpp"
#include "support/scratch_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace patchbay;

void put(const std::string& file, std::string_view text) {
    ::unlink(file.c_str());  // a file that is cut to nothing is flushed when it is closed
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    FUZZ_REQUIRE(fd >= 0);
    FUZZ_REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(fd);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const test::ScratchFolder folder{};
    static const bool made = ::mkdir((folder / "snapshots").c_str(), 0700) == 0;
    FUZZ_REQUIRE(made);
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const app::SnapshotFile file(folder.path(), "/srv/app");
    put(file.path(), text);

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
