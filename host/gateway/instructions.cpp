#include "gateway/instructions.hpp"

#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::gateway {

namespace {

std::string shown(std::string_view text) {
    return core::printable(text, Instructions::kServerBytes, true);
}

}  // namespace

// printable() leaves no other end of a line than \n.
std::string section_of(std::string_view server, std::string_view said) {
    std::string section = "## " + std::string(server);
    const auto text = shown(said);
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = std::string_view(text).substr(at, end - at);
        section.append(line.empty() ? "\n>" : "\n> ").append(line);
        at = end + 1;
    }
    return section;
}

std::string Instructions::text() const {
    auto all = shown(view_.about);
    for (const auto& id : view_.servers(pool_)) {
        auto said = said_by(id);
        if (said.empty()) continue;
        // What nobody has approved no model is told.
        const auto departed =
            router_.departed(id, {pins::Part::Instructions, {}}, protocol::quoted(said));
        if (departed && departed->blocked)
            said = pins::Pins::blocked_words(id, "text of instructions", departed->mismatch);
        if (view_.public_names())
            all.append(all.empty() ? "" : "\n\n").append(section_of(id, said));
        else
            all += shown(said);
    }
    return all;
}

std::string Instructions::said_by(const std::string& server) const {
    const auto* held = pool_.held(server, client_);
    if (held && held->session()) return held->session()->instructions;
    const auto& listings = router_.catalogue().listings();
    const auto listed = listings.find(server);
    return listed == listings.end() ? std::string() : listed->second->instructions;
}

}  // namespace patchbay::gateway
