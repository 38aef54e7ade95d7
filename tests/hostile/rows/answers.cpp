// Answers that are none, or not this one.
#include "hostile/rows/rows.hpp"

namespace patchbay::hostile::rows {

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
        {"IdTwice", kAnswersAndIdle, with_id("1,\"id\":1")},
        {"IdThatIsNull", kAnswersAndIdle, with_id("null")},
        {"IdOfManyDigits", kAnswersAndIdle, with_id(std::string(100'000, '9'))},
        {"IdOfAMegabyte", kAnswersAndIdle, with_id("\"" + std::string(1u << 20, 'i') + "\"")},
        {"LoneSurrogate", kAnswersAndIdle,
         [](const Asked& asked) {
             return Steps{message(asked.result("{\"content\":[{\"text\":\"\\ud800\"}]}"))};
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
         {{{}, {Phase::Call, Phase::Idle}, {}, Fate::Works}}},
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
        {"ResultThatIsNull", kAnswers, of("null")},
        {"ResultThatIsTrue", kAnswers, of("true")},
        {"ResultThatIsANumber", kAnswers, of("-1.5e300")},
        {"ResultThatIsText", kAnswers, of("\"ok\"")},
        {"ResultThatIsAList", kAnswers, of("[[],{}]")},
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

}  // namespace patchbay::hostile::rows
