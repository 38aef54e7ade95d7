// The tables of [bundles]: each read by itself, and judged by the servers that there are.
//
// Threads: [any], pure. Errors: diagnostics; whatever makes no sense in one is Bundle::fault too, since it may have been
// meant to keep something out.
// Source:  config/README.md; decisions/0035-what-a-client-is-shown.md.
#pragma once

#include "config/fragment.hpp"
#include "core/result.hpp"
#include "core/text.hpp"

#include <string>
#include <vector>

namespace patchbay::config {

// A list in place of the table is that of its servers. Diagnostics go to `told`.
Bundle read_bundle(const Member& table, const Source& source, core::Effort& hints,
                   std::vector<Diagnostic>& told);

// A server that is not there is shown to nobody, which is safe and seldom meant.
void tell_strange_servers(const Bundle& bundle, const std::vector<std::string>& defined,
                          core::Effort& hints, std::vector<Diagnostic>& told);
inline constexpr std::size_t kMostMissing = 20;
// Those of its servers that nobody defines here, kMostMissing at most, beside what was told so: for whoever asks about the bundle itself.
std::vector<Diagnostic> missing_servers(const Config& config, const Bundle& bundle);
// Bundles that show nothing by now, and agents that are shown nothing, each with its place.
std::vector<Diagnostic> empty_views(const Config& config);
// An agent that has none of that name, or one that cannot be used, is shown nothing.
void settle_bundle(Agent& agent, const std::vector<Bundle>& bundles, std::vector<Diagnostic>& told);

// Invalid: why it cannot be used; NotFound with the nearest.
Result<const Bundle*> bundle_named(const std::vector<Bundle>& bundles, const std::string& name);

}  // namespace patchbay::config
