// Keys and methods that less exact readers take for others.
#include "router/odd_members.hpp"

#include <gtest/gtest.h>

#include <string>

namespace patchbay::router {
namespace {

std::string odd(const std::string& members, const std::string& meta = {}) {
    ServerRequest request;
    request.method = "prompts/get";
    request.params = {members, meta};
    const auto why = odd_member(request);
    EXPECT_TRUE(!why || why->code == ErrorCode::Invalid);
    return why ? why->message : "";
}

std::string odd_beside_a_call(const std::string& members, const std::string& meta = {}) {
    Call call;
    call.members = members;
    call.meta = meta;
    const auto why = odd_member(call);
    return why ? why->message : "";
}

TEST(AnOddMember, StandsForWhatWasJudgedToSomeReaderOfIt) {
    for (const std::string key :
         {"Name",           "NAME",           "Uri",        "Ref",       "Argument", "ARGUMENTS",
          "_META",          "argument\u017f", "TaskId",     "taskid",    "Task",     "RequestState",
          "inputresponses", "Level",          "Cursor",     "name ",     " name",    "name\\t",
          "name\\u0000x",   "n\\u0041me",     "name\u00a0", "\ufeffname"})
        EXPECT_NE(odd("\"name\":\"a\",\"" + key + "\":\"b\""), "") << key;
    // As libraries have them that write such names otherwise (pydantic's populate_by_name), or fold letters beyond ASCII.
    for (const std::string key : {"task_id", "request_state", "input_responses", "input-responses",
                                  "meta", "ur\u0131", "ur\u0130", "reque\ufb06State"})
        EXPECT_NE(odd("\"name\":\"a\",\"" + key + "\":\"b\""), "") << key;
    EXPECT_EQ(odd(R"("name":"a","Name":"b")"),
              R"(the params of prompts/get: "Name" is no member of it)");
}

TEST(AnOddMember, IsLookedForInWhatACompletionIsAboutAndInMetaToo) {
    EXPECT_EQ(odd(R"("ref":{"type":"ref/prompt","name":"a","Name":"b"})"),
              R"(the params of prompts/get, ref: "Name" is no member of it)");
    EXPECT_NE(odd(R"("ref" : {"type":"ref/prompt","\u004eame":"b"})"), "");
    EXPECT_NE(odd(R"("argument":{"name":"a","VALUE":"b"})"), "");
    EXPECT_EQ(odd(R"("ref":{"type":"ref/prompt","type":"ref/resource","uri":"b"})"),
              R"(the params of prompts/get, ref: "type" is there twice)");
    for (const char* key : {"ProgressToken", "IO.modelcontextprotocol/protocolVersion",
                            "io.modelcontextprotocol/ClientCapabilities"}) {
        const auto meta = "\"" + std::string(key) + "\":1";
        EXPECT_NE(odd("", meta), "") << key;
        EXPECT_NE(odd_beside_a_call("", meta), "") << key;
    }
}

TEST(AnOddMember, IsNoneThatIsItselfOrNobodyTakesForAnother) {
    EXPECT_EQ(odd(R"("name":"a","arguments":{"Name":1,"NAME":2},"cursor":"b","taskId":"c")"), "");
    EXPECT_EQ(odd(R"("names":1,"nam\u0435":2,"na me":3,"":4,"ref":"Name","argument":7)"), "");
    EXPECT_EQ(odd("", R"("progressToken":1,"com.example/Name":2,"io.modelcontextprotocol/new":3)"),
              "");
    EXPECT_EQ(odd_beside_a_call(R"("task":{"ttl":1},"requestState":"s","other":{"Name":1})"), "");
}

TEST(AnOddMember, IsNoneInAMethodOfAServersOwn) {
    ServerRequest request;
    request.method = "acme/search";
    request.params = {R"("Name":"x","Level":2)", R"("Traceparent":"00-x")"};
    EXPECT_FALSE(odd_member(request)) << "nothing is judged by it";
}

TEST(AnOddMember, BesideACallIsWhatTheCallHasItself) {
    for (const char* key : {"name", "arguments", "_meta", "Name", "Task", "name "})
        EXPECT_NE(odd_beside_a_call("\"other\":1,\"" + std::string(key) + "\":2"), "") << key;
}

TEST(AMethodThatIsWrittenOtherwise, IsKnownByWhatItIsTakenFor) {
    EXPECT_EQ(method_meant("Prompts/get"), "prompts/get");
    EXPECT_EQ(method_meant("TOOLS/CALL"), "tools/call");
    EXPECT_EQ(method_meant("logging/setlevel"), "logging/setLevel");
    for (const char* itself : {"tools/call", "logging/setLevel", "x/y", "tools/calls", ""})
        EXPECT_EQ(method_meant(itself), "") << itself;
}

}  // namespace
}  // namespace patchbay::router
