#include "config/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string problem(std::string_view text, Format format) {
    const auto parsed = parse(text, format);
    if (!parsed.problem) return "none";
    return std::to_string(parsed.problem->mark.line) + ":" +
           std::to_string(parsed.problem->mark.column) + " " + parsed.problem->message;
}

boost::json::value as_json(std::string_view text, Format format) {
    const auto parsed = parse(text, format);
    EXPECT_FALSE(parsed.problem) << problem(text, format);
    return to_json(parsed.root);
}

std::string repeated(std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
}

TEST(Readers, AgreeOnWhatTheSameThingsMean) {
    const auto wanted = boost::json::parse(
        R"({"a": {"text": "x", "yes": true, "no": false, "n": 42, "neg": -7, "f": 1.5, "list": [1, "2", [3]], "m": {"k": "v"}}})");
    EXPECT_EQ(
        as_json(
            "[a]\ntext='x'\nyes=true\nno=false\nn=42\nneg=-7\nf=1.5\nlist=[1,\"2\",[3]]\nm.k='v'\n",
            Format::Toml),
        wanted);
    EXPECT_EQ(as_json("a:\n  text: x\n  yes: true\n  'no': false\n  n: 42\n  neg: -7\n  f: 1.5\n  "
                      "list: [1, '2', [3]]\n  m: {k: v}\n",
                      Format::Yaml),
              wanted);
    EXPECT_EQ(as_json(serialize(wanted), Format::Json), wanted);
}

TEST(Readers, KnowThePlaceOfEveryValueAndKey) {
    const struct {
        const char* text;
        Format format;
    } files[] = {
        {"[servers.a]\ncommand = \"x\"\n", Format::Toml},
        {"servers: {a: {\n  command:   x}}\n", Format::Yaml},
        {"{\"servers\": {\"a\": {\n\"command\":\"x\"}}}\n", Format::Json},
    };
    for (const auto& file : files) {
        SCOPED_TRACE(file.text);
        const auto parsed = parse(file.text, file.format);
        ASSERT_FALSE(parsed.problem);
        const auto& a = *parsed.root.find("servers")->find("a");
        EXPECT_EQ(a.find("command")->mark.line, 2u);
        EXPECT_EQ(a.find("command")->mark.column, file.format == Format::Yaml ? 14u : 11u);
        EXPECT_EQ(a.members.front().mark.line, 2u);
    }
}

TEST(Readers, TakeAnEmptyFileForAnEmptyTable) {
    for (const auto format : {Format::Toml, Format::Yaml, Format::Json}) {
        for (const auto* text : {"", "\n", "\xef\xbb\xbf", "\r\n \n"}) {
            const auto parsed = parse(text, format);
            EXPECT_FALSE(parsed.problem) << problem(text, format);
            EXPECT_TRUE(parsed.root.is(Node::Kind::Map));
        }
    }
}

TEST(Readers, AcceptByteOrderMarksAndCarriageReturns) {
    const auto wanted = boost::json::parse(R"({"a": "x", "b": 2})");
    EXPECT_EQ(as_json("\xef\xbb\xbf"
                      "a = 'x'\r\nb = 2\r\n",
                      Format::Toml),
              wanted);
    EXPECT_EQ(as_json("\xef\xbb\xbf"
                      "a: x\r\nb: 2\r\n",
                      Format::Yaml),
              wanted);
    EXPECT_EQ(as_json("\xef\xbb\xbf{\"a\": \"x\",\r\n\"b\": 2}\r\n", Format::Json), wanted);
}

TEST(Readers, RefuseWhatIsNotText) {
    for (const auto format : {Format::Toml, Format::Yaml, Format::Json}) {
        EXPECT_EQ(problem(std::string_view("\n a\0b", 5), format),
                  "2:3 a NUL byte; configuration is UTF-8 text");
        EXPECT_EQ(problem("# \n# \xff\n", format), "2:1 this line is not valid UTF-8");
        EXPECT_EQ(problem(std::string_view("\xff\xfe{\0", 4), format),
                  "1:1 the file is UTF-16; save it as UTF-8");
        EXPECT_THAT(problem(std::string((1u << 20) + 1, ' '), format),
                    HasSubstr("larger than 1 MiB"));
    }
    EXPECT_THAT(problem("{\"a\": \"\\u0000\"}", Format::Json), HasSubstr("NUL"));
    EXPECT_THAT(problem("a = \"\\u0000\"", Format::Toml), HasSubstr("NUL"));
    EXPECT_THAT(problem("a: \"\\0\"", Format::Yaml), HasSubstr("NUL"));
}

