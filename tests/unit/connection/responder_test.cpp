// What the configuration makes of a server's questions, and what it says that it can answer.
#include "connection/responder.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace patchbay::connection {
namespace {

namespace json = boost::json;

std::string answer(const config::ClientSettings& client, const std::string& method,
                   const std::string& params = "{}", AskPerson ask = {}) {
    std::string told = "none";
    const Responder responder(client, std::move(ask));
    responder.respond(
        "s", method, json::parse(params).as_object(),
        [&](const Result<Given>& given) { told = given ? given->text : given.error().message; });
    return told;
}
config::ClientSettings eliciting(const char* how) {
    config::ClientSettings client;
    client.elicitation = how;
    client.elicitation_content = {{"n", 1}};
    return client;
}

TEST(Responder, SaysWhatItAnswersAndNothingElse) {
    config::ClientSettings client = eliciting("refuse");
    client.sampling = "refuse";
    EXPECT_EQ(capabilities_of(client), json::object());
    for (const char* method : {"elicitation/create", "sampling/createMessage", "roots/list"})
        EXPECT_EQ(answer(client, method),
                  std::string(method) + " is not offered by this client; see [client]");
    client.capabilities = {{"experimental", {{"x", json::object()}}}};
    client.elicitation = "fixed";
    client.sampling = "fixed";
    client.sampling_text = "hello";
    client.roots = {"/a"};
    EXPECT_EQ(capabilities_of(client),
              json::parse(R"({"experimental":{"x":{}},"roots":{},"elicitation":{"form":{}},
                              "sampling":{}})"));
    EXPECT_NE(answer(client, "sampling/createMessage").find(R"("text":"hello")"),
              std::string::npos);
    EXPECT_EQ(answer(client, "elicitation/create"), R"({"action":"accept","content":{"n":1}})");
}

TEST(Responder, MakesUrisOfFolders) {
    config::ClientSettings client;
    client.roots = {"/a b/\xc3\xa4~-._", "file:///as/it%20is"};
    EXPECT_EQ(answer(client, "roots/list"),
              R"({"roots":[{"uri":"file:///a%20b/%C3%A4~-._"},{"uri":"file:///as/it%20is"}]})");
}

TEST(Responder, AsksAPersonWhereThereIsOne) {
    const auto ask = [](bool accepts) {
        return [accepts](const std::string&, const json::object&, auto tell) -> Question {
            tell(accepts ? std::optional<json::object>({{"typed", 1}}) : std::nullopt);
            return {};
        };
    };
    const auto client = eliciting("ask");
    EXPECT_EQ(answer(client, "elicitation/create", "{}", ask(true)),
              R"({"action":"accept","content":{"typed":1}})");
    EXPECT_EQ(answer(client, "elicitation/create", "{}", ask(false)), R"({"action":"decline"})");
    EXPECT_EQ(answer(client, "elicitation/create"), R"({"action":"cancel"})");
    EXPECT_EQ(answer(eliciting("fixed"), "elicitation/create", "{}", ask(true)),
              R"({"action":"accept","content":{"n":1}})");
}

TEST(Responder, AnswersFormsOnly) {
    for (const char* how : {"ask", "fixed", "defaults"})
        EXPECT_EQ(answer(eliciting(how), "elicitation/create", R"({"mode":"url"})"),
                  R"({"action":"decline"})")
            << how;
    EXPECT_EQ(answer(eliciting("fixed"), "elicitation/create", R"({"mode":"form"})"),
              R"({"action":"accept","content":{"n":1}})");
}

TEST(Responder, GivesTheDefaultsOfAForm) {
    const auto client = eliciting("defaults");
    EXPECT_EQ(answer(client, "elicitation/create"), R"({"action":"accept","content":{}})");
    EXPECT_EQ(answer(client, "elicitation/create", R"({"requestedSchema":7})"),
              R"({"action":"accept","content":{}})");
    EXPECT_EQ(answer(client, "elicitation/create",
                     R"({"requestedSchema":{"type":"object","required":["a"],
                         "properties":{"a":{"type":"string","default":"x"}}}})"),
              R"({"action":"accept","content":{"a":"x"}})");
    EXPECT_EQ(answer(client, "elicitation/create",
                     R"({"requestedSchema":{"type":"object","required":["a"],
                         "properties":{"a":{"type":"string"}}}})"),
              R"({"action":"decline"})");
}

}  // namespace
}  // namespace patchbay::connection
