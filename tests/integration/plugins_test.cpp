// Plugins through the command line: the built stdio plugin dropped into a user's folder, whole and
// not.
#include "integration/home.hpp"

#include <csignal>
#include <fstream>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

class Plugins : public ::testing::Test {
protected:
    Plugins() { home.add_example("x"); }

    // Copies the built plugin to the user's folder and tells where its library is.
    fs::path drop() const {
        const fs::path folder = home.user_plugins() / "stdio";
        fs::create_directories(folder);
        for (const auto& entry : fs::directory_iterator(built("lib/patchbay/plugins/stdio")))
            fs::copy(entry.path(), folder);
        return folder / "libpatchbay_stdio.so";
    }
    Outcome call() const { return home.run({"call", "mcp__x__echo", "message=hi"}); }

    Home home;
};

void change_a_byte(const fs::path& file) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(0, std::ios::end);
    const auto middle = stream.tellg() / 2;
    stream.seekg(middle);
    const char old = static_cast<char>(stream.get());
    stream.seekp(middle);
    stream.put(static_cast<char>(old ^ 1));
}

TEST_F(Plugins, TheBuiltOnesAreListed) {
    const auto done = home.run({"plugin", "list"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, AllOf(HasSubstr("dev.patchbay.stdio"), HasSubstr("transport stdio"),
                                HasSubstr("dev.patchbay.tcp"), HasSubstr("built-in")));
    EXPECT_THAT(done.out, Not(HasSubstr("refused")));
}

TEST_F(Plugins, InfoFindsAPluginByWhatItProvides) {
    const auto done = home.run({"plugin", "info", "stdio"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, AllOf(HasSubstr("dev.patchbay.stdio"), HasSubstr("libpatchbay_stdio.so"),
                                HasSubstr("sha256"), HasSubstr("patchbay.host.process/1")));
    const auto none = home.run({"plugin", "info", "carrier-pigeon"});
    EXPECT_EQ(none.exit_code, 6);
    EXPECT_THAT(none.err, HasSubstr("no plugin \"carrier-pigeon\""));
}

TEST_F(Plugins, TheDoctorNamesEveryPlaceInOrder) {
    const auto done = home.run({"plugin", "doctor", "--load"});
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    const auto user = done.out.find(home.user_plugins().string()),
               own = done.out.find(built("lib/patchbay/plugins/stdio"));
    ASSERT_NE(user, std::string::npos) << done.out;
    ASSERT_NE(own, std::string::npos) << done.out;
    EXPECT_LT(user, own);
}

TEST_F(Plugins, OneInTheUsersFolderIsFoundFirstAndUsed) {
    drop();
    const auto list = home.run({"plugin", "info", "stdio"});
    EXPECT_THAT(list.out, HasSubstr(home.user_plugins() / "stdio/libpatchbay_stdio.so"));
    EXPECT_THAT(home.run({"plugin", "doctor"}).out, HasSubstr("shadowed"));
    EXPECT_EQ(call().out, "hi\n");
}

TEST_F(Plugins, OneWithAChangedByteIsRefusedWithAReason) {
    const auto library = drop();
    change_a_byte(library);
    const auto done = call();
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, AllOf(HasSubstr(library), HasSubstr("sha256 is")));
    for (const char* verb : {"list", "doctor"}) {
        const auto shown = home.run({"plugin", verb});
        EXPECT_THAT(shown.out + shown.err, AllOf(HasSubstr(library), HasSubstr("sha256 is")))
            << verb;
    }
    EXPECT_EQ(home.run({"plugin", "doctor"}).exit_code, 1);
    EXPECT_EQ(home.run({"plugin", "info", "dev.patchbay.stdio"}).exit_code, 1);
}

TEST_F(Plugins, OneThatIsNoLibraryIsRefusedWithAReason) {
    const auto library = drop();
    std::ofstream(library, std::ios::trunc) << "this is no library\n";
    for (const Words& words : {Words{"plugin", "doctor"}, Words{"plugin", "doctor", "--load"}}) {
        const auto doctor = home.run(words).out;
        EXPECT_LT(doctor.find("refused: "), doctor.find(built("lib/patchbay/plugins/stdio")))
            << "where it was looked for, ahead of what comes later:\n"
            << doctor;
        const auto finding = doctor.find(library.parent_path() / "plugin.toml");
        ASSERT_NE(finding, std::string::npos) << doctor;
        const auto line = doctor.substr(finding, doctor.find('\n', finding) - finding);
        EXPECT_THAT(line, AllOf(HasSubstr("refused: "), Not(HasSubstr("ok: ")))) << doctor;
        EXPECT_EQ(doctor.find(library.parent_path() / "plugin.toml", finding + 1),
                  std::string::npos)
            << "two findings for one library:\n"
            << doctor;
    }
    const auto done = call();
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(done.err, HasSubstr(library));
    EXPECT_EQ(home.run({"plugin", "doctor", "--load"}).exit_code, 1);
}

TEST_F(Plugins, OneWithoutItsManifestIsReportedAndTheNextOneServes) {
    const auto library = drop();
    fs::remove(library.parent_path() / "plugin.toml");
    const auto doctor = home.run({"plugin", "doctor"});
    EXPECT_EQ(doctor.exit_code, 1);
    EXPECT_THAT(doctor.out, AllOf(HasSubstr(library), HasSubstr("a library without a manifest")));
    EXPECT_EQ(call().out, "hi\n");
}

TEST_F(Plugins, OneWithABrokenManifestIsReportedWithItsPlace) {
    const auto manifest = drop().parent_path() / "plugin.toml";
    std::ofstream(manifest, std::ios::trunc) << "[plugin\n";
    const auto doctor = home.run({"plugin", "doctor"});
    EXPECT_EQ(doctor.exit_code, 1);
    EXPECT_THAT(doctor.out, HasSubstr(manifest));
    EXPECT_EQ(call().out, "hi\n");
}

TEST_F(Plugins, OneThatOthersMayWriteIsRefused) {
    const auto library = drop();
    fs::permissions(library, fs::perms::all);
    const auto done = call();
    const auto doctor = home.run({"plugin", "doctor", "--load"});
    EXPECT_EQ(doctor.exit_code, 1) << doctor.out;
    EXPECT_THAT(doctor.out, AllOf(HasSubstr(library), HasSubstr("refused")));
    EXPECT_THAT(doctor.out, HasSubstr("writ"));
}

TEST_F(Plugins, AFolderThatIsNamedForARunMustBeThere) {
    const auto file = home.write("a-file", "");
    for (const auto& [folder, why] : std::map<std::string, std::string>{
             {"nowhere", "no such directory"}, {file, "not a directory"}}) {
        for (const Words& verb : {Words{"mcp", "list"}, Words{"plugin", "doctor"}}) {
            Words words{"--plugin-dir", folder};
            words.insert(words.end(), verb.begin(), verb.end());
            const auto done = home.run(words);
            EXPECT_EQ(done.exit_code, 4);
            EXPECT_EQ(done.out, "");
            EXPECT_THAT(done.err, HasSubstr(folder + ": " + why + " (named by --plugin-dir)"));
        }
    }
}

TEST_F(Plugins, OnesThatAreTurnedOffByAWrongIdAreWarnedOf) {
    for (const auto& [id, hint] : std::map<std::string, std::string>{
             {"stdio", "; did you mean \"dev.patchbay.stdio\"?"},
             {"dev.patchbay.stdoi", "; did you mean \"dev.patchbay.stdio\""},
             {"entirely.unlike", " [unknown-plugin]\n"}}) {
        const auto done =
            home.run({"--set", "plugins.disabled=[\"" + id + "\"]", "config", "check"});
        EXPECT_EQ(done.exit_code, 0) << done.err;
        EXPECT_THAT(done.err, HasSubstr("warning: session config --set: plugins.disabled: no "
                                        "plugin has the id \"" +
                                        id + "\"" + hint));
    }
    const auto right =
        home.run({"--set", "plugins.disabled=[\"dev.patchbay.tcp\"]", "config", "check"});
    EXPECT_THAT(right.err, Not(HasSubstr("plugins.disabled")));
}

TEST_F(Plugins, AFolderThatIsNamedAndHoldsNoneThatServesIsWarnedOf) {
    const auto folder = home.work() / "plugins";
    home.write("plugins/stdio/plugin.toml", "[plugin\n");
    const auto refused = "warning: session config " + (folder / "stdio/plugin.toml").string() +
                         ": this plugin is refused: ";
    const struct {
        Words flags;
        const char* path;  // PATCHBAY_PLUGIN_PATH
        std::string warning;
    } cases[] = {
        {{"--plugin-dir", folder}, "", refused},
        {{}, folder.c_str(), refused},
        {{"--set", "plugins.directories=[\"" + folder.string() + "\"]"}, "", refused},
        {{"--set", "plugins.directories=[\"/nowhere\"]"},
         "",
         "warning: session config --set: plugins.directories: /nowhere: no such directory\n"},
        {{},
         "/nowhere:plugins",
         "warning: session config PATCHBAY_PLUGIN_PATH: \"plugins\" is not looked at; expected an "
         "absolute path\n"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.warning);
        home.environment["PATCHBAY_PLUGIN_PATH"] = c.path;
        auto words = c.flags;
        words.insert(words.end(), {"call", "mcp__x__echo", "message=hi"});
        const auto done = home.run(words);
        EXPECT_EQ(done.out, "hi\n") << done.err;
        EXPECT_THAT(done.err, HasSubstr(c.warning));
    }
}

TEST_F(Plugins, AFolderOfTheCommandLineComesBeforeAllOthers) {
    drop();
    const auto mine = home.work() / "plugins";
    fs::copy(home.user_plugins(), mine, fs::copy_options::recursive);
    const auto done = home.run({"--plugin-dir", mine, "plugin", "info", "stdio"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr(mine / "stdio/libpatchbay_stdio.so"));
}

// A plugin made for the tests, which does what its server's settings ask for.
class BadPlugin : public Plugins {
protected:
    Command call_of(const std::string& behave, Words more = {}) {
        home.add("bad", {{"transport", "fake"}, {"behave", behave}});
        Words words{"--plugin-dir", built("tests/plugins/fake"), "call", "mcp__bad__echo"};
        words.insert(words.begin(), more.begin(), more.end());
        return home.patchbay(words);
    }
};

TEST_F(BadPlugin, ThatIsRefusedIsNamedToThoseWhoNeedIt) {
    const auto folder = home.user_plugins() / "fake";
    fs::create_directories(folder);
    for (const auto& entry : fs::directory_iterator(built("tests/plugins/fake")))
        fs::copy(entry.path(), folder);
    fs::permissions(folder / "libpatchbay_fake.so", fs::perms::all);
    home.add("bad", {{"transport", "fake"}});
    const auto done = home.run({"call", "mcp__bad__echo"});
    EXPECT_NE(done.exit_code, 0);
    EXPECT_THAT(done.err,
                AllOf(HasSubstr("server \"bad\": transport \"fake\" is not there: plugin "
                                "\"patchbay.test.fake\" would provide it, but is refused"),
                      HasSubstr("libpatchbay_fake.so")));
}

TEST_F(BadPlugin, ThatIsSlowIsNamedToThoseWhoAskForIt) {
    const std::string plugin = "plugin \"patchbay.test.fake\": ";
    EXPECT_THAT(run(call_of("slow")).err, Not(HasSubstr("took ")));
    EXPECT_THAT(run(call_of("slow", {"--log-level", "info"})).err,
                HasSubstr(plugin + "send for server \"bad\" took "));
    auto command = call_of("open_slow", {"--log-level", "info"});
    command.argv.insert(command.argv.end(), {"--timeout", "1"});
    EXPECT_THAT(run(command).err, HasSubstr(plugin + "open for server \"bad\" took "));
    home.environment["FAKE_ENTRY"] = "slow";
    EXPECT_THAT(run(call_of("fail", {"--log-level", "info"})).err,
                HasSubstr(plugin + "patchbay_plugin_entry_0 took "));
}

TEST_F(BadPlugin, ThatHangsIsNamedWhenASignalAsksForTheEnd) {
    for (const int number : {SIGINT, SIGTERM}) {
        Program program(call_of("hang", {"--set", "plugins.hang_limit=0.5"}));
        ASSERT_TRUE(program.wait_until([&] {
            return program.err().find("hanging") != std::string::npos;
        })) << program.err();
        program.signal(number);
        const auto done = program.finish();
        EXPECT_FALSE(done.timed_out);
        EXPECT_EQ(done.exit_code, 130);
        EXPECT_THAT(done.err, HasSubstr("the host hangs in plugin \"patchbay.test.fake\" in send "
                                        "for server \"bad\""));
    }
}

TEST_F(BadPlugin, ThatHangsEndsWithTheTimeOfItsCommand) {
    for (const auto& [behave, where] :
         std::map<std::string, std::string>{{"hang", "send for server \"bad\""},
                                            {"open_hang", "open for server \"bad\""},
                                            {"entry", "patchbay_plugin_entry_0"}}) {
        SCOPED_TRACE(behave);
        home.environment["FAKE_ENTRY"] = behave == "entry" ? "hang" : "";
        auto command = call_of(behave, {"--set", "plugins.hang_limit=0.5"});
        command.argv.insert(command.argv.end(), {"--timeout", "0.5"});
        const auto done = run(command);
        EXPECT_FALSE(done.timed_out);
        EXPECT_EQ(done.exit_code, 8);
        EXPECT_THAT(done.err, HasSubstr("the host hangs in plugin \"patchbay.test.fake\" in " +
                                        where + "; its time is over"));
    }
}

TEST_F(BadPlugin, ThatOnlyTakesLongerThanTheCommandIsNoHang) {
    // The loop goes round: the command ends as any other that is late.
    auto command = call_of("keep");
    command.argv.insert(command.argv.end(), {"--timeout", "0.5"});
    const auto done = run(command);
    EXPECT_EQ(done.exit_code, 8);
    EXPECT_THAT(done.err, Not(HasSubstr("hangs")));
}

TEST_F(BadPlugin, ThatHangsInItsCloseEndsWhenTheTimeForThatIsOver) {
    auto command = call_of("close_hang", {"--set", "plugins.hang_limit=0.5"});
    command.argv.insert(command.argv.end(), {"--timeout", "0.5"});
    const auto done = run(command);
    EXPECT_FALSE(done.timed_out);
    EXPECT_EQ(done.exit_code, 8);
    EXPECT_THAT(done.err, HasSubstr("in close for server \"bad\"; its time is over"));
}

TEST_F(BadPlugin, ThatHangsEndsSoonWithASecondSignal) {
    Program program(call_of("hang", {"--set", "plugins.hang_limit=3600"}));
    ASSERT_TRUE(
        program.wait_until([&] { return program.err().find("hanging") != std::string::npos; }));
    program.signal(SIGINT);
    program.signal(SIGTERM);  // another one: equal signals that wait are one
    EXPECT_EQ(program.finish().exit_code, 130);
}

TEST_F(BadPlugin, ThatCrashesIsNamed) {
#ifdef PATCHBAY_SANITIZED
    GTEST_SKIP() << "the sanitizer has the handler";
#endif
    for (const auto& [behave, where] :
         std::map<std::string, std::string>{{"crash", "send for server \"bad\""},
                                            {"open_crash", "open for server \"bad\""},
                                            {"entry", "patchbay_plugin_entry_0"}}) {
        home.environment["FAKE_ENTRY"] = behave == "entry" ? "crash" : "";
        const auto done = run(call_of(behave));
        EXPECT_EQ(done.exit_code, 128 + SIGSEGV);
        EXPECT_THAT(done.err,
                    HasSubstr("patchbay: SIGSEGV in plugin \"patchbay.test.fake\" in " + where));
    }
}

TEST_F(BadPlugin, ThatCrashesOnAThreadOfItsOwnIsNamedByItsLibrary) {
#ifdef PATCHBAY_SANITIZED
    GTEST_SKIP() << "the sanitizer has the handler";
#endif
    const auto done = run(call_of("thread_crash"));
    EXPECT_EQ(done.exit_code, 128 + SIGSEGV);
    EXPECT_THAT(done.err, HasSubstr("patchbay: SIGSEGV in the library " +
                                    built("tests/plugins/fake/libpatchbay_fake.so")));
}

TEST_F(BadPlugin, ThatEndsTheProcessIsNamed) {
    const auto done = run(call_of("exit"));
    EXPECT_THAT(done.err, HasSubstr("the process is ended from within plugin "
                                    "\"patchbay.test.fake\" in send for server \"bad\""));
}

TEST_F(Plugins, OneThatDiesIsAFindingOfTheDoctorLikeAnyOther) {
    const Words doctor{"--plugin-dir", built("tests/plugins/dies"), "plugin", "doctor", "--load"};
    for (const auto& [how, finding] :
         std::map<std::string, std::string>{{"", "loads"},
                                            {"mapped", "ends the process with SIGABRT"},
                                            {"shut down", "ends the process with SIGABRT"},
                                            {"exits", "ends the process with exit code 0"}}) {
        SCOPED_TRACE(how);
        home.environment["FAKE_DIES"] = how;
        auto words = doctor;
        words.push_back("--json");
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, how.empty() ? 0 : 1) << done.err;
        std::map<std::string, std::string> found;
        const auto told = boost::json::parse(done.out);
        for (const auto& each : told.as_array())
            found[boost::json::value_to<std::string>(each.at("path"))] =
                boost::json::value_to<std::string>(each.at("finding"));
        EXPECT_EQ(found["patchbay.test.fake"], finding);
        EXPECT_EQ(found["dev.patchbay.stdio"], "loads") << "the others are tried all the same";
    }
    home.environment["FAKE_DIES"] = "mapped";
    EXPECT_THAT(home.run(doctor).out,
                AllOf(HasSubstr("load  patchbay.test.fake  ends the process with SIGABRT\n"),
                      HasSubstr("load  dev.patchbay.stdio  loads\n")));
}

}  // namespace
}  // namespace patchbay::test
