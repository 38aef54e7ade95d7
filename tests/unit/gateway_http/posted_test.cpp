#include "gateway/http/posted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using ::testing::HasSubstr;

const std::string kMeta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})";

struct Read {
    unsigned status = 200;
    std::int64_t code = 0;
    std::string id, message;
    Posted posted;
    std::string data = {};
};

Read read(
    const http::Request& request, const FindTool& find_tool = [](const auto&) { return nullptr; }) {
    const auto result = read_posted(request, 128, find_tool);
    if (const auto* refused = std::get_if<HttpRefusal>(&result))
        return {refused->status,  refused->code, refused->raw_id, refused->message, {},
                refused->raw_data};
    return {200, 0, {}, {}, std::get<Posted>(result)};
}

http::Request legacy(std::string body) {
    return {"POST",
            "/mcp",
            {{"content-type", "application/json; charset=utf-8"},
             {"accept", "application/json, text/event-stream"}},
            std::move(body)};
}

http::Request modern(const std::string& method, const std::string& params = "",
                     const http::Headers& more = {}) {
    auto request = legacy(R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":{)" +
                          params + (params.empty() ? "" : ",") + kMeta + "}}");
    request.headers.emplace_back("mcp-protocol-version", "2026-07-28");
    request.headers.emplace_back("mcp-method", method);
    request.headers.insert(request.headers.end(), more.begin(), more.end());
    return request;
}

http::Request without(http::Request request, std::string_view header) {
    std::erase_if(request.headers, [&](const auto& each) { return each.first == header; });
    return request;
}
http::Request with(http::Request request, const std::string& header, const std::string& value) {
    for (auto& [name, old] : request.headers)
        if (name == header) old = value;
    return request;
}

