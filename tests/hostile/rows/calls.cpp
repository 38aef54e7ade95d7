// What only the answer to a call has.
#include "hostile/rows/rows.hpp"

namespace patchbay::hostile::rows {

std::vector<Misbehaviour> calls() {
    const std::vector<Phase> call{Phase::Call};
    return {
        {"AsksForInputForEver",
         call,
         [](const Asked& asked) {
             return Steps{message(asked.result(
                 R"({"resultType":"input_required","requestState":"again","inputRequests":{}})"))};
         },
         Fate::Fails,
         "limit input_rounds",
         {},
         {Era::Modern},
         {},
         9},
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
         {Era::Modern},
         {},
         9},
        {"ContentOfWrongTypes", call,
         [](const Asked& asked) {
             return Steps{message(asked.result(
                 R"({"resultType":"complete","content":[7,null,{"type":[]},{"type":"image","data":5}],"isError":"no"})"))};
         },
         Fate::Works},
    };
}

}  // namespace patchbay::hostile::rows
