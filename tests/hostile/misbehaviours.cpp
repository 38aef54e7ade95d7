// The table. A row is found in every phase, era and transport that it names; README.md says how to
// add one.
#include "hostile/misbehaviour.hpp"
#include "hostile/wire.hpp"

namespace patchbay::hostile {

namespace {

const std::vector<Phase> kAnswers = {Phase::Begin, Phase::List, Phase::Call};
const std::vector<Phase> kAnswersAndIdle = {Phase::Begin, Phase::List, Phase::Call, Phase::Idle};
const std::vector<Phase> kAlways = {Phase::Connect, Phase::Begin, Phase::List, Phase::Call,
                                    Phase::Idle};
const std::vector<Transport> kLines = {Transport::Stdio, Transport::Tcp};
// One stream both ways: who does not read it hears nothing of us.
const std::vector<Transport> kTwoWay = {Transport::Stdio, Transport::Tcp, Transport::Ws};
const std::vector<Transport> kOverHttp = {Transport::Http};
const std::vector<Transport> kOverSse = {Transport::Sse};
const std::vector<Transport> kOverWs = {Transport::Ws};

Step message(std::string text) {
    return {Step::Kind::Message, std::move(text), {}, 0};
}
Step half(std::string text) {
    return {Step::Kind::Half, std::move(text), {}, 0};
}
Step raw(std::string bytes) {
    return {Step::Kind::Raw, std::move(bytes), {}, 0};
}
Step flood(std::function<std::string(std::size_t)> each, std::size_t count = kFlood) {
    return {Step::Kind::Flood, {}, std::move(each), count};
}
Step raw_flood(std::function<std::string(std::size_t)> each, std::size_t count) {
    return {Step::Kind::RawFlood, {}, std::move(each), count};
}
const Step kClose{Step::Kind::Close, {}, {}, 0};
const Step kDeaf{Step::Kind::Deaf, {}, {}, 0};

std::string nested(std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
}
std::string notification(const std::string& method, const std::string& params) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" + method + "\",\"params\":" + params +
           "}";
}
std::string ping(std::size_t number) {
    return "{\"jsonrpc\":\"2.0\",\"id\":\"p" + std::to_string(number) + "\",\"method\":\"ping\"}";
}
// The answer repeats the id: no socket holds what nobody reads of these.
std::string long_ping(std::size_t number) {
    return "{\"jsonrpc\":\"2.0\",\"id\":\"" + std::string(16'000, 'p') + std::to_string(number) +
           "\",\"method\":\"ping\"}";
}
std::string tools(const std::string& list, const std::string& more = {}) {
    return "{\"resultType\":\"complete\",\"ttlMs\":60000,\"cacheScope\":\"private\",\"tools\":" +
           list + more + "}";
}
// The tool that is called, with this schema.
std::string tool(const std::string& schema, const std::string& more = {}) {
    return "{\"name\":\"do\",\"inputSchema\":" + schema + more + "}";
}
std::string begun(Era era, const std::string& version, const std::string& capabilities) {
    if (era == Era::Modern)
        return "{\"resultType\":\"complete\",\"ttlMs\":60000,\"cacheScope\":\"private\","
               "\"supportedVersions\":" +
               version + ",\"capabilities\":" + capabilities + "}";
    return "{\"protocolVersion\":" + version + ",\"capabilities\":" + capabilities +
           ",\"serverInfo\":{\"name\":\"hostile\",\"version\":\"1\"}}";
}
std::string version(Era era) {
    return era == Era::Modern ? "[\"2026-07-28\"]" : "\"2025-11-25\"";
}
std::string many(std::size_t count, const std::function<std::string(std::size_t)>& each) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += (i ? "," : "") + each(i);
    return list;
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

// ---- answers that are none, or not this one

std::vector<Misbehaviour> answers() {
    const auto of = [](std::string text) {
        return [text](const Asked& asked) { return Steps{message(asked.result(text))}; };
    };
    const auto error = [](std::string text) {
        return [text](const Asked& asked) { return Steps{message(asked.error(text))}; };
    };
    // What a tool's result is, is its caller's affair.
    const std::vector<Misbehaviour::Exception> passed_on{{{}, {Phase::Call}, {}, Fate::Works}};
    const auto with_id = [](std::string id) {
        return [id](Asked asked) {
            asked.id = id;
            return Steps{message(asked.good())};
        };
    };
    return {
        {"NoAnswer", kAnswers, [](const Asked&) { return Steps{}; }, Fate::TimesOut},
        {"AnotherId", kAnswersAndIdle, with_id("987654321")},
        {"IdAsText", kAnswers,
         [](Asked asked) {
             asked.id = "\"" + asked.id + "\"";
             return Steps{message(asked.good())};
         },
         Fate::Works},
        {"IdAsFloat", kAnswers,
         [](Asked asked) {
             asked.id += ".0";
             return Steps{message(asked.good())};
         },
         Fate::Works},
        {"IdWithAFraction", kAnswersAndIdle, with_id("1.5")},
        {"IdBeyondAnyNumber", kAnswersAndIdle, with_id("1e308")},
        {"IdThatIsAnObject", kAnswersAndIdle, with_id("{}")},
        {"TwoAnswers", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{message(asked.good()), message(asked.good())};
         },
         Fate::Works},
        {"ResultAndError", kAnswers,
         [](const Asked& asked) {
             return Steps{message("{\"jsonrpc\":\"2.0\",\"id\":" + asked.id +
                                  ",\"result\":{},\"error\":{\"code\":1,\"message\":\"x\"}}")};
         }},
        {"NeitherResultNorError", kAnswers,
         [](const Asked& asked) {
             return Steps{message("{\"jsonrpc\":\"2.0\",\"id\":" + asked.id + "}")};
         }},
        {"NestedAMillionDeep", kAnswersAndIdle,
         [](const Asked& asked) { return Steps{message(asked.result(nested(kDeepest)))}; },
         Fate::Fails, "nested too deep (limit json_depth)"},
        {"NestedALittleTooDeep", kAnswersAndIdle,
         [](const Asked& asked) { return Steps{message(asked.result(nested(128)))}; }, Fate::Fails,
         "nested too deep (limit json_depth)"},
        {"NestedUpToTheLimit",
         {Phase::Begin, Phase::List},
         [](const Asked& asked) { return Steps{message(asked.result(nested(127)))}; }},
        {"NotJson", kAnswersAndIdle,
         [](const Asked& asked) { return Steps{message(asked.result("oops"))}; }},
        {"BrokenUtf8", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{message(asked.result("{\"content\":[{\"text\":\"\xc3\x28\xff\"}]}"))};
         }},
        {"NulBytes", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{message(asked.result("{\"a\":\"" + std::string(3, '\0') + "\"}"))};
         }},
        {"NotOfThisJsonRpc", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{message("{\"jsonrpc\":\"1.0\",\"id\":" + asked.id + ",\"result\":{}}")};
         }},
        {"ABatch",
         kAnswersAndIdle,
         [](const Asked& asked) { return Steps{message("[" + asked.good() + "]")}; },
         Fate::Fails,
         {},
         {},
         {},
         // Until a revision is agreed on, it may be one that has batches.
         {{{}, {Phase::Begin}, {}, Fate::Works}}},
        {"CrowdedObject",
         kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{message(asked.result(
                 "{" +
                 many(20'000, [](std::size_t i) { return "\"k" + std::to_string(i) + "\":0"; }) +
                 "}"))};
         },
         Fate::Fails,
         {},
         {},
         {},
         passed_on},
        {"ErrorThatIsText", kAnswers, error("\"no\"")},
        {"ErrorThatIsAList", kAnswers, error("[1,2]")},
        {"ErrorOfWrongTypes", kAnswers, error("{\"code\":\"x\",\"message\":7,\"data\":null}")},
        {"ErrorCodeBeyondAnyNumber", kAnswers, error("{\"code\":1e308,\"message\":\"x\"}")},
        {"ErrorOfAMillionLevels", kAnswers,
         [](const Asked& asked) {
             return Steps{message(
                 asked.error("{\"code\":1,\"message\":\"x\",\"data\":" + nested(kDeepest) + "}"))};
         },
         Fate::Fails, "nested too deep (limit json_depth)"},
        {"ResultThatIsNull", kAnswers, of("null"), Fate::Fails, {}, {}, {}, passed_on},
        {"ResultThatIsTrue", kAnswers, of("true"), Fate::Fails, {}, {}, {}, passed_on},
        {"ResultThatIsANumber", kAnswers, of("-1.5e300"), Fate::Fails, {}, {}, {}, passed_on},
        {"ResultThatIsText", kAnswers, of("\"ok\""), Fate::Fails, {}, {}, {}, passed_on},
        {"ResultThatIsAList", kAnswers, of("[[],{}]"), Fate::Fails, {}, {}, {}, passed_on},
        {"ResultThatIsEmpty", kAnswers, of("{}"), Fate::Fails, {}, {}, {}, passed_on},
        {"ResultTypeUnknown", kAnswers, of("{\"resultType\":\"banana\"}")},
        {"ResultTypeThatIsANumber",
         kAnswers,
         of("{\"resultType\":7}"),
         Fate::Fails,
         {},
         {},
         {},
         passed_on},
    };
}