TEST(Readers, StopAtSixtyFourLevels) {
    const auto json = [](std::size_t levels) {
        return "{\"a\":" + repeated("[", levels - 1) + repeated("]", levels - 1) + "}";
    };
    EXPECT_EQ(problem(json(64), Format::Json), "none");
    EXPECT_THAT(problem(json(65), Format::Json), HasSubstr("deeper than 64"));
    EXPECT_EQ(problem("a: " + repeated("[", 63) + repeated("]", 63), Format::Yaml), "none");
    EXPECT_THAT(problem("a: " + repeated("[", 64) + repeated("]", 64), Format::Yaml),
                HasSubstr("deeper than 64"));
    EXPECT_EQ(problem("a = " + repeated("[", 63) + repeated("]", 63), Format::Toml), "none");
    EXPECT_THAT(problem("a = " + repeated("[", 64) + repeated("]", 64), Format::Toml),
                HasSubstr("deeper than 64"));
}

TEST(Readers, SurviveAMegabyteOfNesting) {
    const std::size_t much = 500'000;
    EXPECT_THAT(problem(repeated("[", much), Format::Json), HasSubstr("deeper"));
    EXPECT_THAT(problem(repeated("{\"a\":", much / 5), Format::Json), HasSubstr("deeper"));
    EXPECT_NE(problem("a: " + repeated("[", much), Format::Yaml), "none");
    EXPECT_THAT(problem("a: " + repeated("{a: ", much / 4), Format::Yaml), HasSubstr("deeper"));
    EXPECT_THAT(problem(repeated("- ", much), Format::Yaml), HasSubstr("deeper"));
    EXPECT_THAT(problem("a" + repeated(".a", much) + " = 1", Format::Toml), HasSubstr("deeper"));
    EXPECT_THAT(problem("[a" + repeated(".a", much) + "]", Format::Toml), HasSubstr("deeper"));
    EXPECT_THAT(problem("a = " + repeated("{a=", much / 3), Format::Toml), HasSubstr("deeper"));
    EXPECT_THAT(problem("a = '" + repeated("a.[{", much / 4) + "'", Format::Toml), "none");
}

