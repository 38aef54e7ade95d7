// A folder of files that only their owner may read, as earlier runs leave them.
#pragma once

#include "fuzz/require.hpp"
#include "support/scratch_folder.hpp"

#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace patchbay::test {

struct StateFolder : ScratchFolder {
    StateFolder() {}  // a const one may be made

    static void put(const std::string& file, std::string_view text) {
        ::unlink(file.c_str());  // a file that is cut to nothing is flushed when it is closed
        const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
        FUZZ_REQUIRE(fd >= 0);
        FUZZ_REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        ::close(fd);
    }
};

}  // namespace patchbay::test
