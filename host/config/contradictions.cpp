#include "config/contradictions.hpp"

#include "core/text.hpp"

namespace patchbay::config {

Diagnostic never_counts(const std::string& server, const Place& place, const std::string& what,
                        const std::string& by) {
    return {RuleId::ContradictoryRules, Severity::Warning, place,
            (server.empty() ? "" : "server \"" + server + "\": ") + what + " never counts: " + by +
                " forbids the same, and what forbids wins",
            server};
}

std::string words_of_level(const std::string& key, Level level) {
    return "tools \"" + core::printable(key, 80) + "\" = " + name_of(level);
}

}  // namespace patchbay::config
