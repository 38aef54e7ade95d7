#include "app/reload.hpp"

#include "app/configuration_digest.hpp"
#include "core/text.hpp"
#include "registry/plan.hpp"

#include <set>
#include <utility>

namespace patchbay::app {

namespace {

std::set<std::string> errors_of(const config::Config& config) {
    std::set<std::string> errors;
    for (const auto& each : config.diagnostics)
        if (each.severity == config::Severity::Error) errors.insert(config::to_string(each));
    return errors;
}

std::vector<std::string> paths_of(Host& host) {
    std::vector<std::string> paths{host.trust().path()};
    for (const auto& each : host.candidates())
        if (each.path.starts_with('/')) paths.push_back(each.path);
    return paths;
}

std::string text_of(const registry::PlanLine& line) {
    return line.what + " " + line.whom + (line.how.empty() ? "" : " (" + line.how + ")");
}

}  // namespace

Reload::Reload(Host& host, ServerSwitch& server_switch, config::Environment environment,
               std::function<void(const std::string& line)> say,
               std::function<void(const std::vector<std::string>& servers)> applied)
    : host_(host),
      switch_(server_switch),
      environment_(std::move(environment)),
      say_(std::move(say)),
      applied_(std::move(applied)),
      begun_(host.snapshot()),
      now_(begun_),
      digest_(configuration_digest(*begun_, environment_)),
      read_digest_(digest_),
      watch_(host.loop(), [this] { read_again(); }) {
    watch_.watch(paths_of(host));
}

bool Reload::fits(const std::string& digest) {
    if (digest.empty()) return kept_.empty();  // who names none means the files of now
    if (digest == digest_) return true;
    if (digest == read_digest_ || digest == kept_digest_) return false;  // nothing new
    const auto now = host_.loop().now();
    if (last_ && now - *last_ < kPause) return false;
    last_ = now;
    read_again();
    return digest == digest_;
}

void Reload::read_again() {
    const auto read = host_.read_snapshot();
    auto digest = configuration_digest(*read, environment_);
    if (digest == read_digest_) {
        if (!kept_.empty()) say_("the configuration is again what the host runs by");
        kept_.clear();
        kept_digest_.clear();
        return;
    }
    if (digest == kept_digest_) return;
    if (auto why = why_not(*read); !why.empty()) {
        return keep(std::move(why), std::move(digest));
    }
    move_to(read, digest);
}

void Reload::keep(std::string why, std::string digest) {
    say_("the configuration is not changed: " + why);
    kept_ = std::move(why);
    kept_digest_ = std::move(digest);
    if (auto* const log = host_.event_log())
        log->on_configuration({host_.configuration_number(), "files", kept_, {}, {}, {}, {}, 0, 0});
}

// What is wrong that was not wrong before. A broken enterprise file denies everything at once.
std::string Reload::why_not(const registry::Snapshot& read) const {
    if (read.config.deny_all) return {};
    if (!read.config.stop.empty()) return read.config.stop;
    const auto before = errors_of(now_->config);
    for (const auto& error : errors_of(read.config))
        if (!before.contains(error)) return error;
    return {};
}

void Reload::move_to(const Snapshot& read, const std::string& digest) {
    const auto plan = switch_.move_to(read, "files");
    if (!plan) return keep(plan.error().message, digest);
    now_ = read;
    kept_.clear();
    kept_digest_.clear();
    read_digest_ = digest;
    for (const auto& line : registry::lines_of(*plan)) say_("configuration: " + text_of(line));
    // Of what is read once at the start the host has another value than commands read by now.
    auto once = registry::plan(*begun_, *read).next_start;
    std::erase_if(once, [](const auto& key) { return key.starts_with("log."); });
    digest_ = once.empty() ? digest : "";
    if (!once.empty())
        say_("configuration: " + core::join(once, ", ") +
             " counts for a host that is started anew; until then commands bring up their own");
    applied_(plan->start);
}

}  // namespace patchbay::app
