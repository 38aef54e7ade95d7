#include "app/session_answers.hpp"

#include "app/distant_host.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"

#include <utility>

namespace patchbay::app {

std::vector<service::Decision> session_answers(Session& session) {
    auto line = host_if_any(session, Guest::Person);
    if (line && !*line) return {};
    auto answers = line ? DistantHost(session.servers(), std::move(*line)).session_answers()
                        : Result<std::vector<service::Decision>>(line.error());
    if (answers) return std::move(*answers);
    say("warning: answers that count as long as a session are not shown: " +
        answers.error().message);
    return {};
}

}  // namespace patchbay::app
