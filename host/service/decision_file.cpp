#include "service/decision_file.hpp"

#include "core/json.hpp"
#include "core/limits.hpp"
#include "core/private_file.hpp"
#include "core/text.hpp"
#include "service/approval_record.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <optional>
#include <sys/stat.h>
#include <utility>

namespace patchbay::service {
namespace json = boost::json;
using config::Level;

namespace {

constexpr int kDecisionsVersion = 1;
constexpr const char* kDecisionsName = "decisions.json";
constexpr const char* kDecisionsLock = "decisions.lock";

// None when there is no file.
Result<std::vector<Decision>> read_decisions(const std::string& directory,
                                             const std::string& path) {
    const auto text = core::read_private(directory, kDecisionsName, ApprovalRecord::kOthers,
                                         DecisionFile::kFileBytes);
    if (!text) return text.error();
    std::vector<Decision> all;
    if (!*text) return all;
    const auto whole =
        core::parse_json_object(**text, {core::Limits().json_depth, core::kAnyNumberOfValues});
    const auto* object = whole ? &*whole : nullptr;
    const auto version = core::integer_in(object, "version");
    const auto* kept = core::array_in(object, "decisions");
    const std::string then = ": no answer of before counts; ";
    if (version && *version != kDecisionsVersion)
        return Error{ErrorCode::Protocol, path + " is of another version (" +
                                              std::to_string(*version) + ", this patchbay writes " +
                                              std::to_string(kDecisionsVersion) + ")" + then +
                                              "move it away to have approvals kept by this one"};
    const Error damaged{ErrorCode::Protocol,
                        path + " is damaged" + then + "move it away and approve again"};
    if (!version || !kept || kept->size() > DecisionFile::kMost) return damaged;
    for (const auto& each : *kept) {
        auto decision = parse_decision(each);
        // An answer for a session outlives none, and one without a digest would hold for whatever comes later.
        if (!decision || decision->level == Level::AllowSession || decision->definition.empty())
            return damaged;
        all.push_back(std::move(*decision));
    }
    return all;
}

// The newer one takes its place, whoever gave it.
bool is_about_the_same(const Decision& a, const Decision& b) {
    return std::tie(a.server, a.tool, a.request, a.level, a.project, a.subject) ==
           std::tie(b.server, b.tool, b.request, b.level, b.project, b.subject);
}

}  // namespace

json::object decision_text(const Decision& decision) {
    json::object out{{"server", decision.server}};
    out[decision.tool.empty() ? "request" : "tool"] =
        decision.tool.empty() ? decision.request : decision.tool;
    out["level"] = config::name_of(decision.level);
    if (!decision.project.empty()) out["project"] = decision.project;
    out["for"] = decision.subject;
    out["by"] = decision.by;
    out["when"] = decision.when;
    out["definition"] = decision.definition;
    return out;
}

std::optional<Decision> parse_decision(const json::value& text_of_one) {
    const auto* object = text_of_one.if_object();
    const auto text = [&](const char* key) {
        return std::string(core::text_in(object, key).value_or(""));
    };
    if (!object) return {};
    const auto level = config::level_from(text("level"));
    Decision made{text("server"), text("tool"), text("request"),   {}, text("project"), text("for"),
                  text("by"),     text("when"), text("definition")};
    if (!level || made.server.empty() || made.tool.empty() == made.request.empty() ||
        made.subject.empty())
        return {};
    made.level = *level;
    const bool of_a_project = made.level == Level::AllowProject;
    if (made.level < Level::AllowSession || of_a_project == made.project.empty()) return {};
    return made;
}

DecisionFile::Stamp DecisionFile::stamp() const {
    struct stat info {};
    if (::stat(path().c_str(), &info) != 0) return {};
    return {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

Result<const std::vector<Decision>*> DecisionFile::all() {
    if (directory_.empty()) return &read_;  // nothing is kept, and nothing was
    const auto now = stamp();  // before it is read: what is written meanwhile is read the next time
    if (has_read_ && now == read_at_) return &read_;
    auto read = read_decisions(directory_, path());
    has_read_ = bool(read);
    if (!read) return read.error();
    read_ = std::move(*read);
    read_at_ = now;
    return &read_;
}

Result<void> DecisionFile::change(const Change& change) {
    const ApprovalRecord record{directory_,
                                kDecisionsName,
                                kFileBytes,
                                kLockWait,
                                kDecisionsLock,
                                "",
                                "; patchbay policy reset takes some away"};
    return record.change([&]() -> Result<std::string> {
        // Read again within our turn: what others have kept since must not be written over.
        auto now = read_decisions(directory_, path());
        if (!now) return now.error();
        if (auto changed = change(*now); !changed) return changed.error();
        has_read_ = false;
        json::array kept;
        for (const auto& each : *now) kept.push_back(decision_text(each));
        return json::serialize(
                   json::object{{"version", kDecisionsVersion}, {"decisions", std::move(kept)}}) +
               "\n";
    });
}

Result<void> DecisionFile::keep(Decision decision) {
    return change([&](std::vector<Decision>& all) -> Result<void> {
        std::erase_if(all, [&](const auto& each) { return is_about_the_same(each, decision); });
        if (all.size() >= kMost)
            return Error{ErrorCode::Limit, path() + " has " + std::to_string(kMost) +
                                               " approvals, as many as are kept; patchbay policy "
                                               "reset takes some away"};
        all.push_back(std::move(decision));
        return {};
    });
}

Result<std::size_t> DecisionFile::forget(const std::function<bool(const Decision&)>& these) {
    // Where there is nothing to take away nothing is written, nor a folder made.
    const auto now = all();
    if (!now) return now.error();
    if (std::none_of((*now)->begin(), (*now)->end(), these)) return std::size_t{0};
    std::size_t gone = 0;
    const auto changed = change([&](std::vector<Decision>& all) -> Result<void> {
        gone = std::erase_if(all, these);
        return {};
    });
    if (!changed) return changed.error();
    return gone;
}

}  // namespace patchbay::service
