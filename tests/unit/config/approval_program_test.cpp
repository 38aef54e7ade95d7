// Which program an approval is of, and that another one in its place is another definition.
#include "approval_fixture.hpp"

#include <gmock/gmock.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(Approval, AnotherProgramOfThatNameIsAnotherDefinition) {
    project("[servers.a]\ncommand = 'run'\n");
    approve({"a"});
    program("earlier/run");
    world.variables["PATH"] = (world.folder / "earlier") + ":" + (world.folder / "bin");
    EXPECT_FALSE(find(now(), "a"));
}

// A checkout may turn its own files into links, and a folder on the way too.
TEST_F(Approval, AProgramThatBecomesALinkIsAnotherDefinition) {
    const std::string app = "home/user/src/project/";
    program(app + "tools/run.sh");
    program("elsewhere/run.sh");
    project("[servers.a]\ncommand = '../tools/run.sh'\n");
    approve({"a"});
    ASSERT_TRUE(find(now(), "a")) << all(now().diagnostics);
    const auto file = world.folder / (app + "tools/run.sh");
    ASSERT_EQ(::rename(file.c_str(), (file + ".kept").c_str()), 0);
    EXPECT_FALSE(find(now(), "a") && ::access(file.c_str(), F_OK) == 0);
    ASSERT_EQ(::symlink((world.folder / "elsewhere/run.sh").c_str(), file.c_str()), 0);
    EXPECT_FALSE(find(now(), "a"));
    EXPECT_EQ(now().untrusted.at(0).definition.at("program"),
              boost::json::value(world.folder / "elsewhere/run.sh"));
    ASSERT_EQ(::unlink(file.c_str()), 0);
    ASSERT_EQ(::rename((file + ".kept").c_str(), file.c_str()), 0);
    EXPECT_TRUE(find(now(), "a"));

    const auto folder = world.folder / (app + "tools");
    ASSERT_EQ(::rename(folder.c_str(), (folder + ".kept").c_str()), 0);
    ASSERT_EQ(::symlink((world.folder / "elsewhere").c_str(), folder.c_str()), 0);
    EXPECT_FALSE(find(now(), "a"));
}

TEST_F(Approval, AProgramThatPathFindsIsApprovedAsTheFileItLeadsTo) {
    program("versions/one");
    program("versions/two");
    const auto link = world.folder / "bin/tool";
    ASSERT_EQ(::symlink((world.folder / "versions/one").c_str(), link.c_str()), 0);
    project("[servers.a]\ncommand = 'tool'\n[auth.x]\nkind = 'bearer'\ncommand = ['tool']\n");
    approve({"a", "auth.x"});
    ASSERT_TRUE(find(now(), "a"));
    EXPECT_EQ(find(now(), "a")->program.value_or(""), world.folder / "versions/one");
    ASSERT_EQ(::unlink(link.c_str()), 0);
    ASSERT_EQ(::symlink((world.folder / "versions/two").c_str(), link.c_str()), 0);
    EXPECT_EQ(waiting(), (Ids{"a", "auth.x"}));
}

// As the child's own search goes: by PATH of its `env`, and from its `cwd` where a folder of PATH
// is relative.
TEST_F(Approval, AProgramIsLookedForWhereTheChildWouldFindIt) {
    program("other/run");
    program("home/user/src/project/sub/run");
    program("home/user/src/project/.patchbay/in/run");
    const struct {
        std::string path, keys, program;
    } cases[] = {
        {world.folder / "bin", "", world.folder / "bin/run"},
        {world.folder / "bin", "env = { PATH = '" + world.folder / "other" + "' }\n",
         world.folder / "other/run"},
        {"sub:" + world.folder / "bin", "", world.folder / "home/user/src/project/sub/run"},
        {":" + world.folder / "bin", "cwd = 'in'\n",
         world.folder / "home/user/src/project/.patchbay/in/run"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.path + " " + c.keys);
        world.variables["PATH"] = c.path;
        project("[servers.a]\ncommand = 'run'\n" + c.keys);
        EXPECT_EQ(now().untrusted.at(0).definition.at("program"), boost::json::value(c.program));
    }
    project("[servers.a]\ncommand = 'run'\nenv = { PATH = '${PATH}:x' }\n");
    EXPECT_FALSE(now().untrusted.at(0).definition.contains("program")) << "undecided";
    project("[servers.a]\ncommand = 'run'\nenv = { PATH = 'nowhere' }\n");
    EXPECT_TRUE(now().untrusted.at(0).definition.at("program").is_null()) << "there is none";
}

