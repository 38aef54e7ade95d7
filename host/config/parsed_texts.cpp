#include "config/parsed_texts.hpp"

#include <algorithm>

namespace patchbay::config {

Parsed ParsedTexts::parse(std::string_view text, Format format, const Bounds& bounds) {
    const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) {
        return each.format == format && each.text == text;
    });
    auto parsed = known == kept_.end() ? config::parse(text, format) : known->parsed;
    // Within wider bounds it may be read all the same; what is read within narrower ones is read alike.
    const bool wider = bounds.bytes > kFileBytes || bounds.nodes > kFileNodes;
    if (wider && parsed.problem && parsed.problem->rule == RuleId::TooLarge)
        return config::parse(text, format, bounds);
    if (known != kept_.end() || text.size() > kFileBytes) return parsed;
    for (; bytes_ + text.size() > kMostBytes; kept_.pop_front())
        bytes_ -= kept_.front().text.size();
    bytes_ += text.size();
    kept_.push_back({std::string(text), format, parsed});
    return parsed;
}

}  // namespace patchbay::config
