// One settled server, its definition and the overlays on it, to a Server or the reason why not.
//
// Threads: [any], pure.
#pragma once

#include "config/merge.hpp"
#include "core/spelling.hpp"

#include <map>
#include <optional>
#include <vector>

namespace patchbay::config {

struct Voice {  // an entry and who says it
    const ServerEntry* entry = nullptr;
    const Source* source = nullptr;
};

struct Settled {
    Voice definition;             // entry is null: overlays only
    std::vector<Voice> overlays;  // weakest first
    // Overlays on a definition that a stronger one replaced, and what an enterprise file's replaced.
    std::vector<Voice> overruled;
    std::vector<Voice>
        replaced;    // definitions and overlays that a stronger definition took the place of
    Voice withheld;  // a stronger definition that waits for an approval
    bool contested = false;  // an overlay as strong as another was left out
};

// Where each value that counts is said, and who has said it in vain, the weakest first.
struct Origins {
    std::map<std::string, Place> places;
    std::map<std::string, std::vector<Place>> overruled;
    std::vector<Diagnostic> contradictions;  // as Config::contradictions

    void say(const std::string& key, Place place);
    void merge(Origins& others);  // of other keys
};

struct CompileContext {
    const MergeDefaults& defaults;
    const std::vector<std::string>& defined;  // the ids of all servers that some source defines
    core::Effort& hints;
};

std::optional<Server> compile(const std::string& id, const Settled& settled,
                              const CompileContext& context, std::vector<Diagnostic>& diagnostics,
                              Origins& origins);

// All names that may stand in a server, for nearest-key hints; and those of its transport's settings.
const std::vector<std::string>& names_in_a_server();
const std::vector<std::string>& names_of_settings();

}  // namespace patchbay::config
