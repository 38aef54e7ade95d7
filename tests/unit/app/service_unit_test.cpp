// Units of systemd, and whose they are.
#include "app/service_unit.hpp"

#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace patchbay::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ServiceTerms terms() {
    return {"patchbay-app-0f3a91c2",
            "/srv/my app/100%",
            "/run/user/1000/patchbay/0f3a.sock",
            {"/usr/bin/patchbay", "--set", "servers.x.args=[\"$HOME\"]", "run"},
            {{"PATH", "/bin:/a b"}, {"LANG", "C\"x\\"}},
            {"TZ", "PATCHBAY_CONFIG"}};
}

TEST(ServiceUnit, SaysWhatIsMeantWhateverStandsInIt) {
    const auto text = service_text(terms());
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("\nWorkingDirectory=/srv/my app/100%%\n"));
    EXPECT_THAT(*text, HasSubstr("\nExecStart=\"/usr/bin/patchbay\" \"--set\" "
                                 "\"servers.x.args=[\\\"$$HOME\\\"]\" \"run\"\n"));
    EXPECT_THAT(*text, HasSubstr("\nEnvironment=\"LANG=C\\\"x\\\\\"\n"));
    EXPECT_THAT(*text, HasSubstr("\nUnsetEnvironment=TZ PATCHBAY_CONFIG\n"));
    EXPECT_THAT(*text, HasSubstr("\nNoNewPrivileges=yes\n"));
    const auto socket = socket_text(terms());
    ASSERT_TRUE(socket);
    EXPECT_THAT(*socket, HasSubstr("\nListenStream=/run/user/1000/patchbay/0f3a.sock\n"));
    EXPECT_THAT(*socket, HasSubstr("\nSocketMode=0600\n"));
}

TEST(ServiceUnit, NothingBeginsALineOfItsOwn) {
    for (const char* text : {"/srv/a\nExecStartPre=/bin/evil", "/srv/\x1b[2J", "/srv/\r"}) {
        auto hostile = terms();
        hostile.folder = text;
        EXPECT_EQ(service_text(hostile).error().code, ErrorCode::Invalid);
        EXPECT_EQ(socket_text(hostile).error().code, ErrorCode::Invalid);
        auto other = terms();
        other.environment.emplace_back("TZ", text);
        EXPECT_FALSE(service_text(other));
    }
    EXPECT_EQ(unit_name("/srv/a b/ü%x", "0f3a91c2ffff"), "patchbay-___x-0f3a91c2");
    EXPECT_EQ(unit_name("/", "0f3a91c2ffff"), "patchbay-0f3a91c2");
}

TEST(ServiceUnit, IsNotWrittenWhereSystemdWouldReadAnotherFolder) {
    for (const char* folder : {"/srv/back\\", "/srv/trail ", "/srv/inv\xff\xfelid"}) {
        auto odd = terms();
        odd.folder = folder;
        EXPECT_EQ(service_text(odd).error().code, ErrorCode::Invalid) << folder;
        EXPECT_EQ(socket_text(odd).error().code, ErrorCode::Invalid) << folder;
    }
    auto odd = terms();
    odd.folder = "/srv/ b\\c/\xc3\xbc";
    EXPECT_TRUE(service_text(odd));
    odd.environment.emplace_back("TZ", "\xff");
    EXPECT_FALSE(service_text(odd));
}

TEST(ServiceUnit, ListensAtNoPathThatIsTooLongForASocket) {
    auto odd = terms();
    odd.socket = "/" + std::string(106, 'a');
    EXPECT_TRUE(socket_text(odd));
    odd.socket += "a";
    const auto text = socket_text(odd);
    ASSERT_FALSE(text);
    EXPECT_THAT(text.error().message, HasSubstr("108 bytes long"));
}

TEST(ServiceUnit, IsOursAsLongAsNobodyChangesIt) {
    const auto text = service_text(terms());
    ASSERT_TRUE(text);
    EXPECT_EQ(authorship_of(*text), Authorship::Ours);
    EXPECT_EQ(authorship_of(*text + "Nice=5\n"), Authorship::Changed);
    EXPECT_EQ(authorship_of("[Service]\nExecStart=/bin/true\n"), Authorship::Others);
    EXPECT_EQ(authorship_of(""), Authorship::Others);
    EXPECT_EQ(authorship_of(text->substr(0, 70)), Authorship::Changed);
}

TEST(ServiceUnit, IsWhatSystemdTakes) {
    if (std::system("command -v systemd-analyze >/dev/null 2>&1") != 0)
        GTEST_SKIP() << "there is no systemd-analyze here";
    const test::ScratchFolder folder;
    auto real = terms();
    real.folder = folder.path();
    real.command.front() = folder / "tr$ue";
    std::filesystem::copy_file("/bin/true", real.command.front());
    std::ofstream(folder / (real.name + ".service")) << *service_text(real);
    std::ofstream(folder / (real.name + ".socket")) << *socket_text(real);
    const auto out = folder / "out";
    const auto verify = "systemd-analyze --user verify --man=no '" +
                        (folder / (real.name + ".socket")) + "' >'" + out + "' 2>&1";
    EXPECT_NE(std::system(("XDG_RUNTIME_DIR='" + folder.path() + "' " + verify).c_str()), -1);
    std::ifstream read(out);
    const std::string told(std::istreambuf_iterator<char>(read), {});
    EXPECT_THAT(told, Not(HasSubstr(real.name))) << "it complains about one of ours";
}

}  // namespace
}  // namespace patchbay::app
