#include "plugin/loading/discovery.hpp"

#include "plugin/loading/trust.hpp"
#include "unit/plugin/plugin_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <sys/stat.h>

using namespace patchbay::plugin;
using namespace patchbay::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

Discovered look(const std::vector<SearchPlace>& places,
                const std::vector<std::string>& disabled = {}) {
    return discover(places, disabled);
}
Discovered look(const PluginFolder& folder) {
    return look({{"config", folder.path()}});
}

std::vector<std::string> findings(const Discovered& found) {
    std::vector<std::string> lines;
    for (const auto& looked : found.looked) lines.push_back(looked.finding);
    return lines;
}

// Nothing of a library is read by a search: any bytes will do.
std::string put(const PluginFolder& folder, const std::string& name, FakeManifest manifest = {}) {
    return install(folder, name, "bytes", std::move(manifest));
}

TEST(Discovery, FindsAPluginInAFolderOfItsOwnAndDirectlyInThePlace) {
    const PluginFolder folder;
    FakeManifest other;
    other.id = "patchbay.test.other";
    put(folder, "fake");
    put(folder, ".", other);
    const auto found = look(folder);
    ASSERT_EQ(found.plugins.size(), 2u);
    for (const auto& info : found.plugins) {
        EXPECT_EQ(info.state, PluginState::Available) << info.reason;
        EXPECT_EQ(info.provides.at(0).schema_text, schema_text());
    }
}

TEST(Discovery, SearchesInTheDocumentedOrder) {
    SearchOptions options;
    options.flag_directories = {"/flag"};
    options.config_directories = {"/config"};
    SearchEnvironment environment{"/env1:relative::/env2", "/home/u/.local/share", "/opt/bin",
                                  false};
    const auto kinds = [&] {
        std::vector<std::string> list;
        for (const auto& place : search_places(options, environment))
            list.push_back(place.kind + " " + place.directory);
        return list;
    };
    EXPECT_THAT(kinds(), ElementsAre("--plugin-dir /flag", "PATCHBAY_PLUGIN_PATH /env1",
                                     "PATCHBAY_PLUGIN_PATH /env2", "config /config",
                                     "user /home/u/.local/share/patchbay/plugins",
                                     "system /usr/local/lib/patchbay/plugins",
                                     "system /usr/lib/patchbay/plugins",
                                     "built-in /opt/lib/patchbay/plugins"));
    options.users_excluded = true;
    EXPECT_THAT(kinds(), ElementsAre("config /config", "system /usr/local/lib/patchbay/plugins",
                                     "system /usr/lib/patchbay/plugins",
                                     "built-in /opt/lib/patchbay/plugins"));
    options.users_excluded = false;
    environment.raised_privileges = true;
    options.built_in = false;
    EXPECT_THAT(kinds(), ElementsAre("--plugin-dir /flag", "config /config",
                                     "system /usr/local/lib/patchbay/plugins",
                                     "system /usr/lib/patchbay/plugins"));
}

