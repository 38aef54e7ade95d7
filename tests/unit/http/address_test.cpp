#include "http/address.hpp"

#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::http {
namespace {

using ::testing::HasSubstr;

TEST(HttpAddress, IsANumberWithAPortOrAPath) {
    EXPECT_EQ(parse_address("127.0.0.1:80")->url(), "http://127.0.0.1:80");
    EXPECT_EQ(parse_address("localhost:0")->url(), "http://127.0.0.1:0");
    EXPECT_EQ(parse_address("[::1]:65535")->url(), "http://[::1]:65535");
    EXPECT_EQ(parse_address("unix:/tmp/x.sock")->url(), "unix:/tmp/x.sock");
    for (const auto* wrong :
         {"", "80", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:8o", "::1:80",
          "[127.0.0.1]:80", "example.com:80", "unix:", "127.0.0.1:-1", "[::1:80"})
        EXPECT_FALSE(parse_address(wrong)) << wrong;
    EXPECT_FALSE(parse_address("unix:/" + std::string(200, 'x')));
    EXPECT_THAT(parse_address("80").error().message, HasSubstr("127.0.0.1:8808"));
}

TEST(HttpAddress, KnowsWhatOtherMachinesReach) {
    for (const auto* mine : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "unix:x"})
        EXPECT_TRUE(parse_address(mine)->loopback()) << mine;
    for (const auto* others : {"0.0.0.0:1", "192.168.0.1:1", "[::]:1"})
        EXPECT_FALSE(parse_address(others)->loopback()) << others;
}

TEST(HttpAddress, ANameThatOnlyBeginsLikeThisMachineIsAnotherOne) {
    for (const auto* here : {"localhost", "127.0.0.1", "127.255.0.9", "::1", "[::1]"})
        EXPECT_TRUE(names_this_machine(here)) << here;
    for (const auto* elsewhere : {"", "127.evil.example", "127.0.0.1.evil.example", "127.1",
                                  "localhost.evil.example", "::1.evil", "[::1].x", "128.0.0.1"})
        EXPECT_FALSE(names_this_machine(elsewhere)) << elsewhere;
}

TEST(HttpAddress, KnowsWhatStandsForAllAddresses) {
    for (const auto* all : {"0.0.0.0:1", "[::]:1", "[0:0::0]:1"})
        EXPECT_TRUE(parse_address(all)->any()) << all;
    for (const auto* one : {"127.0.0.1:1", "[::1]:1", "unix:x", "192.0.2.1:0"})
        EXPECT_FALSE(parse_address(one)->any()) << one;
}

TEST(HttpListener, SaysWhichPortItGotAndWhyItGotNone) {
    const auto first = Listener::open(*parse_address("127.0.0.1:0"));
    ASSERT_TRUE(first);
    ASSERT_NE(first->address().port, 0);
    const auto second = Listener::open(first->address());
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("cannot listen on " + first->address().url()));
    EXPECT_THAT(second.error().message, HasSubstr("take another port (0: any that is free)"));
    const auto elsewhere = Listener::open(*parse_address("192.0.2.77:0"));
    ASSERT_FALSE(elsewhere);
    EXPECT_THAT(elsewhere.error().message, HasSubstr("no address of this machine"));
}

TEST(HttpListener, HasAFileForThisUserAloneThatGoesWithIt) {
    const test::ScratchFolder folder;
    const auto path = (folder.path() + "/p.sock");
    struct stat status {};
    {
        const auto listener = Listener::open(*parse_address("unix:" + path));
        ASSERT_TRUE(listener);
        ASSERT_EQ(::stat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0600u);
        EXPECT_FALSE(Listener::open(*parse_address("unix:" + path))) << "somebody listens";
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
    }
    EXPECT_NE(::stat(path.c_str(), &status), 0);
}

TEST(HttpListener, TakesThePlaceOfOneThatWasKilledAndOfNothingElse) {
    const test::ScratchFolder folder;
    const auto path = (folder.path() + "/p.sock");
    auto killed = Listener::open(*parse_address("unix:" + path));
    ASSERT_TRUE(killed);
    ::close(killed->fd());
    EXPECT_TRUE(Listener::open(*parse_address("unix:" + path)));
    const auto file = (folder.path() + "/file");
    ::close(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    EXPECT_FALSE(Listener::open(*parse_address("unix:" + file)));
    EXPECT_EQ(::access(file.c_str(), F_OK), 0);
    // What it holds is closed already; its number may be another's by now.
    [[maybe_unused]] const int spare = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace
}  // namespace patchbay::http
