// What only a list of tools has.
#include "hostile/rows/rows.hpp"

namespace patchbay::hostile::rows {

namespace {

std::string tools(const std::string& list, const std::string& more = {}) {
    return "{\"resultType\":\"complete\",\"ttlMs\":60000,\"cacheScope\":\"private\",\"tools\":" +
           list + more + "}";
}

// The tool that is called, with this schema.
std::string tool(const std::string& schema, const std::string& more = {}) {
    return "{\"name\":\"do\",\"inputSchema\":" + schema + more + "}";
}

std::string text_schema(const std::string& pattern) {
    return "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"pattern\":\"" +
           pattern + "\"}}}";
}

// Doubles with each level: $defs that name the one below twice.
std::string doubling_schema(int levels) {
    std::string definitions = "\"d0\":{\"type\":\"string\",\"maxLength\":3}";
    for (int i = 1; i <= levels; ++i) {
        const auto below = "{\"$ref\":\"#/$defs/d" + std::to_string(i - 1) + "\"}";
        definitions += ",\"d" + std::to_string(i) + "\":{\"anyOf\":[" + below + "," + below + "]}";
    }
    return "{\"type\":\"object\",\"$defs\":{" + definitions +
           "},\"properties\":{\"text\":{\"$ref\":\"#/$defs/d" + std::to_string(levels) + "\"}}}";
}

}  // namespace

std::vector<Misbehaviour> lists() {
    const auto listing = [](std::function<std::string()> result) {
        return [result](const Asked& asked) { return Steps{message(asked.result(result()))}; };
    };
    const std::vector<Phase> list{Phase::List};
    return {
        {"ToolsThatAreText", list, listing([] { return tools("\"do\""); })},
        {"ToolsOfWrongTypes", list, listing([] {
             return tools("[1,null,[],{},{\"name\":5},{\"name\":{\"a\":1}},{\"name\":\"\"}]");
         }),
         Fate::Fails, "has no tool"},
        {"SchemaOfWrongTypes", list, listing([] {
             return tools("[" + tool("[7]", ",\"description\":{},\"annotations\":9") + "]");
         }),
         Fate::Works},
        {"SameNameAThousandTimes", list, listing([] {
             return tools("[" +
                          many(1'000, [](std::size_t) { return tool("{\"type\":\"object\"}"); }) +
                          "]");
         }),
         Fate::Works},
        {"NamesOfControlCharacters", list, listing([] {
             return tools("[" + tool("{\"type\":\"object\"}") +
                          R"(,{"name":"\u001b[2J\u0000\r\n","inputSchema":{"type":"object"}})"
                          R"(,{"name":"../../etc\u202e","inputSchema":{"type":"object"}}])");
         }),
         Fate::Works},
        {"ToolsWithoutNumber", list, listing([] {
             return tools("[" +
                          many(kToolsPerServer + 1,
                               [](std::size_t i) {
                                   return "{\"name\":\"t" + std::to_string(i) +
                                          "\",\"inputSchema\":{}}";
                               }) +
                          "]");
         }),
         Fate::Fails, "limit tools_per_server"},
        {"SchemaTooDeep", list, listing([] {
             std::string schema;
             for (int i = 0; i < 60; ++i) schema += "{\"not\":";
             schema += "{}" + std::string(60, '}');
             return tools("[" + tool(schema) + "]");
         }),
         Fate::Works},
        {"SchemaTooLarge", list, listing([] {
             return tools(
                 "[" +
                 tool("{\"type\":\"object\",\"title\":\"" + std::string(100'000, 'x') + "\"}") +
                 "]");
         }),
         Fate::Works},
        {"SchemaThatDoubles", list,
         listing([] { return tools("[" + tool(doubling_schema(50)) + "]"); }), Fate::Works},
        {"SchemaThatNamesItself", list, listing([] {
             return tools(
                 "[" + tool(R"({"$ref":"#","properties":{"text":{"$ref":"#/properties/text"}}})") +
                 "]");
         }),
         Fate::Works},
        {"SchemaWithASlowPattern", list, listing([] {
             return tools("[" + tool(text_schema("^(([a-z])+.)+[A-Z]([a-z])+$")) + "]");
         }),
         Fate::Fails, "must match"},
        {"SchemaWithAHugePattern", list, listing([] {
             return tools("[" + tool(text_schema("((((a{0,99}){0,99}){0,99}){0,99})")) + "]");
         }),
         Fate::Works},
        {"EndlessPages", list,
         [](const Asked& asked) {
             if (asked.nth > kTired) return Steps{message(asked.good())};
             return Steps{
                 message(asked.result(tools("[]", ",\"nextCursor\":\"c" + asked.id + "\"")))};
         },
         Fate::Fails, "limit pages_per_list"},
        {"EndlessLargePages", list,
         [](const Asked& asked) {
             return Steps{
                 message(asked.result(tools("[]", ",\"x\":\"" + std::string(1u << 20, 'x') +
                                                      "\",\"nextCursor\":\"c" + asked.id + "\"")))};
         },
         Fate::Fails, "limit list_bytes"},
        {"RepeatedCursor", list, listing([] { return tools("[]", ",\"nextCursor\":\"again\""); }),
         Fate::Fails, "repeats the cursor \"again\""},
        {"CursorOfWrongTypes", list,
         listing([] { return tools("[" + tool("{}") + "]", ",\"nextCursor\":{\"a\":[]}"); }),
         Fate::Fails, "nextCursor is not a string"},
        {"HugeCursor", list,
         [](const Asked& asked) {
             return Steps{message(asked.result(
                 tools("[]", ",\"nextCursor\":\"" + std::string(100'000, 'c') + asked.id + "\"")))};
         }},
        // The pauses between its lists double: there are few before the drill is over.
        bringing_at_most(40, {"ListChangedWithEachList", list,
                              [](const Asked& asked) {
                                  return Steps{message(notification("tools/list_changed", "{}")),
                                               message(asked.good()),
                                               message(notification("tools/list_changed", "{}"))};
                              },
                              Fate::Works}),
    };
}

}  // namespace patchbay::hostile::rows