TEST_F(Approval, AProgramThatWasNotThereIsNotTheOneThatComes) {
    project("[servers.a]\ncommand = 'run'\nenv = { PATH = '" + world.folder / "later" +
            "' }\n[servers.b]\ncommand = '../tools/run'\n");
    approve({"a", "b"});
    const auto config = now();
    for (const auto* id : {"a", "b"})
        EXPECT_TRUE(expand(*find(config, id), world.environment)) << "the start says it is missing";
    program("later/run");
    program("home/user/src/project/tools/run");
    for (const auto* id : {"a", "b"}) {
        const auto expanded = expand(*find(config, id), world.environment);
        ASSERT_FALSE(expanded) << id;
        EXPECT_THAT(expanded.error().message, HasSubstr("now, approved was no program"));
        EXPECT_FALSE(find(now(), id)) << "the next run asks";
    }
}

// A host that lives long starts a server again after the checkout has changed.
TEST_F(Approval, WhatTheCommandLeadsToIsComparedAgainAtTheStart) {
    program("home/user/src/project/run.sh");
    project("[servers.a]\ncommand = '../run.sh'\n[servers.b]\ncommand = 'run'\n");
    approve({"a", "b"});
    const auto config = now();
    for (const auto* id : {"a", "b"}) {
        const auto settings = expand(*find(config, id), world.environment);
        EXPECT_TRUE(settings) << settings.error().message;
    }
    const auto file = world.folder / "home/user/src/project/run.sh";
    ASSERT_EQ(::unlink(file.c_str()), 0);
    ASSERT_EQ(::symlink((world.folder / "bin/run").c_str(), file.c_str()), 0);
    const auto linked = expand(*find(config, "a"), world.environment);
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, ErrorCode::Denied);
    EXPECT_THAT(linked.error().message,
                AllOf(HasSubstr("server \"a\": its command leads to \"" + world.folder / "bin/run" +
                                "\" now, approved was \"" + file + "\""),
                      HasSubstr("patchbay trust a")));
    program("earlier/run");
    world.variables["PATH"] = world.folder / "earlier" + ":" + world.folder / "bin";
    EXPECT_FALSE(expand(*find(config, "b"), world.environment));
    // The user's own word is no approval, and leads where it leads.
    user("[servers.u]\ncommand = 'run'\n");
    EXPECT_TRUE(expand(*find(now(), "u"), world.environment));
}

// The program of a table gets to know a token, or makes one.
TEST_F(Approval, WhatTheCommandOfATableLeadsToIsComparedAgainToo) {
    program("home/user/src/project/.patchbay/token.sh");
    project(
        "[servers.a]\nurl = 'https://example.org'\nauth = 'corp'\n"
        "[auth.corp]\nkind = 'bearer'\ncommand = ['./token.sh', 'x']\n");
    approve({"auth.corp", "a"});
    const auto config = now();
    auto speaker = *find(config, "a");
    speaker.program = config.auth_programs.at("corp");
    const auto expanded = [&] {
        return expand_auth(speaker, config.auth.at("corp"), world.environment);
    };
    EXPECT_TRUE(expanded()) << expanded().error().message;
    const auto file = world.folder / "home/user/src/project/.patchbay/token.sh";
    ASSERT_EQ(::unlink(file.c_str()), 0);
    ASSERT_EQ(::symlink((world.folder / "bin/run").c_str(), file.c_str()), 0);
    ASSERT_FALSE(expanded());
    EXPECT_EQ(expanded().error().code, ErrorCode::Denied);
    EXPECT_THAT(expanded().error().message, AllOf(HasSubstr("auth.corp: its command leads to \"" +
                                                            world.folder / "bin/run" + "\" now"),
                                                  HasSubstr("patchbay trust auth.corp")));
    // A stronger table of the user's own is no approved one.
    world.environment.sets = {"auth.corp={kind = 'bearer', command = ['run']}"};
    EXPECT_EQ(now().auth_programs.at("corp"), std::nullopt);
}

TEST_F(Approval, WhatReferencesDecideAboutTheCommandIsBoundToNoFile) {
    project(
        "[servers.a]\ncommand = '${RUN}'\n[servers.b]\ncommand = 'run'\n"
        "env = { PATH = '${BIN}' }\n[servers.c]\ncommand = 'run'\nargs = ['${ARG}']\n"
        "[servers.d]\nurl = '${URL}'\n[auth.t]\nkind = 'bearer'\ncommand = ['${RUN}']\n");
    std::string unbound;
    for (const auto& proposal : now().untrusted)
        if (proposal.unbound) unbound += proposal.id + " ";
    EXPECT_EQ(unbound, "a auth.t b ");
}

