#include "app/reload.hpp"

#include "app/client_record.hpp"
#include "app/configuration_digest.hpp"
#include "app/stricter.hpp"
#include "registry/plan.hpp"

#include <chrono>
#include <utility>

namespace patchbay::app {

namespace {

constexpr std::chrono::milliseconds kLookForTheEnd{10};  // of a command

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
      state_directory_(default_state_directory(environment_)),
      say_(std::move(say)),
      applied_(std::move(applied)),
      in_force_(host.snapshot(), configuration_digest(*host.snapshot(), environment_)),
      pace_(host.loop().time()),
      pause_(host.loop()),
      patience_(host.loop()),
      watch_(host.loop(), [this] { read_after_pause(); }) {
    watch_.watch(paths_of(host));
}

bool Reload::fits(const std::string& digest) {
    if (digest.empty()) return in_force_.kept().empty();  // who names none means the files of now
    if (in_force_.fits(digest)) return true;
    if (in_force_.is_known(digest)) return false;  // nothing new
    if (pace_.rest() > core::Clock::duration::zero()) return false;
    pace_.ask();
    read_now();
    return in_force_.fits(digest);
}

void Reload::read_again() {
    pace_.ask();
    read_after_pause();
}

void Reload::apply(Applied applied) {
    waiting_.push_back(std::move(applied));
    read_again();
}

void Reload::read_after_pause() {
    if (pause_.running()) return;
    const auto rest = pace_.rest();
    if (rest == rest.zero()) return read_now();
    pause_.start(rest, [this] { read_now(); });
}

// For all who wait, at once: reading holds the loop. The watch tells when they are done who write.
void Reload::read_now() {
    pause_.stop();
    if (is_put_off()) return;
    const auto begun = host_.loop().now();
    const auto read = host_.read_snapshot();
    // A half of what was begun meanwhile may be in it.
    if (!is_put_off()) take(read);
    pace_.spend_since(begun);
}

ReadingPace::Others Reload::what_others_do() {
    using Others = ReadingPace::Others;
    if (watch_.is_open()) return Others::HaveOneOpen;
    return watch_.somebody_writes() ? Others::Change : Others::Rest;
}

// Of a command of ours a part may be written: a file, and not yet that it is approved. Of its end nothing is heard, so it
// is looked for. That somebody never closes a file is not heard either.
bool Reload::is_put_off() {
    patience_.stop();
    const bool somebody_changes = ClientRecord::is_turn_taken(state_directory_);
    auto others = what_others_do();
    if (others == ReadingPace::Others::Rest && somebody_changes)
        others = ReadingPace::Others::Change;
    const auto left = pace_.put_off(others);
    if (left == left.zero()) {
        watch_.forget_writers();
        return false;
    }
    if (somebody_changes && !pause_.running()) pause_.start(kLookForTheEnd, [this] { read_now(); });
    if (others == ReadingPace::Others::HaveOneOpen) patience_.start(left, [this] { read_now(); });
    return true;
}

void Reload::take(const Snapshot& read) {
    pace_.take();
    auto digest = configuration_digest(*read, environment_);
    const bool runs = digest == in_force_.now().read_digest;
    if (!runs && watch_.has_an_empty_one() && pace_.doubts_emptiness(digest))
        return watch_.tell_again();  // whoever waits does so until then
    const auto waiting = std::exchange(waiting_, {});
    const auto done = move_or_keep(read, std::move(digest), waiting.empty() ? "files" : "apply");
    for (const auto& applied : waiting) applied(done);
}

Result<registry::Plan> Reload::move_or_keep(const Snapshot& read, std::string digest,
                                            std::string_view cause) {
    const bool runs = digest == in_force_.now().read_digest;
    auto why = runs ? std::string() : in_force_.why_not(*read);
    // Whoever has gone back means to stay there until something changes, or until apply() is asked for.
    const bool known = in_force_.was_kept(digest) && cause != "apply";
    if (!why.empty() && !known && pace_.doubts(digest)) {
        watch_.tell_again();
        return Error{ErrorCode::Invalid, why};
    }
    pace_.believe();
    if (runs) {
        if (!in_force_.kept().empty()) say_("the configuration is again what the host runs by");
        in_force_.forget_refusal();
        take_back_what_was_forbidden();
        return registry::Plan();
    }
    if (known) return Error{ErrorCode::Invalid, in_force_.kept()};
    if (!why.empty()) {
        forbid_what_is_said(*read);
        return keep(std::move(why), std::move(digest), cause);
    }
    return move_to(read, digest, cause);
}

Error Reload::keep(std::string why, std::string digest, std::string_view cause) {
    say_("the configuration is not changed: " + why);
    in_force_.refuse(why, digest);
    if (auto* const log = host_.event_log())
        log->on_configuration({host_.configuration_number(), cause, why, {}, {}, {}, {}, 0, 0});
    return {ErrorCode::Invalid, std::move(why)};
}

// Who writes `deny` does not wait for what stands beside it to be mended.
void Reload::forbid_what_is_said(const registry::Snapshot& read) {
    const auto& now = in_force_.now().snapshot;
    const auto stricter = narrowed(now, read, Removed::IsOff);
    if (stricter == now) return take_back_what_was_forbidden();
    if (move_beside(stricter)) is_stricter_ = true;
}

void Reload::take_back_what_was_forbidden() {
    if (std::exchange(is_stricter_, false)) move_beside(in_force_.now().snapshot);
}

// To what is in force, or to that as the files narrow it: what was off until now is brought up as by any change.
bool Reload::move_beside(const Snapshot& target) {
    const auto plan = switch_.move_to(target, "files");
    if (!plan) return false;
    for (const auto& line : registry::lines_of(*plan)) say_("configuration: " + text_of(line));
    if (!plan->start.empty()) applied_(plan->start);
    return true;
}

Result<registry::Plan> Reload::move_to(const Snapshot& read, const std::string& digest,
                                       std::string_view cause) {
    auto plan = switch_.move_to(read, cause);
    if (!plan) return keep(plan.error().message, digest, cause);
    in_force_.move_to(read, digest);
    is_stricter_ = false;
    for (const auto& line : registry::lines_of(*plan)) say_("configuration: " + text_of(line));
    if (!next_start().empty())
        say_("configuration: " + next_start() +
             " counts for a host that is started anew; until then commands bring up their own");
    applied_(plan->start);
    return plan;
}

// What the files forbid by now is not gone back from, nor an approval that was revoked. The files say what they said:
// commands that have read them are told that the host runs by something else.
Result<registry::Plan> Reload::rollback() {
    const auto* const before = in_force_.before();
    if (!before) return Error{ErrorCode::NotFound, "there is no configuration to go back to"};
    const auto read = host_.read_snapshot();
    if (read->config.deny_all) return Error{ErrorCode::Denied, read->config.stop};
    const auto target = narrowed(before->snapshot, *read, Removed::IsBack);
    auto plan = switch_.move_to(target, "rollback");
    if (!plan) return plan.error();
    in_force_.go_back(
        "somebody has gone back to it (`patchbay config rollback`); `patchbay config apply` has "
        "the files count again, as has each change of theirs");
    is_stricter_ = target != in_force_.now().snapshot;
    for (const auto& line : registry::lines_of(*plan)) say_("rolled back: " + text_of(line));
    applied_(plan->start);
    return plan;
}

}  // namespace patchbay::app