// What a variable was before, again when the test is over.
class Variable {
public:
    explicit Variable(const char* name) : name_(name) {
        if (const char* given = ::getenv(name)) former_ = given;
    }
    ~Variable() { former_ ? set(former_->c_str()) : set(nullptr); }
    Variable(const Variable&) = delete;
    void set(const char* value) { value ? ::setenv(name_, value, 1) : ::unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> former_;
};

TEST(Discovery, ReadsTheEnvironmentOfThisProcess) {
    if (raised_privileges()) GTEST_SKIP() << "then it counts for nothing";
    Variable plugins("PATCHBAY_PLUGIN_PATH"), data("XDG_DATA_HOME"), home("HOME");
    plugins.set("/one:/two");
    data.set("/data");
    home.set("/home/u");
    const auto environment = SearchEnvironment::of_this_process();
    EXPECT_EQ(environment.plugin_path, "/one:/two");
    EXPECT_EQ(environment.data_home, "/data");
    EXPECT_FALSE(environment.raised_privileges);
    EXPECT_EQ(environment.binary_directory,
              std::filesystem::read_symlink("/proc/self/exe").parent_path());
    for (const char* unusable : {"relative", "", static_cast<const char*>(nullptr)}) {
        data.set(unusable);
        EXPECT_EQ(SearchEnvironment::of_this_process().data_home, "/home/u/.local/share");
    }
    home.set(nullptr);
    plugins.set(nullptr);
    EXPECT_EQ(SearchEnvironment::of_this_process().data_home, "");
    EXPECT_EQ(SearchEnvironment::of_this_process().plugin_path, "");
}

TEST(Discovery, LetsTheFirstOfAnIdWinAndNamesIt) {
    const PluginFolder first, second;
    put(first, "fake");
    put(second, "fake");
    const auto found = look({{"user", first.path()}, {"system", second.path()}});
    ASSERT_EQ(found.plugins.size(), 2u);
    EXPECT_EQ(found.plugins[0].state, PluginState::Available);
    EXPECT_EQ(found.plugins[1].state, PluginState::Shadowed);
    EXPECT_THAT(found.plugins[1].reason, HasSubstr(first.path() + " (user) comes first"));
}

TEST(Discovery, LetsNothingComeFirstThatIsAnotherOrIsRefused) {
    const PluginFolder first, second;
    FakeManifest one, refused, two, three;
    one.id = "test.one";
    refused.id = two.id = "test.two";
    refused.abi = "generation = 99\n";
    three.id = "test.three";
    put(first, "one", one);
    put(first, "refused", refused);
    put(second, "two", two);
    put(second, "three", three);
    const auto found = look({{"config", first.path()}, {"config", second.path()}});
    std::vector<std::string> available;
    for (const auto& plugin : found.plugins)
        if (plugin.state == PluginState::Available) available.push_back(plugin.id);
    EXPECT_THAT(available, testing::UnorderedElementsAre("test.one", "test.two", "test.three"));
}

TEST(Discovery, RefusesAnIdThatIsTwiceInOnePlace) {
    const PluginFolder folder;
    put(folder, "a");
    put(folder, "b");
    const auto found = look(folder);
    ASSERT_EQ(found.plugins.size(), 2u);
    for (const auto& info : found.plugins) {
        EXPECT_EQ(info.state, PluginState::Refused);
        EXPECT_THAT(info.reason, HasSubstr("in this place twice"));
    }
}

TEST(Discovery, LooksAtOneDirectoryOnce) {
    const PluginFolder folder;
    put(folder, "fake");
    const auto found = look({{"user", folder.path()}, {"config", folder.path() + "/."}});
    EXPECT_EQ(found.plugins.size(), 1u);
    EXPECT_THAT(findings(found), ElementsAre("ok: patchbay.test.fake 0.0.1", "already looked at"));
}

TEST(Discovery, TellsWhatIsNotThereAndWhatIsEmpty) {
    const PluginFolder folder;
    const auto found = look({{"user", folder.path() + "/none"}, {"config", folder.path()}});
    EXPECT_THAT(findings(found), ElementsAre("not there", "empty"));
    EXPECT_TRUE(found.looked[0].ok);
}

TEST(Discovery, ShowsALibraryWithoutManifest) {
    const PluginFolder folder;
    folder.write("ghost/libghost.so", "bytes");
    const auto found = look(folder);
    ASSERT_EQ(found.plugins.size(), 1u);
    EXPECT_EQ(found.plugins[0].id, "libghost");
    EXPECT_EQ(found.plugins[0].library_path, folder.path() + "/ghost/libghost.so");
    EXPECT_EQ(found.plugins[0].manifest_path, "");
    EXPECT_EQ(found.plugins[0].state, PluginState::Refused);
    EXPECT_THAT(found.plugins[0].reason, HasSubstr("without a manifest"));
}

TEST(Discovery, ShowsABrokenManifestAndGoesOn) {
    const PluginFolder folder;
    folder.write("broken/plugin.toml", "manifest = [");
    put(folder, "fake");
    const auto found = look(folder);
    ASSERT_EQ(found.plugins.size(), 2u);
    EXPECT_EQ(found.plugins[0].id, "broken");
    EXPECT_EQ(found.plugins[0].manifest_path, folder / "broken/plugin.toml");
    EXPECT_EQ(found.plugins[0].library_path, "");
    EXPECT_THAT(found.plugins[0].reason, HasSubstr("not TOML"));
    EXPECT_EQ(found.plugins[1].state, PluginState::Available);
}

TEST(Discovery, RefusesWhatOthersMayWriteTo) {
    const PluginFolder folder;
    put(folder, "fake");
    ASSERT_EQ(::chmod((folder.path() + "/fake/lib.so").c_str(), 0777), 0);
    EXPECT_THAT(look(folder).plugins.at(0).reason, HasSubstr("writable by everyone"));
    ASSERT_EQ(::chmod((folder.path() + "/fake/lib.so").c_str(), 0755), 0);
    EXPECT_EQ(look(folder).plugins.at(0).state, PluginState::Available);

    ASSERT_EQ(::chmod((folder.path() + "/fake/plugin.toml").c_str(), 0666), 0);
    EXPECT_THAT(look(folder).plugins.at(0).reason, HasSubstr("writable by everyone"));

    ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
    const auto found = look(folder);
    EXPECT_THAT(found.plugins, IsEmpty());
    EXPECT_THAT(findings(found), ElementsAre(HasSubstr("refused: writable by everyone")));
}

TEST(Discovery, RefusesWhatBelongsToAStranger) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    const PluginFolder folder;
    put(folder, "fake");
    ASSERT_EQ(::chown((folder.path() + "/fake/lib.so").c_str(), 12345, 12345), 0);
    EXPECT_THAT(look(folder).plugins.at(0).reason, HasSubstr("owned by user 12345"));
}

