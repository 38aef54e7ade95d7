#include "config/merging.hpp"

#include "config/approval.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::config {

bool same_strength(const Source& a, const Source& b) {
    return a.scope == b.scope && a.rank == b.rank;
}

std::string at(const Source& source, Mark mark) {
    return source.file + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

void Merging::note(RuleId rule, Severity severity, Place place, std::string text,
                   std::string server) {
    config.diagnostics.push_back(
        {rule, severity, std::move(place), std::move(text), std::move(server)});
}

bool Merging::has_error_since(std::size_t told) const {
    const auto& all = config.diagnostics;
    return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(told), all.end(),
                       [](const auto& each) { return each.severity == Severity::Error; });
}

void Merging::soften_followed_since(std::size_t told) {
    auto& all = config.diagnostics;
    for (auto each = all.begin() + static_cast<std::ptrdiff_t>(told); each != all.end(); ++each)
        if (is_followed(each->place.scope)) each->severity = Severity::Warning;
}

void Merging::close(const std::string& why) {
    auto& closed = config.permissions.closed;
    if (closed.empty()) closed = why + ", and what it forbids is unknown; mend it";
}

void Merging::close_gateway(const Source& source, Mark mark, const std::string& why) {
    if (from_project(source.scope) || source.scope == Scope::Plugin) return;
    if (config.gateway.fault.empty()) config.gateway.fault = to_string(source.place(mark)) + why;
}

void Merging::forbid_all_of(const Source& source) {
    if (source.scope == Scope::Enterprise && !denied_by) denied_by = config.diagnostics.size();
}

}  // namespace patchbay::config
