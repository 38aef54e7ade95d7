#include "plugin/mapped_code.hpp"

#include <gtest/gtest.h>

#include <string>
#include <unistd.h>

namespace patchbay::plugin {
namespace {

// What is written of the library that has `address`; "none": nothing.
std::string library_of(const void* address) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const bool known = write_library(ends[1], address);
    ::close(ends[1]);
    std::string text(2 * kMappedPathBytes, '\0');
    const auto got = ::read(ends[0], text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    ::close(ends[0]);
    EXPECT_EQ(known, !text.empty());
    return known ? text : "none";
}

TEST(MappedCode, IsOfTheLibraryThatItWasNotedFor) {
    const auto* of_libc = reinterpret_cast<const void*>(&::getpid);
    const auto* also_of_libc = reinterpret_cast<const void*>(&::getppid);
    const auto* of_this_program = reinterpret_cast<const void*>(&library_of);
    const int nowhere = 0;
    note_code(&nowhere, "/no/library.so");
    EXPECT_EQ(library_of(&nowhere), "none");
    const std::string long_path = "/" + std::string(kMappedPathBytes, 'x');
    note_code(of_libc, long_path);
    EXPECT_EQ(library_of(also_of_libc), "the library " + long_path.substr(0, kMappedPathBytes - 1));
    EXPECT_EQ(library_of(of_this_program), "none");
}

}  // namespace
}  // namespace patchbay::plugin