TEST(Posted, SaysWhatItIs) {
    EXPECT_EQ(read(legacy(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")).posted.kind,
              Posted::Kind::Request);
    EXPECT_EQ(read(legacy(R"({"jsonrpc":"2.0","method":"notifications/x"})")).posted.kind,
              Posted::Kind::Other);
    EXPECT_EQ(read(legacy(R"({"jsonrpc":"2.0","id":1,"result":{}})")).posted.kind,
              Posted::Kind::Other);
    EXPECT_EQ(read(legacy(" \n[]")).posted.kind, Posted::Kind::Batch);
    EXPECT_FALSE(read(legacy(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")).posted.modern);
    EXPECT_TRUE(read(modern("tools/list")).posted.modern);
}

TEST(Posted, NeedsTheRightTypesOnBothWays) {
    const auto good = legacy(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    EXPECT_EQ(read(without(good, "content-type")).status, 415u);
    EXPECT_EQ(read(with(good, "content-type", "text/plain")).status, 415u);
    EXPECT_EQ(read(with(good, "content-type", "application/jsonp")).status, 415u);
    EXPECT_EQ(read(with(good, "content-type", "APPLICATION/JSON")).status, 200u);
    auto zipped = good;
    zipped.headers.emplace_back("content-encoding", "gzip");
    EXPECT_EQ(read(zipped).status, 415u);
    EXPECT_EQ(read(without(good, "accept")).status, 406u);
    EXPECT_EQ(read(with(good, "accept", "application/json")).status, 406u);
    EXPECT_EQ(read(with(good, "accept", "*/*")).status, 200u);
    for (const auto* taken :
         {"*/*;q=0, application/json, text/event-stream;q=0.001", "application/*, text/*;Q=1",
          "text/event-stream;a=b;q=0.5 ,application/json;q=1.000"})
        EXPECT_EQ(read(with(good, "accept", taken)).status, 200u) << taken;
    for (const auto* none :
         {"application/json;q=0, text/event-stream", "application/json, text/event-stream; q=0.0",
          "*/*, application/json;Q=0.000", "*/* ; q=0", "*/*, text/*;q=0"})
        EXPECT_EQ(read(with(good, "accept", none)).status, 406u) << none;
    EXPECT_EQ(read(with(good, "accept", "text/*;q=0.5 , Application/JSON")).status, 200u);
}

TEST(Posted, ThatMakesNoSenseIsRefusedAsThat) {
    EXPECT_EQ(read(legacy("")).code, -32700);
    EXPECT_EQ(read(legacy("{")).code, -32700);
    EXPECT_EQ(read(legacy("7")).code, -32600);
    EXPECT_EQ(read(legacy(R"({"id":1})")).code, -32600);
    EXPECT_EQ(read(legacy(R"({"id":1})")).id, "1");
    EXPECT_EQ(read(legacy("{")).status, 400u);
}

TEST(Posted, OfARevisionNobodySpeaksIsRefused) {
    auto request = legacy(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    request.headers.emplace_back("mcp-protocol-version", "1999-01-01");
    EXPECT_EQ(read(request).status, 400u);
    EXPECT_THAT(read(request).message, HasSubstr("2025-11-25"));
    EXPECT_EQ(read(request).code, -32022);
    EXPECT_EQ(read(request).id, "1");
    EXPECT_EQ(read(request).data,
              R"({"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],)"
              R"("requested":"1999-01-01"})");
    EXPECT_EQ(read(with(request, "mcp-protocol-version", "2025-06-18")).status, 200u);
    request.headers.emplace_back("mcp-protocol-version", "2025-06-18");
    EXPECT_EQ(read(request).status, 400u);
}

TEST(Posted, OfTheModernEraSaysTheSameInItsHead) {
    const http::Headers named{{"mcp-name", "a"}};
    const auto call = modern("tools/call", R"("name":"a")", named);
    EXPECT_EQ(read(call).status, 200u);
    for (const auto* header : {"mcp-protocol-version", "mcp-method", "mcp-name"}) {
        const auto missing = read(without(call, header));
        EXPECT_EQ(missing.status, 400u) << header;
        EXPECT_EQ(missing.code, -32020) << header;
        EXPECT_EQ(missing.id, "7") << header;
        auto twice = call;
        twice.headers.emplace_back(header, *call.header(header));
        EXPECT_EQ(read(twice).code, -32020) << header;
    }
    EXPECT_EQ(read(with(call, "mcp-protocol-version", "2025-11-25")).code, -32020);
    EXPECT_EQ(read(with(call, "mcp-method", "Tools/call")).code, -32020);
    EXPECT_EQ(read(with(call, "mcp-name", "A")).code, -32020);
    EXPECT_EQ(read(with(call, "mcp-name", "=?base64?YQ==?=")).status, 200u);
    EXPECT_EQ(read(with(call, "mcp-name", "=?base64?Y*==?=")).code, -32020);
    EXPECT_EQ(read(with(call, "mcp-method", "=?base64?dG9vbHMvY2FsbA==?=")).code, -32020);
    const auto accented = modern("tools/call", "\"name\":\"\xc3\xa9\"", {{"mcp-name", "x"}});
    EXPECT_EQ(read(with(accented, "mcp-name", "=?base64?w6k=?=")).status, 200u);
    EXPECT_EQ(read(with(accented, "mcp-name", "\xc3\xa9")).code, -32020);
    EXPECT_EQ(read(modern("resources/read", R"("uri":"a:1")", {{"mcp-name", "a:1"}})).status, 200u);
    for (const auto* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
        EXPECT_EQ(read(modern(method, R"("taskId":"s:1")", {{"mcp-name", "s:1"}})).status, 200u);
        EXPECT_EQ(read(modern(method, R"("taskId":"s:1")", {{"mcp-name", "s:2"}})).code, -32020);
        EXPECT_EQ(read(modern(method, R"("taskId":"s:1")")).code, -32020);
    }
    EXPECT_EQ(read(modern("prompts/get", R"("name":"p")")).code, -32020);
}

TEST(Posted, OneToolInTheHeadAndAnotherBehindItInTheBodyIsNone) {
    const auto said = modern("tools/call", R"("name":"mcp__s__read","name":"mcp__s__remove")",
                             {{"mcp-name", "mcp__s__read"}});
    EXPECT_THAT(read(said).posted.message.unreadable.value_or(Error{}).message,
                HasSubstr("name is repeated"));
}

TEST(Posted, MirrorsTheArgumentsThatItsToolMarks) {
    protocol::Tool tool;
    tool.name = "a";
    tool.known = R"("inputSchema":{"type":"object","properties":{)"
                 R"("region":{"type":"string","x-mcp-header":"Region"},)"
                 R"("count":{"type":"integer","x-mcp-header":"Count"}}})";
    const auto status = [&](const std::string& arguments, http::Headers more) {
        more.emplace_back("mcp-name", "a");
        return read(modern("tools/call", R"("name":"a","arguments":)" + arguments, more),
                    [&](const auto& name) { return name == "a" ? &tool : nullptr; })
            .status;
    };
    EXPECT_EQ(status(R"({"region":"eu","count":42})",
                     {{"mcp-param-region", "eu"}, {"mcp-param-count", "42.0"}}),
              200u);
    EXPECT_EQ(status(R"({"region":null})", {}), 200u);
    EXPECT_EQ(status(R"({"region":"eu"})", {}), 400u);
    EXPECT_EQ(status(R"({"region":"eu"})", {{"mcp-param-region", "us"}}), 400u);
    EXPECT_EQ(status(R"({"count":42})", {{"mcp-param-count", "43"}}), 400u);
    EXPECT_EQ(status(R"({})", {{"mcp-param-region", "eu"}}), 400u);
    EXPECT_EQ(status(R"({})", {{"mcp-param-other", "eu"}}), 200u);
}

TEST(Posted, OfTheModernEraAnswersNothing) {
    auto request = legacy(R"({"jsonrpc":"2.0","id":1,"result":{}})");
    request.headers.emplace_back("mcp-protocol-version", "2026-07-28");
    EXPECT_EQ(read(request).status, 400u);
}

}  // namespace
}  // namespace patchbay::gateway