// ---- frames that do not end, and floods

std::vector<Misbehaviour> floods() {
    const auto before_answer = [](std::function<std::string(std::size_t)> each) {
        return [each](const Asked& asked) { return Steps{flood(each), message(asked.good())}; };
    };
    return {
        {"CloseAtOnce", kAlways, [](const Asked&) { return Steps{kClose}; }},
        {"HalfAFrameThenClose", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{half(asked.good()), kClose};
         }},
        {"HalfAFrameThenSilence",
         kAnswersAndIdle,
         [](const Asked& asked) { return Steps{half(asked.good())}; },
         Fate::TimesOut,
         {},
         {},
         {},
         {{{Transport::Http}, {Phase::Idle}, {}, Fate::Works}}},
        {"SilenceFromTheStart",
         {Phase::Connect},
         [](const Asked&) { return Steps{half("")}; },
         Fate::TimesOut},
        {"AnswerThenClose",
         kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{message(asked.good()), kClose};
         },
         Fate::Fails,
         {},
         {},
         {},
         {{{Transport::Http}, kAnswers, {}, Fate::Works}, {{}, {Phase::Call}, {}, Fate::Either}}},
        {"EndlessFrame", kAlways,
         [](const Asked& asked) {
             return Steps{{Step::Kind::Endless,
                           "{\"jsonrpc\":\"2.0\",\"id\":" + asked.id + ",\"result\":{\"a\":\"",
                           {},
                           0}};
         }},
        {"TextThatIsNoMessage",
         kAlways,
         [](const Asked& asked) {
             return Steps{message("Listening on port 3000 ..."), message(asked.good())};
         },
         Fate::Either,
         {},
         kLines},
        {"AsksWithoutReading",
         kAnswersAndIdle,
         [](const Asked&) {
             return Steps{kDeaf, flood(long_ping)};
         },
         Fate::Fails,
         "(limit server_request",
         kTwoWay,
         {Era::Legacy}},
        {"AsksManyAndAnswers",
         kAnswersAndIdle,
         before_answer(ping),
         Fate::Works,
         {},
         {},
         {Era::Modern},
         // They count until it is known that this era has none.
         {{{}, {Phase::Begin}, {}, Fate::Either}}},
        {"AsksForInputOfEveryKind", kAnswersAndIdle, before_answer([](std::size_t i) {
             constexpr const char* kMethods[] = {"sampling/createMessage", "elicitation/create",
                                                 "roots/list", "no/such", ""};
             return "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(i) + ",\"method\":\"" +
                    kMethods[i % std::size(kMethods)] +
                    "\",\"params\":" + (i % 2 ? "{\"messages\":7}" : "[]") + "}";
         }),
         Fate::Either},
        {"LogFlood", kAnswersAndIdle, before_answer([](std::size_t i) {
             return notification("message", "{\"level\":\"info\",\"data\":\"" +
                                                std::string(200, 'x') + std::to_string(i) + "\"}");
         }),
         Fate::Works},
        {"ProgressFlood", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{flood([id = asked.id](std::size_t i) {
                              return notification("progress",
                                                  "{\"progressToken\":" + id +
                                                      ",\"progress\":" + std::to_string(i) + "}");
                          }),
                          message(asked.good())};
         },
         Fate::Works},
        {"ProgressOfWrongTypes", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{
                 message(notification("progress", "[]")),
                 message(notification("progress", "{\"progressToken\":{},\"progress\":[]}")),
                 message(notification("progress", "{\"progressToken\":" + asked.id +
                                                      ",\"progress\":1e999,\"total\":{}}")),
                 message(asked.good())};
         },
         Fate::Either},
        {"ListChangedStorm", kAnswersAndIdle,
         before_answer([](std::size_t) { return notification("tools/list_changed", "{}"); }),
         Fate::Works},
        {"CancelledStorm", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{flood([id = asked.id](std::size_t) {
                              return notification("cancelled", "{\"requestId\":" + id + "}");
                          }),
                          message(asked.good())};
         },
         Fate::Works},
        {"AnswersNobodyAsked", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{flood([](std::size_t i) {
                              return "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(500'000 + i) +
                                     ",\"result\":{}}";
                          }),
                          message(asked.good())};
         }},
    };
}

