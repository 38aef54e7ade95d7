#include "app/in_force.hpp"

#include "core/text.hpp"
#include "registry/plan.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace patchbay::app {

namespace {

// Without `error: `: it stands in a sentence.
std::string words_of(const config::Diagnostic& error) {
    constexpr std::string_view kMark = "error: ";
    auto words = config::to_string(error);
    return words.starts_with(kMark) ? words.substr(kMark.size()) : words;
}

// Of another program's file one alone that cannot be read keeps what runs, as nobody knows what stands in it: what is
// wrong with a server there is no reason to hold up what the user changes, nor is a file of a checkout.
bool counts(const config::Diagnostic& error, const config::Config& config) {
    const auto scope = error.place.scope;
    return !config::is_followed(scope) ||
           (scope == config::Scope::Client && config.unread.contains(error.place.file));
}

// In the order in which they were found: what follows from another one is behind it.
std::vector<std::string> errors_of(const config::Config& config) {
    std::vector<std::string> errors;
    for (const auto& each : config.diagnostics)
        if (each.severity == config::Severity::Error && counts(each, config))
            errors.push_back(words_of(each));
    return errors;
}

}  // namespace

InForce::InForce(const Snapshot& begun, const std::string& digest)
    : begun_(begun), now_{begun, digest, digest, {}} {}

std::string InForce::why_not(const registry::Snapshot& read) const {
    if (read.config.deny_all) return {};
    if (!read.config.stop.empty()) return read.config.stop;
    const auto before = errors_of(now_.snapshot->config);
    for (const auto& error : errors_of(read.config))
        if (std::find(before.begin(), before.end(), error) == before.end()) return error;
    return {};
}

void InForce::move_to(const Snapshot& read, const std::string& digest) {
    before_.push_back(std::move(now_));
    if (before_.size() > kHistory) before_.erase(before_.begin());
    forget_refusal();
    // Of what is read once at the start the host has another value than commands read by now. The log is no reason to
    // keep a command away.
    auto once = registry::plan(*begun_, *read).next_start;
    std::erase_if(once, [](const auto& key) { return key.starts_with("log."); });
    now_ = {read, once.empty() ? digest : "", digest, core::join(once, ", ")};
}

void InForce::refuse(const std::string& why, const std::string& digest) {
    kept_ = why;
    kept_digest_ = digest;
    is_refused_ = true;
}

void InForce::forget_refusal() {
    kept_.clear();
    kept_digest_.clear();
    is_refused_ = false;
}

const InForce::Standing* InForce::before() const {
    if (is_refused_) return &now_;
    return before_.empty() ? nullptr : &before_.back();
}

void InForce::go_back(const std::string& why) {
    kept_ = why;
    if (kept_digest_.empty()) kept_digest_ = now_.read_digest;
    if (std::exchange(is_refused_, false)) return;  // what runs still is where it has gone
    now_ = std::move(before_.back());
    before_.pop_back();
}

}  // namespace patchbay::app
