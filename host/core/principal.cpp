#include "core/principal.hpp"

#include "core/text.hpp"

namespace patchbay::core {

const char* name_of(Principal::Kind kind) {
    switch (kind) {
        case Principal::Kind::Person:
            return "person";
        case Principal::Kind::Batch:
            return "batch";
        case Principal::Kind::Embedder:
            return "embedder";
        case Principal::Kind::Client:
            return "client";
    }
    return "person";
}

std::string to_string(const Principal& principal) {
    std::string text = name_of(principal.kind);
    if (!principal.id.empty()) text += " \"" + printable(principal.id, 64) + "\"";
    if (!principal.name.empty()) text += " (" + printable(principal.name, 64) + ")";
    return text;
}

}  // namespace patchbay::core