// ---- what only one phase has

std::vector<Misbehaviour> phases() {
    const auto listing = [](std::function<std::string()> result) {
        return [result](const Asked& asked) { return Steps{message(asked.result(result()))}; };
    };
    const auto beginning = [](std::string theirs, std::string capabilities) {
        return [theirs, capabilities](const Asked& asked) {
            return Steps{message(asked.result(
                begun(asked.era, theirs.empty() ? version(asked.era) : theirs, capabilities)))};
        };
    };
    const std::vector<Phase> list{Phase::List}, begin{Phase::Begin}, call{Phase::Call};
    return {
        {"VersionBanana", begin,
         [](const Asked& asked) {
             return Steps{message(asked.result(begun(
                 asked.era, asked.era == Era::Modern ? "[\"banana\"]" : "\"banana\"", "{}")))};
         },
         Fate::Fails, "server speaks banana"},
        {"VersionOfWrongTypes", begin, beginning("[7,{\"a\":null}]", "{}")},
        {"CapabilitiesThatAreText", begin, beginning("", "\"all\"")},
        {"CapabilitiesOfWrongTypes", begin,
         beginning("", "{\"tools\":7,\"logging\":[],\"resources\":null}"), Fate::Works},
        {"CapabilitiesCrowded", begin,
         [](const Asked& asked) {
             return Steps{message(asked.result(begun(
                 asked.era, version(asked.era), "{\"tools\":{}," + many(9'000, [](std::size_t i) {
                                                    return "\"k" + std::to_string(i) + "\":{}";
                                                }) + "}")))};
         }},
        {"ToolsThatAreText", list, listing([] { return tools("\"do\""); })},
        {"ToolsOfWrongTypes", list, listing([] {
             return tools("[1,null,[],{},{\"name\":5},{\"name\":{\"a\":1}},{\"name\":\"\"}]");
         })},
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
         Fate::Either},
        {"SchemaTooLarge", list, listing([] {
             return tools(
                 "[" +
                 tool("{\"type\":\"object\",\"title\":\"" + std::string(100'000, 'x') + "\"}") +
                 "]");
         }),
         Fate::Either},
        {"SchemaThatDoubles", list,
         listing([] { return tools("[" + tool(doubling_schema(50)) + "]"); }), Fate::Either},
        {"SchemaThatNamesItself", list, listing([] {
             return tools(
                 "[" + tool(R"({"$ref":"#","properties":{"text":{"$ref":"#/properties/text"}}})") +
                 "]");
         }),
         Fate::Either},
        {"SchemaWithASlowPattern", list, listing([] {
             return tools("[" + tool(text_schema("^(([a-z])+.)+[A-Z]([a-z])+$")) + "]");
         }),
         Fate::Either},
        {"SchemaWithAHugePattern", list, listing([] {
             return tools("[" + tool(text_schema("((((a{0,99}){0,99}){0,99}){0,99})")) + "]");
         }),
         Fate::Either},
        {"EndlessPages", list,
         [](const Asked& asked) {
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
         Fate::Either},
        {"HugeCursor", list,
         [](const Asked& asked) {
             return Steps{message(asked.result(
                 tools("[]", ",\"nextCursor\":\"" + std::string(100'000, 'c') + asked.id + "\"")))};
         }},
        {"ListChangedWithEachList", list,
         [](const Asked& asked) {
             return Steps{message(notification("tools/list_changed", "{}")), message(asked.good()),
                          message(notification("tools/list_changed", "{}"))};
         },
         Fate::Works},
        {"AsksForInputForEver",
         call,
         [](const Asked& asked) {
             return Steps{message(asked.result(
                 R"({"resultType":"input_required","requestState":"again","inputRequests":{}})"))};
         },
         Fate::Fails,
         "limit input_rounds",
         {},
         {Era::Modern}},
        {"AsksTooManyQuestions",
         call,
         [](const Asked& asked) {
             return Steps{message(asked.result(
                 R"({"resultType":"input_required","inputRequests":{)" +
                 many(100,
                      [](std::size_t i) {
                          return "\"q" + std::to_string(i) + R"(":{"method":"roots/list"})";
                      }) +
                 "}}"))};
         },
         Fate::Fails,
         "limit input_requests",
         {},
         {Era::Modern}},
        {"AsksForInputOfWrongTypes",
         call,
         [](const Asked& asked) {
             return Steps{message(asked.result(
                 R"({"resultType":"input_required","inputRequests":{"a":7,"b":{"method":[]}}})"))};
         },
         Fate::Fails,
         {},
         {},
         {Era::Modern}},
        {"AsksForInputNestedDeep",
         call,
         [](const Asked& asked) {
             return Steps{message(asked.result(R"({"resultType":"input_required","requestState":)" +
                                               nested(100) + "}"))};
         },
         Fate::Fails,
         "limit input_rounds",
         {},
         {Era::Modern}},
        {"ContentOfWrongTypes", call,
         [](const Asked& asked) {
             return Steps{message(asked.result(
                 R"({"resultType":"complete","content":[7,null,{"type":[]},{"type":"image","data":5}],"isError":"no"})"))};
         },
         Fate::Works},
    };
}

// ---- HTTP

std::vector<Misbehaviour> over_http() {
    using namespace wire;
    const auto bytes = [](std::string text) {
        return [text](const Asked&) { return Steps{raw(text), kClose}; };
    };
    const auto row = [](std::string name, std::function<Steps(const Asked&)> act,
                        Fate fate = Fate::Fails, std::string says = {}) {
        return Misbehaviour{std::move(name), kAnswers, std::move(act), fate,
                            std::move(says), kOverHttp};
    };
    const std::string ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    const std::string events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    return {
        row("NoHttp", bytes("SSH-2.0-OpenSSH_9.2\r\n")),
        row(
            "RedirectToAnotherOrigin",
            [](const Asked&) {
                return Steps{raw(head("307 There", {"Location: http://127.0.0.2:9/mcp"}))};
            },
            Fate::Fails, "a redirect to another origin"),
        row(
            "RedirectLoop",
            [](const Asked& asked) {
                return Steps{raw(head("307 Again", {"Location: /" + asked.cell}))};
            },
            Fate::Fails, "more than 3 redirects"),
        row("RedirectToAFile",
            [](const Asked&) {
                return Steps{raw(head("308 There", {"Location: file:///etc/passwd"}))};
            }),
        row("RedirectToNowhere", [](const Asked&) { return Steps{raw(head("302 There", {}))}; }),
        row("UnauthorizedForEver",
            [](const Asked& asked) {
                return Steps{
                    raw(head("401 No", {"WWW-Authenticate: Bearer resource_metadata=\"" +
                                        asked.origin + "/.well-known/x/" + asked.cell + "\""}))};
            }),
        row("ForbiddenForEver",
            [](const Asked&) {
                return Steps{raw(head("403 No", {"WWW-Authenticate: Bearer error=\"insufficient_"
                                                 "scope\", scope=\"a b\""}))};
            }),
        row("UnauthorizedByALargeChallenge",
            [](const Asked&) {
                return Steps{
                    raw(head("401 No", {"WWW-Authenticate: " + std::string(60'000, '"')}))};
            }),
        row("SessionForgottenForEver",
            [](const Asked&) { return Steps{raw(head("404 Not Found", {}))}; }),
        row("TooManyRequests",
            [](const Asked&) {
                return Steps{raw(head("429 Slow", {"Retry-After: 99999999999999999999"}))};
            }),
        row("ServerError",
            [](const Asked&) {
                return Steps{raw(whole("500 Oops", "text/plain", "\x1b[2Jboom"))};
            }),
        row("RefusedAtLength",
            [](const Asked&) {
                return Steps{raw(whole("500 Oops", "text/plain", std::string(1u << 20, 'x')))};
            }),
        row("AcceptedAndNothingMore",
            [](const Asked&) { return Steps{raw(head("202 Accepted", {}))}; }),
        row("NoContent",
            [](const Asked&) { return Steps{raw("HTTP/1.1 204 No Content\r\n\r\n")}; }),
        row(
            "Html", [](const Asked&) { return Steps{raw(whole("200 OK", "text/html", "<html>"))}; },
            Fate::Fails, "text/html"),
        row("InformationForEver",
            [](const Asked&) {
                return Steps{raw_flood(
                    [](std::size_t) { return std::string("HTTP/1.1 100 Continue\r\n\r\n"); },
                    100'000)};
            }),
        row("HeadersForEver",
            [ok](const Asked&) {
                return Steps{raw(ok), raw_flood(
                                          [](std::size_t i) {
                                              return "X-" + std::to_string(i) + ": and more\r\n";
                                          },
                                          100'000)};
            }),
        row("HeaderWithoutEnd",
            [ok](const Asked&) {
                return Steps{raw(ok + "X-Long: "),
                             raw_flood([](std::size_t) { return std::string(4096, 'x'); }, 10'000)};
            }),
        row("LengthTwice",
            [ok](const Asked& asked) {
                return Steps{
                    raw(ok + "Content-Length: 2\r\nContent-Length: 200\r\n\r\n" + asked.good()),
                    kClose};
            }),
        row(
            "LengthAndChunks",
            [ok](const Asked& asked) {
                return Steps{raw(ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                 chunk(asked.good()) + "0\r\n\r\n"),
                             kClose};
            },
            Fate::Either),
        row("LengthNegative", bytes(ok + "Content-Length: -5\r\n\r\n{}")),
        row("LengthHuge", bytes(ok + "Content-Length: 99999999999999999999\r\n\r\n{}")),
        row("ChunkHuge", bytes(ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}")),
        row("ChunkNegative", bytes(ok + "Transfer-Encoding: chunked\r\n\r\n-5\r\n{}\r\n")),
        row("ChunkOfEndlessName",
            [ok](const Asked&) {
                return Steps{raw(ok + "Transfer-Encoding: chunked\r\n\r\n1;x="),
                             raw_flood([](std::size_t) { return std::string(4096, 'x'); }, 10'000)};
            }),
        row("ChunksOfOneByte",
            [ok](const Asked&) {
                return Steps{
                    raw(ok + "Transfer-Encoding: chunked\r\n\r\n"),
                    raw_flood([](std::size_t) { return std::string("1\r\nx\r\n"); }, 20'000),
                    kClose};
            }),
        row(
            "TrailersForEver",
            [ok](const Asked& asked) {
                return Steps{
                    raw(ok + "Transfer-Encoding: chunked\r\n\r\n" + chunk(asked.good()) + "0\r\n"),
                    raw_flood(
                        [](std::size_t i) { return "X-" + std::to_string(i) + ": and more\r\n"; },
                        100'000)};
            },
            Fate::Either),
        row(
            "GzipBomb",
            [ok](const Asked&) {
                const auto bomb = gzip_bomb(256u << 20);
                return Steps{raw(ok + "Content-Encoding: gzip\r\nContent-Length: " +
                                 std::to_string(bomb.size()) + "\r\n\r\n" + bomb)};
            },
            Fate::Fails, "limit message_bytes"),
        row(
            "GzipBombOfEvents",
            [events](const Asked&) {
                const auto bomb = gzip_bomb(256u << 20);
                return Steps{raw(events + "Content-Encoding: gzip\r\nContent-Length: " +
                                 std::to_string(bomb.size()) + "\r\n\r\n" + bomb)};
            },
            Fate::Fails, "limit message_bytes"),
        row("GzipThatIsNone",
            bytes(ok + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone")),
        row(
            "EventWithoutEnd",
            [events](const Asked&) {
                return Steps{raw(events + "\r\ndata: "),
                             raw_flood([](std::size_t) { return std::string(4096, 'x'); }, 10'000)};
            },
            Fate::Fails, "limit message_bytes"),
        row(
            "EventsWithOddIds",
            [events](const Asked& asked) {
                return Steps{
                    raw(events + "\r\nid: \x01\x7f\r\ndata: " + notification("message", "{}") +
                        "\r\n\r\nid:  " + std::string(9'000, 'i') + "\r\ndata: " + asked.good() +
                        "\r\n\r\n"),
                    kClose};
            },
            Fate::Works),
        row("StreamThatEndsWithRetryZero",
            [events](const Asked&) {
                return Steps{raw(events + "\r\nretry: 0\r\nid: 1\r\ndata:\r\n\r\n"), kClose};
            }),
        row("StreamWithoutAnswer",
            [events](const Asked&) {
                return Steps{raw(events + "\r\n: nothing\r\n\r\n"), kClose};
            }),
        row("SessionIdOfAMegabyte",
            [](const Asked& asked) {
                return Steps{raw(whole("200 OK", "application/json", asked.good(),
                                       "MCP-Session-Id: " + std::string(1u << 20, 's') + "\r\n")),
                             kClose};
            }),
    };
}

// ---- HTTP with SSE

std::vector<Misbehaviour> over_sse() {
    const auto stream = [](std::string name, std::string text, Fate fate = Fate::Fails) {
        return Misbehaviour{std::move(name),
                            {Phase::Connect},
                            [text](const Asked&) {
                                return Steps{
                                    raw("HTTP/1.1 200 OK\r\nContent-Type: "
                                        "text/event-stream\r\n\r\n" +
                                        text)};
                            },
                            fate,
                            {},
                            kOverSse,
                            {},
                            {{{}, {}, {}, fate}}};
    };
    return {
        stream("EndpointOfAnotherOrigin", "event: endpoint\ndata: http://127.0.0.2:9/x\n\n"),
        stream("EndpointThatIsAFile", "event: endpoint\ndata: file:///etc/passwd\n\n"),
        stream("EndpointOfBytes", "event: endpoint\ndata: /\x01\xff\n\n"),
        stream("EndpointHuge", "event: endpoint\ndata: /" + std::string(1u << 20, 'x') + "\n\n"),
        stream("MessageBeforeTheEndpoint", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
               Fate::TimesOut),
        stream("NoEndpoint", ": nothing\n\n", Fate::TimesOut),
    };
}

// ---- WebSocket

std::vector<Misbehaviour> over_ws() {
    using namespace wire;
    const auto row = [](std::string name, std::string bytes, Fate fate = Fate::Fails,
                        std::string says = {}) {
        return Misbehaviour{std::move(name),
                            kAnswersAndIdle,
                            [bytes](const Asked&) { return Steps{raw(bytes)}; },
                            fate,
                            std::move(says),
                            kOverWs};
    };
    std::vector<Misbehaviour> rows{
        row("MaskedFrame", masked_ws_frame(kWsText, "{}"), Fate::Fails, "masked"),
        row("ReservedBits", ws_frame(kWsText | 0x40, "{}")),
        row("UnknownOpcode", ws_frame(0x3, "{}")),
        row("UnknownControl", ws_frame(0xb, "{}")),
        row("BinaryMessage", ws_frame(kWsBinary, "{}"), Fate::Fails, "not text"),
        row("RestWithoutBeginning", ws_frame(0x0, "{}")),
        row("BeginningTwice", ws_frame(kWsText, "{", false) + ws_frame(kWsText, "}", false)),
        row("LongPing", ws_frame(kWsPing, std::string(126, 'p'))),
        row("PingInParts", ws_frame(kWsPing, "p", false)),
        row("LengthOfExabytes", std::string("\x81\x7f\x3f\xff\xff\xff\xff\xff\xff\xff", 10),
            Fate::Fails, "limit message_bytes"),
        row("LengthNegative", std::string("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10)),
        row("LengthInTooManyBytes", std::string("\x81\x7e\x00\x02{}", 6)),
        row("TextThatIsNotUtf8", ws_frame(kWsText, "\"\xc3\x28\"")),
        row("CloseWithACode", ws_frame(kWsClose, "\x03\xf3out of ideas"), Fate::Fails, "1011"),
        row("CloseWithAReservedCode", ws_frame(kWsClose, "\x03\xedx")),
        row("CloseOfOneByte", ws_frame(kWsClose, "x")),
    };
    rows.push_back(
        {"PingFlood",
         kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{
                 raw_flood([](std::size_t) { return ws_frame(kWsPing, std::string(100, 'p')); },
                           kFlood),
                 message(asked.good())};
         },
         Fate::Works,
         {},
         kOverWs});
    rows.push_back(
        {"PingFloodWithoutReading",
         kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{
                 kDeaf,
                 raw_flood([](std::size_t) { return ws_frame(kWsPing, std::string(125, 'p')); },
                           20'000),
                 message(asked.good())};
         },
         Fate::TimesOut,
         {},
         kOverWs,
         {},
         {{{}, {Phase::Call}, {}, Fate::Either}}});
    rows.push_back(
        {"EmptyPartsForEver",
         kAnswersAndIdle,
         [](const Asked&) {
             return Steps{raw(ws_frame(kWsText, "{", false)),
                          raw_flood([](std::size_t) { return ws_frame(0x0, "", false); }, 100'000)};
         },
         Fate::TimesOut,
         {},
         kOverWs,
         {},
         {{{}, {Phase::Idle}, {}, Fate::Either}}});
    const auto upgrade = [&rows](std::string name, std::string bytes) {
        rows.push_back({std::move(name),
                        {Phase::Connect},
                        [bytes](const Asked&) { return Steps{raw(bytes)}; },
                        Fate::Fails,
                        {},
                        kOverWs,
                        {},
                        {{{}, {}, {}, Fate::Fails}}});
    };
    const std::string switching =
        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    upgrade("NoUpgrade", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    upgrade("UpgradeRefused", "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
    upgrade("UpgradeRedirected",
            "HTTP/1.1 302 There\r\nLocation: ws://127.0.0.2:9/\r\nContent-Length: 0\r\n\r\n");
    upgrade("WrongAccept", switching + "Sec-WebSocket-Accept: bm8=\r\n\r\n");
    upgrade("HugeUpgrade", switching + "X-Long: " + std::string(2u << 20, 'x') + "\r\n\r\n");
    return rows;
}

}  // namespace

const std::vector<Misbehaviour>& misbehaviours() {
    static const std::vector<Misbehaviour> all = [] {
        std::vector<Misbehaviour> rows;
        for (auto& part : {answers(), floods(), phases(), over_http(), over_sse(), over_ws()})
            rows.insert(rows.end(), part.begin(), part.end());
        return rows;
    }();
    return all;
}

}  // namespace patchbay::hostile
