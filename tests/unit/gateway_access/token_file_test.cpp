#include "gateway/access/token_file.hpp"

#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace patchbay::gateway {
namespace {

using core::Calendar;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

Token token_of(const std::string& name, const std::string& text) {
    return {name, sha256_of_token(text), Calendar::time_point(1'000'000s), {}};
}

TEST(Token, IsNeverTheSameAndLongEnough) {
    const auto one = make_token(), other = make_token();
    EXPECT_NE(one, other);
    EXPECT_TRUE(one.starts_with(Token::kPrefix));
    EXPECT_EQ(one.size() - Token::kPrefix.size(), 64u) << "256 bits in hex";
}

TEST(Token, LivesAsLongAsItWasSaid) {
    EXPECT_EQ(*parse_lifetime("30d"), 30 * 24h);
    EXPECT_EQ(*parse_lifetime("12h"), 12h);
    EXPECT_EQ(*parse_lifetime("90m"), 90min);
    EXPECT_EQ(*parse_lifetime("1s"), 1s);
    for (const auto* wrong : {"", "d", "30", "0d", "-1d", "1.5h", "1w", "30 d", "99999999999d",
                              "4000000000d", "36501d"})
        EXPECT_FALSE(parse_lifetime(wrong)) << wrong;
    Tokens tokens;
    auto token = token_of("a", "secret");
    token.expires = token.created + 1h;
    ASSERT_TRUE(tokens.add(token));
    EXPECT_TRUE(tokens.find("secret", token.created + 59min));
    EXPECT_FALSE(tokens.find("secret", token.created + 1h));
    EXPECT_FALSE(tokens.has(token.id(), token.created + 1h));
}

TEST(Tokens, AreFoundByWhatTheyAre) {
    Tokens tokens;
    ASSERT_TRUE(tokens.add(token_of("a", "one")));
    ASSERT_TRUE(tokens.add(token_of("b", "two")));
    const auto now = Calendar::now();
    EXPECT_EQ(tokens.find("two", now)->name, "b");
    EXPECT_FALSE(tokens.find("three", now));
    EXPECT_FALSE(tokens.find("", now));
    EXPECT_FALSE(tokens.find(sha256_of_token("one"), now)) << "whoever read the file has no token";
    EXPECT_NE(token_of("a", "one").id(), token_of("a", "two").id());
}

TEST(Tokens, SayWhatIsWrongWithAName) {
    Tokens tokens;
    ASSERT_TRUE(tokens.add(token_of("laptop", "one")));
    EXPECT_THAT(tokens.add(token_of("laptop", "two")).error().message, HasSubstr("already"));
    for (const auto& wrong : {std::string(), std::string("a b"), std::string("a/b"),
                              std::string("\n"), std::string(65, 'a')})
        EXPECT_THAT(tokens.add(token_of(wrong, "x")).error().message, HasSubstr("no name"));
    EXPECT_THAT(tokens.remove("labtop").error().message, HasSubstr("did you mean \"laptop\""));
    EXPECT_TRUE(tokens.remove("laptop"));
    EXPECT_THAT(tokens.remove("laptop").error().message, HasSubstr("there are: none"));
}

TEST(Tokens, AreBounded) {
    Tokens tokens;
    for (std::size_t i = 0; i < Tokens::kMost; ++i)
        ASSERT_TRUE(tokens.add(token_of(
            std::string(Token::kNameBytes - 4, 'x') + std::to_string(1'000 + i).substr(0, 4),
            std::to_string(i))));
    EXPECT_EQ(tokens.add(token_of("more", "more")).error().code, ErrorCode::Limit);
    EXPECT_LT(tokens.text().size(), TokenFile::kFileBytes);
    EXPECT_EQ(Tokens::parse(tokens.text())->all().size(), Tokens::kMost);
}

TEST(Tokens, MayBeOfSomeServersAndToolsAlone) {
    Tokens tokens;
    auto token = token_of("a", "x");
    EXPECT_TRUE(token.scope().all());
    token.servers = {"git", "files"};
    token.tools = {"mcp__git__log", "mcp__files__*"};
    ASSERT_TRUE(tokens.add(token));
    const auto read = *Tokens::parse(tokens.text());
    const auto scope = read.all()[0].scope();
    EXPECT_TRUE(scope.holds("git", "mcp__git__log"));
    EXPECT_FALSE(scope.holds("git", "mcp__git__push"));
    EXPECT_TRUE(scope.holds("files", "mcp__files__read"));
    EXPECT_FALSE(scope.holds("web", "mcp__web__get"));
    for (const auto* wrong : {"", "git", "*", "mcp__*__a", "mcp__a__*b", "mcp__a**"}) {
        auto other = token_of("b", "y");
        other.tools = {wrong};
        EXPECT_THAT(tokens.add(other).error().message, HasSubstr("no pattern of tools")) << wrong;
    }
    token.name = "c";
    token.sha256 = token_of("c", "z").sha256;
    token.bundle = "review";
    ASSERT_TRUE(tokens.add(token));
    EXPECT_EQ(Tokens::parse(tokens.text())->all()[1].bundle, "review");
    EXPECT_EQ(Tokens::parse(tokens.text())->all()[0].bundle, "");
    auto other = token_of("b", "y");
    other.bundle = "\xff";
    EXPECT_THAT(tokens.add(other).error().message, HasSubstr("no name of a bundle"));
    other.bundle.clear();
    other.servers = {""};
    EXPECT_THAT(tokens.add(other).error().message, HasSubstr("no id of a server"));
    other.servers.assign(Token::kMostScopes + 1, "a");
    EXPECT_EQ(tokens.add(other).error().code, ErrorCode::Limit);
}

TEST(Tokens, OfARecordThatMakesNoSenseNoneCounts) {
    const auto good = token_of("a", "x").sha256;
    const auto with = [&](const std::string& token) {
        return R"({"version":1,"tokens":[)" + token + "]}";
    };
    const auto fine = R"({"name":"a","sha256":")" + good + R"(","created":1})";
    ASSERT_TRUE(Tokens::parse(with(fine)));
    for (const auto& wrong :
         {std::string(), std::string("[]"), std::string("{}"),
          std::string(R"({"version":2,"tokens":[]})"), with("1"), with("{}"),
          with(fine + "," + fine), with(R"({"name":"a","sha256":"abc","created":1})"),
          with(R"({"name":"a","sha256":")" + good + R"(","created":-1})"),
          with(R"({"name":"a","sha256":")" + good + R"(","created":1,"expires":"soon"})"),
          with(R"({"name":"a","sha256":")" + good + R"(","created":1,"only":["x"]})"),
          with(R"({"name":"a","sha256":")" + good + R"(","created":1,"servers":[]})"),
          with(R"({"name":"a","sha256":")" + good + R"(","created":1,"servers":"x"})"),
          with(R"({"name":"a","sha256":")" + good + R"(","created":1,"tools":[1]})"),
          with(R"({"name":"a","sha256":")" + good + R"(","created":1,"bundle":""})"),
          with(R"({"name":"a","sha256":")" + good + R"(","created":1,"bundle":["x"]})"),
          with(R"({"name":"a","sha256":")" + good + R"(","sha256":")" + good +
               R"(","created":1})")})
        EXPECT_FALSE(Tokens::parse(wrong)) << wrong;
}

class TokenFileTest : public ::testing::Test {
protected:
    test::ScratchFolder folder;
    const TokenFile file{folder.path()};
};

TEST_F(TokenFileTest, KeepsHashesForThisUserAlone) {
    EXPECT_TRUE(file.read()->all().empty());
    ASSERT_TRUE(file.add(token_of("a", "secret")));
    ASSERT_TRUE(file.add(token_of("b", "other")));
    EXPECT_EQ(file.read()->all().size(), 2u);
    struct stat info {};
    ASSERT_EQ(::stat(file.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0600u);
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_THAT(text, Not(HasSubstr("secret")));
    ASSERT_TRUE(file.remove("a"));
    EXPECT_EQ(file.read()->all().at(0).name, "b");
}

TEST_F(TokenFileTest, IsReadAgainOnlyWhereItMaySaySomethingElse) {
    const auto none = file.read_unless({});
    ASSERT_TRUE(none && *none);
    EXPECT_FALSE(*file.read_unless((*none)->edition));
    ASSERT_TRUE(file.add(token_of("a", "x")));
    const auto one = file.read_unless((*none)->edition);
    ASSERT_TRUE(one && *one);
    EXPECT_FALSE(*file.read_unless((*one)->edition));
    ASSERT_TRUE(file.remove("a"));
    EXPECT_TRUE((*file.read_unless((*one)->edition))->tokens.all().empty());
    std::filesystem::remove(file.path());
    EXPECT_TRUE(*file.read_unless((*one)->edition));
}

TEST_F(TokenFileTest, ThatIsDamagedIsNotWrittenOver) {
    ASSERT_TRUE(file.add(token_of("a", "x")));
    {
        std::ofstream out(file.path());
        out << "garbage";
    }
    EXPECT_THAT(file.read().error().message, HasSubstr("gateway-tokens.json is damaged"));
    EXPECT_FALSE(file.add(token_of("b", "y")));
    std::ifstream in(file.path());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "garbage");
}

TEST_F(TokenFileTest, ThatOthersCanReadOrReplaceIsNotBelieved) {
    ASSERT_TRUE(file.add(token_of("a", "x")));
    ::chmod(file.path().c_str(), 0644);
    EXPECT_EQ(file.read().error().code, ErrorCode::Denied);
    std::filesystem::remove(file.path());
    std::filesystem::create_symlink("/dev/null", file.path());
    EXPECT_EQ(file.read().error().code, ErrorCode::Denied);
}

}  // namespace
}  // namespace patchbay::gateway