TEST(Discovery, DoesNotFollowALinkOutOfTheFolder) {
    const PluginFolder folder;
    put(folder, "fake");
    const auto library = folder.path() + "/fake/lib.so";
    ASSERT_EQ(::unlink(library.c_str()), 0);
    ASSERT_EQ(::symlink("/etc/hostname", library.c_str()), 0);
    EXPECT_THAT(look(folder).plugins.at(0).reason, HasSubstr("link to outside"));
}

// What is loaded later is the file that was judged, not what a link says then.
TEST(Discovery, NamesTheLibraryThatALinkWithinTheFolderLeadsTo) {
    const PluginFolder folder;
    put(folder, "fake");
    const auto library = folder.path() + "/fake/lib.so", real = folder.path() + "/fake/lib.so.1";
    ASSERT_EQ(::rename(library.c_str(), real.c_str()), 0);
    ASSERT_EQ(::symlink("lib.so.1", library.c_str()), 0);
    const auto found = look(folder);
    EXPECT_EQ(found.plugins.at(0).state, PluginState::Available) << found.plugins.at(0).reason;
    EXPECT_EQ(found.plugins.at(0).library_path, real);
}

TEST(Discovery, APluginsFolderMayBeALinkAndItsLibraryIsNamedByWhereItIs) {
    const PluginFolder folder, elsewhere;
    put(elsewhere, "fake");
    ASSERT_EQ(::symlink((elsewhere.path() + "/fake").c_str(), (folder.path() + "/near").c_str()),
              0);
    const auto found = look(folder);
    ASSERT_THAT(found.plugins, ::testing::SizeIs(1));
    EXPECT_EQ(found.plugins.at(0).state, PluginState::Available) << found.plugins.at(0).reason;
    EXPECT_EQ(found.plugins.at(0).library_path, elsewhere.path() + "/fake/lib.so");
}

TEST(Discovery, NamesAMissingLibrary) {
    const PluginFolder folder;
    put(folder, "fake");
    ASSERT_EQ(::unlink((folder.path() + "/fake/lib.so").c_str()), 0);
    EXPECT_THAT(look(folder).plugins.at(0).reason, HasSubstr("fake/lib.so: No such file"));
}

TEST(Discovery, RefusesWhatThisHostCannotOffer) {
    const auto reason = [](const std::string& abi, const std::string& tail = "") {
        const PluginFolder folder;
        FakeManifest manifest;
        manifest.abi = abi;
        manifest.tail = tail;
        put(folder, "fake", manifest);
        return look(folder).plugins.at(0).reason;
    };
    EXPECT_THAT(reason("generation = 1\n"),
                HasSubstr("built for ABI generation 1, this host speaks 0"));
    EXPECT_THAT(reason("generation = 0\nminor = 9\n"),
                HasSubstr("needs ABI 0.9, this host speaks 0.0"));
    EXPECT_THAT(
        reason("generation = 0\nrequires = [\"example.clairvoyance/1\"]\n"),
        HasSubstr("requires \"example.clairvoyance/1\", which this host does not offer; offered: "
                  "patchbay.host.buffers/1"));
    const std::string spawn = "generation = 0\nrequires = [\"patchbay.host.process/1\"]\n";
    EXPECT_THAT(reason(spawn), HasSubstr("[grants] does not say spawn = true"));
    EXPECT_EQ(reason(spawn, "[grants]\nspawn = true\n"), "");
}

TEST(Discovery, SkipsWhatTheConfigDisabled) {
    const PluginFolder folder;
    put(folder, "fake");
    const auto found = look({{"config", folder.path()}}, {"patchbay.test.fake"});
    EXPECT_EQ(found.plugins.at(0).state, PluginState::Disabled);
}

}  // namespace
