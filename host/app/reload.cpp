#include "app/reload.hpp"

#include "app/configuration_digest.hpp"
#include "app/stricter.hpp"
#include "core/text.hpp"
#include "registry/plan.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::app {

namespace {

// Without `error: `: it stands in a sentence.
std::string words_of(const config::Diagnostic& error) {
    constexpr std::string_view kMark = "error: ";
    auto words = config::to_string(error);
    return words.starts_with(kMark) ? words.substr(kMark.size()) : words;
}

// In the order in which they were found: what follows from another one is behind it.
std::vector<std::string> errors_of(const config::Config& config) {
    std::vector<std::string> errors;
    for (const auto& each : config.diagnostics)
        if (each.severity == config::Severity::Error) errors.push_back(words_of(each));
    return errors;
}

std::vector<std::string> paths_of(Host& host) {
    std::vector<std::string> paths{host.trust().path()};
    for (const auto& each : host.candidates())
        if (each.path.starts_with('/')) paths.push_back(each.path);
    return paths;
}

// `base`, by what `read` forbids; `base` itself where that is no more.
std::shared_ptr<const registry::Snapshot> narrowed(
    const std::shared_ptr<const registry::Snapshot>& base, const registry::Snapshot& read,
    Removed removed) {
    auto stricter = made_stricter(base->config, read.config, removed);
    return stricter ? registry::snapshot_of(std::move(*stricter)) : base;
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
      pause_(host.loop()),
      watch_(host.loop(), [this] { read_after_pause(); }) {
    watch_.watch(paths_of(host));
}

bool Reload::fits(const std::string& digest) {
    if (digest.empty()) return kept_.empty();  // who names none means the files of now
    if (digest == digest_) return true;
    if (digest == read_digest_ || digest == kept_digest_) return false;  // nothing new
    if (pauses()) return false;
    is_asked_ = true;
    read_now();
    return digest == digest_;
}

void Reload::read_again() {
    is_asked_ = true;
    read_after_pause();
}

void Reload::apply(Applied applied) {
    waiting_.push_back(std::move(applied));
    read_again();
}

void Reload::read_after_pause() {
    if (pause_.running()) return;
    const auto rest = rested_at_ - core::Clock::now();
    if (rest <= rest.zero()) return read_now();
    pause_.start(rest, [this] { read_now(); });
}

// Until the watch tells that they are done who write; not for ever.
bool Reload::puts_off() {
    if (!watch_.somebody_writes()) return false;
    const auto now = core::Clock::now();
    if (!put_off_) put_off_ = now;
    return now - *put_off_ < PathWatch::kAtMost;
}

// A file that was closed may be written on by the next command of a script: what makes no sense is told when it is the same a
// little later.
bool Reload::doubts(const std::string& digest) {
    if (std::exchange(is_asked_, false)) return false;
    const auto now = core::Clock::now();
    if (!doubted_) doubted_ = now;
    if (std::exchange(doubtful_, digest) == digest || now - *doubted_ >= PathWatch::kAtMost)
        return false;
    watch_.tell_again();
    return true;
}

// For all who wait, at once: reading holds the loop, and the next one is kept off for as long as that is worth.
void Reload::read_now() {
    pause_.stop();
    if (puts_off()) return;
    const auto begun = core::Clock::now();
    const auto read = host_.read_snapshot();
    // A half of what was begun meanwhile may be in it.
    if (!puts_off()) take(read);
    const auto worth =
        std::max<core::Clock::duration>(kPause, kPart * (core::Clock::now() - begun));
    rested_at_ = std::max(rested_at_, begun - kAtOnce) + worth;
}

void Reload::take(const Snapshot& read) {
    put_off_.reset();
    auto digest = configuration_digest(*read, environment_);
    const auto waiting = std::exchange(waiting_, {});
    const auto done = move_or_keep(read, std::move(digest), waiting.empty() ? "files" : "apply");
    for (const auto& applied : waiting) applied(done);
}

Result<registry::Plan> Reload::move_or_keep(const Snapshot& read, std::string digest,
                                            std::string_view cause) {
    const bool asked = cause == "apply";
    auto why = digest == read_digest_ ? std::string() : why_not(*read);
    const bool known = digest == kept_digest_ && !asked;
    if (!why.empty() && !known && doubts(digest)) return Error{ErrorCode::Invalid, why};
    is_asked_ = false;
    doubted_.reset();
    doubtful_.clear();
    if (digest == read_digest_) {
        if (!kept_.empty()) say_("the configuration is again what the host runs by");
        forget_refusal();
        take_back_what_was_forbidden();
        return registry::Plan();
    }
    // Whoever has gone back means to stay there until something changes.
    if (known) return Error{ErrorCode::Invalid, kept_};
    if (!why.empty()) {
        forbid_what_is_said(*read);
        return keep(std::move(why), std::move(digest), cause);
    }
    return move_to(read, digest, cause);
}

Error Reload::keep(std::string why, std::string digest, std::string_view cause) {
    say_("the configuration is not changed: " + why);
    kept_ = std::move(why);
    kept_digest_ = std::move(digest);
    is_refused_ = true;
    if (auto* const log = host_.event_log())
        log->on_configuration({host_.configuration_number(), cause, kept_, {}, {}, {}, {}, 0, 0});
    return {ErrorCode::Invalid, kept_};
}

void Reload::forget_refusal() {
    kept_.clear();
    kept_digest_.clear();
    is_refused_ = false;
}

// Who writes `deny` does not wait for what stands beside it to be mended.
void Reload::forbid_what_is_said(const registry::Snapshot& read) {
    const auto stricter = narrowed(now_, read, Removed::IsOff);
    if (stricter == now_) return take_back_what_was_forbidden();
    const auto plan = switch_.move_to(stricter, "files");
    if (!plan) return;
    is_stricter_ = true;
    for (const auto& line : registry::lines_of(*plan)) say_("configuration: " + text_of(line));
}

void Reload::take_back_what_was_forbidden() {
    if (std::exchange(is_stricter_, false)) static_cast<void>(switch_.move_to(now_, "files"));
}

// What is wrong that was not wrong before. A broken enterprise file denies everything at once.
std::string Reload::why_not(const registry::Snapshot& read) const {
    if (read.config.deny_all) return {};
    if (!read.config.stop.empty()) return read.config.stop;
    const auto before = errors_of(now_->config);
    for (const auto& error : errors_of(read.config))
        if (std::find(before.begin(), before.end(), error) == before.end()) return error;
    return {};
}

Result<registry::Plan> Reload::move_to(const Snapshot& read, const std::string& digest,
                                       std::string_view cause) {
    auto plan = switch_.move_to(read, cause);
    if (!plan) return keep(plan.error().message, digest, cause);
    before_.push_back({now_, digest_, read_digest_, next_start_});
    if (before_.size() > kHistory) before_.erase(before_.begin());
    now_ = read;
    is_stricter_ = false;
    forget_refusal();
    read_digest_ = digest;
    for (const auto& line : registry::lines_of(*plan)) say_("configuration: " + text_of(line));
    // Of what is read once at the start the host has another value than commands read by now.
    auto once = registry::plan(*begun_, *read).next_start;
    std::erase_if(once, [](const auto& key) { return key.starts_with("log."); });
    digest_ = once.empty() ? digest : "";
    next_start_ = core::join(once, ", ");
    if (!once.empty())
        say_("configuration: " + next_start_ +
             " counts for a host that is started anew; until then commands bring up their own");
    applied_(plan->start);
    return plan;
}

// What the files forbid by now is not gone back from, nor an approval that was revoked. The files say what they said:
// commands that have read them are told that the host runs by something else.
Result<registry::Plan> Reload::rollback() {
    if (!is_refused_ && before_.empty())
        return Error{ErrorCode::NotFound, "there is no configuration to go back to"};
    const auto read = host_.read_snapshot();
    if (read->config.deny_all) return Error{ErrorCode::Denied, read->config.stop};
    const auto before =
        is_refused_ ? Before{now_, digest_, read_digest_, next_start_} : before_.back();
    const auto target = narrowed(before.snapshot, *read, Removed::IsBack);
    auto plan = switch_.move_to(target, "rollback");
    if (!plan) return plan.error();
    if (!std::exchange(is_refused_, false)) before_.pop_back();
    now_ = before.snapshot;
    is_stricter_ = target != now_;
    kept_ =
        "somebody has gone back to it (`patchbay config rollback`); `patchbay config apply` has "
        "the files count again, as has each change of theirs";
    // What was read last, and not what stands there now: a change that nobody has read yet is one.
    if (kept_digest_.empty()) kept_digest_ = read_digest_;
    digest_ = before.digest;
    read_digest_ = before.read_digest;
    next_start_ = before.next_start;
    for (const auto& line : registry::lines_of(*plan)) say_("rolled back: " + text_of(line));
    applied_(plan->start);
    return plan;
}

}  // namespace patchbay::app