TEST(Readers, TakeAMegabyteOnOneLineInStride) {
    const auto parsed =
        parse("{\"a\": [" + repeated("1,", 90'000) + "{\"\u00e9\": 1}]}", Format::Json);
    ASSERT_FALSE(parsed.problem);
    EXPECT_EQ(parsed.root.find("a")->items.back().mark.column, 8u + 180'000u);
}

TEST(Readers, BoundTheValuesOfAFile) {
    EXPECT_THAT(problem("{\"a\": [" + repeated("1,", 120'000) + "1]}", Format::Json),
                HasSubstr("more than 100000 values"));
    EXPECT_THAT(problem("a: [" + repeated("1,", 120'000) + "1]", Format::Yaml),
                HasSubstr("more than 100000 values"));
    EXPECT_THAT(problem("a = [" + repeated("1,", 120'000) + "1]", Format::Toml),
                HasSubstr("more than 100000 values"));
}

TEST(TomlReader, RefusesForeignLettersOutsideOfQuotes) {
    EXPECT_THAT(problem("[caf\u00e9]\n", Format::Toml), HasSubstr("1:5 not TOML"));
    EXPECT_THAT(problem("a\u03d8 = 1\n", Format::Toml), HasSubstr("1:2 not TOML"));
    EXPECT_EQ(as_json("'\u00e9' = \"\"\"x \\\n  \u00e9\"\"\"", Format::Toml),
              boost::json::parse("{\"\u00e9\": \"x \u00e9\"}"));
}

TEST(TomlReader, AsksForTheQuotesAroundText) {
    for (const auto* value :
         {"node", "npx -y x", "/bin/x", "./x", "~/x", "$HOME/x", "info", "nano"})
        EXPECT_THAT(problem("a = 1\ncommand = " + std::string(value) + "\n", Format::Toml),
                    HasSubstr("not TOML: text needs quotes around it"))
            << value;
    for (const auto* other :
         {"a = \n", "a = 1 2\n", "a = true x\n", "[a\n", "a = 'x' y\n", "a b = c\n"})
        EXPECT_THAT(problem(other, Format::Toml), Not(HasSubstr("quotes around"))) << other;
}

TEST(YamlReader, StopsAliasesThatMultiply) {
    std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 12; ++i) {
        const auto below = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
                repeated(below + ",", 9) + below + "]\n";
    }
    EXPECT_THAT(problem(bomb, Format::Yaml),
                HasSubstr("more than 100000 values after aliases are expanded"));
    EXPECT_THAT(
        problem("a: &a " + std::string(500'000, 'x') + "\nb: [" + repeated("*a,", 90'000) + "]",
                Format::Yaml),
        HasSubstr("after aliases"));
    std::string nested = "a: ";
    for (int i = 0; i < 60; ++i) nested += "&b" + std::to_string(i) + " [";
    EXPECT_THAT(problem(nested + repeated("1,", 50'000) + "1" + repeated("]", 60), Format::Yaml),
                HasSubstr("after aliases"));
    EXPECT_THAT(problem("a: &x {b: *x}", Format::Yaml), HasSubstr("alias inside the value"));
}

TEST(YamlReader, ExpandsHonestAliases) {
    EXPECT_EQ(as_json("a: &x {k: [1]}\nb: *x", Format::Yaml),
              boost::json::parse(R"({"a": {"k": [1]}, "b": {"k": [1]}})"));
}

TEST(YamlReader, TypesPlainScalarsAsYaml12Does) {
    EXPECT_EQ(
        as_json("a: [yes, on, No, 0755, 0x1F, 0o17, 1e3, .5, 1_000, ~, null, '', '5', !!str 5, +3, "
                "12:30:00, True]",
                Format::Yaml),
        boost::json::parse(
            R"({"a": ["yes", "on", "No", 755, 31, 15, 1e3, 0.5, "1_000", null, null, "", "5", "5", 3, "12:30:00", true]})"));
}

TEST(YamlReader, RefusesWhatItsParserLetsPass) {
    const struct {
        const char* text;
        const char* says;
    } cases[] = {
        {"a: \"cut off\n", "1:4 not YAML: a quote that is never closed"},
        {"a: 'cut off", "1:12 not YAML: illegal EOF in scalar"},
        {"deny: [\"x\", \"y]\n", "a quote that is never closed"},
        {"a: \"x\"#remark\n", "1:4 not YAML: something stands right behind"},
        {"a: [x,,y]\n", "an empty place between its commas"},
        {"a: [ , x]\n", "an empty place between its commas"},
        {"a: {x: 1,,y: 2}\n", "a key must be plain text"},
        {"~: 1\n", "a key must be plain text"},
        {"%YAML 1.2\na: 1\n", "1:1 not YAML: a directive (%) needs a line"},
        {"deny: [x,#c\n  y]\n", "1:10 not YAML: a remark needs a space before its #"},
        {"deny: [#c\n  y]\n", "a remark needs a space before its #"},
        {"deny: [x, y]#c\n", "1:13 not YAML: a remark needs a space before its #"},
        {"deny: {a: [x],#c\n  b: y}\n", "a remark needs a space before its #"},
        {"deny: {\"a\":#c\n  y}\n", "a remark needs a space before its #"},
        {"deny: &d [x,#c\n  y]\n", "a remark needs a space before its #"},
        {"deny: [-]\n", "1:8 not YAML: a dash alone between brackets"},
        {"deny: [x, -]\n", "a dash alone between brackets"},
        {"deny: [-, x]\n", "a dash alone between brackets"},
        {"deny: [x,\ny]\n", "2:1 not YAML: what is between brackets must be indented deeper"},
        {"p:\n  deny: [x,\n  y]\n", "3:3 not YAML: what is between brackets must be indented"},
        {"p:\n- [x,\ny]\n", "3:1 not YAML: what is between brackets must be indented"},
        {"p: {a: [x],\nb: y}\n", "what is between brackets must be indented"},
        {"# rules\rdeny: [x]\n", "1:8 not YAML: a carriage return without a line feed"},
        {"deny:\r\n- x # no\r- y\r\n", "2:9 not YAML: a carriage return without a line feed"},
        {"a: \"\\_\"\n", "1:4 not YAML: a string that is no UTF-8"},
        {"deny:\n- x\nallow\n", "3:1 not YAML: a key without its colon"},
        {"deny:\n  - x\n  - y\nallow\n", "4:1 not YAML: a key without its colon"},
        {"p:\n  a: 1\nb\n", "a key without its colon"},
        {"a: 1\nb\n", "a key without its colon"},
        {"a: |\n  x\nb\n", "a key without its colon"},
        {"p:\n  deny:\n    - x\n  allow\n", "a key without its colon"},
    };
    for (const auto& c : cases)
        EXPECT_THAT(problem(c.text, Format::Yaml), HasSubstr(c.says)) << c.text;
    for (const auto* text :
         {"a: [x, y,]\n", "a: [null, ~, 'it''s', \"q\\\"\"]\n", "a: {x, y: 'z'}\n",
          "'a': \"b\" # remark\n", "%YAML 1.2\n---\na: 1\n", "a: 'x\n  y'\nb: \xc3\xa4\nc: \"z\"\n",
          "a: []\nb: [[], {}]\n", "a:\n- 'x'\n-\n- \"y\"\n",
          "a: [x, #c\n  y] #d\nb: [x#c, 'y#c', -z, --flag]\n", "a: [\n  x,\n# c\n  y\n]\nb: {\n}\n",
          "p:\n  a: [\n    x, y\n  ]\n  b:\n  - [x,\n    y]\n", "{\n\"a\": [\n\"x\"\n]\n}\n",
          "a:\nb: ~\nc:\n  d:\n", "? a\nb: 1\n", "a: &x {b, c: 1}\nd: &y\n  e: *x\nf:\n",
          "a: [one - two\n  - three, it's, \"b\" , c: d, \"e\":f]\r\nb: [x,\r\n  y]\r\n"})
        EXPECT_EQ(problem(text, Format::Yaml), "none") << text;
}

TEST(Readers, RefuseAByteOrderMarkInsideOfAFile) {
    const std::string mark = "\xef\xbb\xbf";
    for (const auto& [text, format] :
         {std::pair<const char*, Format>{"permissions: {deny: [x]}\n", Format::Yaml},
          {"[permissions]\ndeny = ['x']\n", Format::Toml},
          {"{\"permissions\": {}}", Format::Json}}) {
        EXPECT_EQ(problem(mark + text, format), "none");
        EXPECT_EQ(problem(mark + mark + text, format),
                  "1:1 a byte order mark inside of the file; remove it");
    }
    EXPECT_THAT(problem("a: 1\n" + mark + "permissions: {deny: [x]}\n", Format::Yaml),
                HasSubstr("2:1 a byte order mark"));
}

TEST(TomlReader, RefusesNumbersThatCannotBePassedOn) {
    for (const char* number : {"inf", "-inf", "nan", "+nan"})
        EXPECT_THAT(problem("a = 1\nb = " + std::string(number) + "\n", Format::Toml),
                    HasSubstr("2:5 inf and nan are no numbers"))
            << number;
}

TEST(JsonReader, TakesNumbersAsJsonWritesThem) {
    for (const auto* number : {"0", "-0", "7", "-12", "0.5", "2.50", "1e3", "1E+3", "-0.1e-2"})
        EXPECT_EQ(problem("{\"a\": " + std::string(number) + "}", Format::Json), "none") << number;
    for (const auto* number : {"2.e3", "0.e1", "1.", ".5", "-", "01", "-01", "1e", "1e+", "1.2.3",
                               "+1", "0x1", "1-2", "1e5.5"})
        EXPECT_THAT(problem("{\"a\": " + std::string(number) + "}", Format::Json),
                    HasSubstr("not JSON"))
            << number;
    EXPECT_THAT(problem("{\"a\": 1e999}", Format::Json), HasSubstr("out of range"));
    EXPECT_THAT(problem("{\"a\": \"x\ty\"}", Format::Json),
                HasSubstr("a control character in a string"));
    EXPECT_EQ(problem("{\t\"a\": \"x\\ty\"}", Format::Json), "none")
        << "between values it is space";
}

TEST(YamlReader, RefusesWhatItDoesNotKnow) {
    EXPECT_THAT(problem("a: !exec x", Format::Yaml), HasSubstr("tag \"!exec\" is not supported"));
    EXPECT_THAT(problem("a: 1\n---\nb: 2", Format::Yaml), HasSubstr("second YAML document"));
    EXPECT_THAT(problem("[a]: 1", Format::Yaml), HasSubstr("key must be plain text"));
    EXPECT_THAT(problem("just text", Format::Yaml),
                HasSubstr("the file holds text; expected a table"));
}

TEST(JsonReader, IsStrictButForCommentsAndTrailingCommas) {
    EXPECT_EQ(as_json("// c\n{\"a\": [1, 2,], /* x\n */ \"b\": \"\\u00e9\\ud83d\\ude00\\n\",}",
                      Format::Json),
              boost::json::parse(R"({"a": [1, 2], "b": "é😀\n"})"));
    const struct {
        const char* text;
        const char* why;
    } wrong[] = {
        {"{\"a\": 01}", "1:7 not JSON: a malformed number"},
        {"{\"a\": 1.}", "1:7 not JSON: a malformed number"},
        {"{\"a\": nul}", "1:7 not JSON: expected a value"},
        {"{\"a\": \"x\ny\"}", "1:9 not JSON: a string that is not closed on its line"},
        {"{\"a\": \"\\x\"}", "1:9 not JSON: an unknown escape"},
        {"{\"a\": \"\\ud800\"}", "half of a surrogate pair"},
        {"{\"a\" 1}", "1:6 not JSON: expected \":\""},
        {"{a: 1}", "1:2 not JSON: expected a key in double quotes"},
        {"{,}", "1:2 not JSON: expected a key"},
        {"{\"a\": [,]}", "1:8 not JSON: expected a value"},
        {"{\"a\": 1", "not JSON: expected \",\" or \"}\""},
        {"{\"a\": 1} x", "1:10 not JSON: expected the end of the file"},
        {"{\"a\": 1e999}", "out of range"},
        {"{\"a\": /", "a lone \"/\""},
        {"/* {}", "a comment that is never closed"},
    };
    for (const auto& c : wrong)
        EXPECT_THAT(problem(c.text, Format::Json), HasSubstr(c.why)) << c.text;
}

TEST(Readers, RefuseDuplicateKeysAndNameBothPlaces) {
    EXPECT_EQ(problem("{\"a\": 1,\n \"a\": 2}", Format::Json),
              "2:2 the key \"a\" was already given at line 1, column 2");
    EXPECT_EQ(problem("{\"a\": 1,\n \"\\u0061\": 2}", Format::Json),
              "2:2 the key \"a\" was already given at line 1, column 2");
    EXPECT_EQ(problem("x: {a: 1,\n  a: 2}", Format::Yaml),
              "2:3 the key \"a\" was already given at line 1, column 5");
    EXPECT_THAT(problem("a = 1\na = 2", Format::Toml), HasSubstr("2:"));
}

TEST(Yaml, ATabInTheIndentationIsCalledSo) {
    const std::string said = " not YAML: a tab in the indentation; write spaces";
    EXPECT_EQ(problem("servers:\n\ta:\n\t\tcommand: x\n", Format::Yaml), "2:1" + said);
    EXPECT_EQ(problem("servers:\n  a:\n\tcommand: x\n", Format::Yaml), "3:1" + said);
    EXPECT_EQ(problem("servers:\n  a:\n  \tcommand: x\n", Format::Yaml), "3:3" + said);
    EXPECT_EQ(problem("a:\n    b: x\n\tc: [y]\n", Format::Yaml), "3:1" + said);
    EXPECT_EQ(problem("a: {\n\tb: 1}\n", Format::Yaml), "none") << "there it is no indentation";
    EXPECT_THAT(problem("a: [1\nb: 2\n", Format::Yaml), testing::Not(HasSubstr("tab")));
}

TEST(FormatOf, GoesByTheSuffix) {
    EXPECT_EQ(format_of("/a.b/x.TOML"), Format::Toml);
    EXPECT_EQ(format_of("x.yml"), Format::Yaml);
    EXPECT_EQ(format_of("x.jsonc"), Format::Json);
    EXPECT_EQ(format_of("x.mcp.json"), Format::Json);
    EXPECT_EQ(format_of("config"), std::nullopt);
    EXPECT_EQ(format_of("config.ini"), std::nullopt);
}

}  // namespace
}  // namespace patchbay::config