TEST_F(Approval, AReferenceThatStandsForItselfDecidesNothing) {
    const auto file = [&](const char* name) {
        program("home/user/src/project/.patchbay/" + std::string(name));
        return boost::json::value(world.folder / "home/user/src/project/.patchbay" + "/" + name);
    };
    project(
        "[servers.a]\ncommand = './${X}/run'\nexpand = false\n"
        "[servers.b]\ncommand = './$${X}/run'\n"
        "[servers.c]\ncommand = ['./$${X}/run', '${Y}']\nexpand = false\n"
        "[servers.d]\ncommand = 'only'\ncwd = '${X}'\nexpand = false\nenv = { PATH = '.' }\n"
        "[servers.e]\ncommand = 'only'\ncwd = '${X}'\nenv = { PATH = '.' }\n"
        "[auth.t]\nkind = 'bearer'\ncommand = ['./${X}/run']\nexpand = false\n");
    const auto x = file("${X}/run"), escaped = file("$${X}/run"), only = file("${X}/only");
    const std::map<std::string, boost::json::value> bound = {
        {"a", x}, {"b", x}, {"c", escaped}, {"d", only}};
    for (const auto& proposal : now().untrusted) {
        const auto wanted = bound.find(proposal.id);
        EXPECT_EQ(proposal.unbound, wanted == bound.end()) << proposal.id;
        if (wanted != bound.end()) {
            EXPECT_EQ(proposal.definition.at("program"), wanted->second) << proposal.id;
        }
    }
    approve({"a", "b", "c", "d"});
    const auto config = now();
    for (const auto& [id, wanted] : bound) {
        const auto settings = expand(*find(config, id), world.environment);
        EXPECT_TRUE(settings) << settings.error().message;
    }
}

TEST_F(Approval, ItSaysWhyTheCommandCannotBeStarted) {
    world.folder.write("home/user/src/project/.patchbay/plain", "");
    ASSERT_EQ(::symlink("nowhere", (world.folder / "home/user/src/project/.patchbay/link").c_str()),
              0);
    const struct {
        const char* command;
        const char* why;
    } cases[] = {
        {"run", ""},
        {"${RUN}", ""},
        {"ran", "command \"ran\" not found in the 1 folder of PATH"},
        {"./none", "command \"./none\": No such file or directory"},
        {"./link", "command \"./link\": No such file or directory"},
        {"./plain", "command \"./plain\": is not executable (chmod +x?)"},
        {"../.patchbay", "command \"../.patchbay\": is a directory"},
    };
    for (const auto& c : cases) {
        project("[servers.a]\ncommand = '" + std::string(c.command) +
                "'\n[auth.t]\nkind = 'bearer'\ncommand = ['" + c.command + "']\n");
        const auto config = now();
        ASSERT_EQ(config.untrusted.size(), 2u);
        for (const auto& proposal : config.untrusted) {
            ASSERT_EQ(proposal.faults.size(), *c.why ? 1u : 0u) << c.command;
            if (*c.why) {
                EXPECT_THAT(proposal.faults[0].message, HasSubstr(c.why));
            }
        }
    }
}

struct NothingIsKnown final : Approvals {
    bool approved(const Proposal&) const override { return false; }
    bool looks_for_program(const Proposal&) const override { return false; }
    std::string plugin_of(const std::string&) const override { return {}; }
    std::string plugin_of_auth(const std::string&) const override { return {}; }
};

TEST_F(Approval, AProgramIsLookedForOnceAndOnlyWhereThatMatters) {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "[servers.s" + std::to_string(i) + "]\ncommand = 'run'\n";
    project(text);
    int searches = 0;
    world.environment.variable = [&, before = world.environment.variable](const std::string& name) {
        if (name == "PATH") ++searches;
        return before(name);
    };
    EXPECT_EQ(waiting().size(), 50u);
    EXPECT_EQ(searches, 1);
    searches = 0;
    const NothingIsKnown nothing;
    EXPECT_EQ(load(world.environment, {}, &nothing).config.untrusted.size(), 50u);
    EXPECT_EQ(load(world.environment).config.untrusted.size(), 50u);
    EXPECT_EQ(searches, 0);
}

}  // namespace
}  // namespace patchbay::config
