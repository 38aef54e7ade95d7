#include "audit/audit_log.hpp"

#include "core/log.hpp"
#include "core/random.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace patchbay::audit {

namespace {

constexpr std::size_t kRunBytes = 4;

// What only asks what there is, and is let through, is no business of an audit.
bool is_of_interest(std::string_view method, std::string_view decision) {
    constexpr std::array<std::string_view, 4> kQuiet = {"ping", "logging/setLevel", "tasks/list",
                                                        "server/discover"};
    const bool quiet = method.ends_with("/list") ||
                       std::find(kQuiet.begin(), kQuiet.end(), method) != kQuiet.end();
    return !quiet || decision == "deny" || decision == "refused";
}

}  // namespace

AuditLog::AuditLog(core::Loop& loop, const std::string& state_directory,
                   const config::AuditSettings& settings)
    : loop_(loop),
      settings_(settings),
      run_(core::random_hex(kRunBytes)),
      trail_(std::make_shared<Trail>(state_directory, settings)),
      pause_(loop) {}

AuditLog::~AuditLog() {
    worker_.reset();  // waits for it
    if (writing_ && !writing_->written) put_back(*writing_);
    if (buffer_.empty() && lost_ == 0) return;
    static_cast<void>(write_now(kTurn));
}

// Numbers begin anew in each process: what the process is called tells them from those of others.
std::string AuditLog::members_of(const core::AskedRequest& asked) {
    return members_of_request(run_ + "-" + std::to_string(asked.number), common_.of(asked), asked);
}

// Told as soon as it ends; here only what is needed for that is kept, unless each has to be on disk first.
Result<void> AuditLog::on_request_sent(const core::SentRequest& sent) {
    if (!is_of_interest(sent.asked.method, sent.asked.decision)) return {};
    auto& open = open_[sent.asked.number];
    open.at = loop_.time().date() - sent.waited;
    open.sent = loop_.now();
    open.members = members_of(sent.asked);
    if (!settings_.required) {
        wait();
        return {};
    }
    const auto before = buffer_.size();
    keep(head_of_record(open.at, "begun"), open.members);
    open.told = true;
    const bool just_failed = failing_ && loop_.now() - failed_ < kPause;
    const auto written =
        just_failed ? Error{ErrorCode::Io, "it could not just before"} : write_now(kShortTurn);
    if (written) return {};
    buffer_.resize(std::min(before, buffer_.size()));  // it was not sent
    return Error{ErrorCode::Unavailable,
                 "it was not sent, as it cannot be recorded ([audit] required = true): " +
                     written.error().message};
}

void AuditLog::on_request_ended(const core::EndedRequest& ended) {
    const auto found = open_.extract(ended.asked.number);
    if (!found && !is_of_interest(ended.asked.method, ended.asked.decision)) return;
    const auto at = found ? found.mapped().at : loop_.time().date() - ended.duration;
    keep(head_of_record(at, "call"), found ? found.mapped().members : members_of(ended.asked),
         members_of_outcome(ended));
    // Sooner than its time, so that a second of many calls fits into what is kept.
    if (buffer_.size() >= kBatch && !settings_.required && !failing_) write_behind();
    wait();
}

void AuditLog::keep(std::string_view head, std::string_view members, std::string_view more) {
    const auto bytes = head.size() + members.size() + more.size() + 3;
    if (buffer_.size() + bytes > kMostBuffered) {
        ++lost_;
        return;
    }
    buffer_.append(head).append(1, ',').append(members);
    if (!more.empty()) buffer_.append(1, ',').append(more);
    buffer_ += '\n';
}

void AuditLog::wait() {
    if (!pause_.running()) pause_.start(failing_ ? kAgain : kPause, [this] { on_pause(); });
}

void AuditLog::on_pause() {
    const auto now = loop_.now();
    for (auto& [number, open] : open_) {
        if (open.told || now - open.sent < kPause) continue;
        open.told = true;
        keep(head_of_record(open.at, "begun"), open.members);
    }
    if (settings_.required) {
        if (!buffer_.empty() || lost_ > 0) static_cast<void>(write_now(kShortTurn));
    } else {
        write_behind();
    }
    if (!open_.empty() || !buffer_.empty() || lost_ > 0 || writing_) return wait();
    // Nothing goes on.
    for (auto* unused : {&buffer_, &spare_}) *unused = std::string();
}

AuditLog::Batch AuditLog::take_batch() {
    Batch batch{std::exchange(buffer_, std::exchange(spare_, {})), std::exchange(lost_, 0)};
    if (batch.lost > 0)
        batch.records.insert(0, head_of_record(loop_.time().date(), "lost") +
                                    ",\"records\":" + std::to_string(batch.lost) + "\n");
    return batch;
}

// Ahead of what came meanwhile, which is lost before it where there is no room.
void AuditLog::put_back(Batch& batch) {
    if (batch.lost > 0) batch.records.erase(0, batch.records.find('\n') + 1);
    lost_ += batch.lost;
    std::swap(batch.records, buffer_);
    std::string_view later = batch.records;
    while (!later.empty()) {
        const auto line = later.substr(0, later.find('\n') + 1);
        later.remove_prefix(line.size());
        if (buffer_.size() + line.size() > kMostBuffered)
            ++lost_;
        else
            buffer_ += line;
    }
}

// One at a time: what comes while the disk is slow goes together afterwards.
void AuditLog::write_behind() {
    if (writing_ || (buffer_.empty() && lost_ == 0)) return;
    writing_ = std::make_shared<Batch>(take_batch());
    if (!worker_) worker_.emplace(loop_, 1);
    worker_->run(
        [trail = trail_, batch = writing_](const std::stop_token&) {
            auto written = trail->append(batch->records, kTurn);
            batch->written = written.has_value();
            return written;
        },
        [this](const Result<void>& written) {
            const auto batch = std::exchange(writing_, {});
            on_written(*batch, written);
        });
}

Result<void> AuditLog::write_now(std::chrono::milliseconds wait) {
    auto batch = take_batch();
    const auto written = trail_->append(batch.records, wait);
    on_written(batch, written);
    return written;
}

void AuditLog::on_written(Batch& batch, const Result<void>& written) {
    if (written) {
        failing_ = false;
        batch.records.clear();
        spare_.swap(batch.records);
        return;
    }
    put_back(batch);
    failed_ = loop_.now();
    if (!std::exchange(failing_, true))
        core::log::warn("the audit cannot be written: " + written.error().message +
                        (settings_.required ? "; calls are refused until it can"
                                            : "; calls go on, and it is tried again"));
}

}  // namespace patchbay::audit
