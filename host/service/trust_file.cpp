#include "service/trust_file.hpp"

#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/private_file.hpp"
#include "core/text.hpp"
#include "service/approval_record.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace patchbay::service {
namespace json = boost::json;

namespace {

constexpr int kTrustVersion = 1;
constexpr const char* kTrustName = "trust.json";
constexpr const char* kTrustLock = "trust.lock";

// The projects of the record; none when there is no file.
Result<json::object> read_projects(const std::string& directory, const std::string& path) {
    const auto text =
        core::read_private(directory, kTrustName, ApprovalRecord::kOthers, TrustFile::kFileBytes);
    if (!text) return text.error();
    if (!*text) return json::object();
    const auto whole = core::parse_json_object(**text);
    const auto* version = whole ? whole->if_contains("version") : nullptr;
    const auto* projects = core::object_in(whole ? &*whole : nullptr, "projects");
    if (!version || *version != kTrustVersion || !projects)
        return Error{ErrorCode::Protocol,
                     path +
                         " is damaged, or of another patchbay: nothing is approved; move it "
                         "away and approve again"};
    return *projects;
}

// Enough to tell two apart.
constexpr std::size_t kPartDigits = 16;

// A digest of each text, number and list, by its keys joined by dots. What the entry itself says has
// no prefix.
void add_parts(const std::string& name, const json::value& value, const std::string& salt,
               json::object& parts) {
    const auto* table = value.if_object();
    if (!table || table->empty()) {
        parts[name] = core::sha256_hex(salt + "\n" + name + "\n" +
                                       json::serialize(core::sorted_by_key(value)))
                          .substr(0, kPartDigits);
        return;
    }
    for (const auto& member : *table)
        add_parts((name.empty() ? "" : name + ".") + std::string(member.key()), member.value(),
                  salt, parts);
}

json::object parts_of(const json::object& definition, const std::string& salt) {
    json::object parts;
    for (const auto& member : definition) {
        const bool entry = member.key() == "server" || member.key() == "auth";
        add_parts(entry ? "" : std::string(member.key()), member.value(), salt, parts);
    }
    return parts;
}

std::string_view digest_in(const json::value& approval) {
    const auto* table = approval.if_object();
    const auto digest = table ? core::text_in(table, "digest") : core::text_of(approval);
    return digest.value_or("");
}

}  // namespace

const json::object& TrustFile::projects() const {
    if (projects_) return *projects_;
    auto read = directory_.empty() ? Result<json::object>(json::object())
                                   : read_projects(directory_, path());
    if (!read) trouble_ = read.error();
    projects_ = read ? std::move(*read) : json::object();
    return *projects_;
}

Result<void> TrustFile::trouble() const {
    projects();
    return trouble_;
}

const json::value* TrustFile::approval_of(const std::string& project, const std::string& id) const {
    const auto* approvals = core::object_in(&projects(), project);
    return approvals ? approvals->if_contains(id) : nullptr;
}

std::string TrustFile::digest_of(const std::string& project, const std::string& id) const {
    const auto* kept = approval_of(project, id);
    return kept ? std::string(digest_in(*kept)) : std::string();
}

bool TrustFile::approved(const config::Proposal& proposal) const {
    const auto* approval = approval_of(proposal.directory, proposal.id);
    return approval && !proposal.digest.empty() && digest_in(*approval) == proposal.digest;
}

std::vector<std::string> TrustFile::changed(const config::Proposal& proposal) const {
    const auto* approval = approval_of(proposal.directory, proposal.id);
    const auto* before = approval ? core::object_in(approval->if_object(), "parts") : nullptr;
    if (!before) return {};
    const auto now = parts_of(proposal.definition, std::string(digest_in(*approval)));
    std::set<std::string> keys;
    for (const auto& [some, others] : {std::pair(before, &now), std::pair(&now, before)})
        for (const auto& part : *some) {
            const auto* other = others->if_contains(part.key());
            if (!other || *other != part.value()) keys.emplace(part.key());
        }
    return {keys.begin(), keys.end()};
}

std::vector<std::string> TrustFile::ids(const std::string& project) const {
    std::vector<std::string> ids;
    const auto* found = projects().if_contains(project);
    if (found && found->is_object())
        for (const auto& member : found->get_object()) ids.emplace_back(member.key());
    std::sort(ids.begin(), ids.end());
    return ids;
}

template <class Change>
Result<void> TrustFile::change(const Change& change) {
    const ApprovalRecord record{directory_,
                                kTrustName,
                                kFileBytes,
                                kLockWait,
                                kTrustLock,
                                "; rename the folder, or put the definitions into your own "
                                "configuration",
                                ": revoke approvals that are not needed any more"};
    json::object changed;
    auto written = record.change([&]() -> Result<std::string> {
        // Read again within our turn: what others have approved since must not be written over.
        auto now = read_projects(directory_, path());
        if (!now) return now.error();
        if (auto done = change(*now); !done) return done.error();
        changed = std::move(*now);
        return json::serialize(json::object{{"version", kTrustVersion}, {"projects", changed}}) +
               "\n";
    });
    if (written) projects_ = std::move(changed);
    return written;
}

Result<void> TrustFile::approve(const std::vector<config::Proposal>& proposals) {
    return change([&](json::object& projects) -> Result<void> {
        for (const auto& proposal : proposals) {
            auto& project = projects[proposal.directory];
            if (!project.is_object()) project.emplace_object();
            project.get_object()[proposal.id] = {
                {"digest", proposal.digest},
                {"parts", parts_of(proposal.definition, proposal.digest)}};
        }
        return {};
    });
}

Result<void> TrustFile::revoke(const std::string& project, const std::vector<std::string>& ids) {
    return change([&](json::object& projects) -> Result<void> {
        auto* found = projects.if_contains(project);
        for (const auto& id : ids) {
            if (found && found->is_object() && found->get_object().erase(id) != 0) continue;
            std::vector<std::string> known;
            if (found && found->is_object())
                for (const auto& member : found->get_object()) known.emplace_back(member.key());
            // The change fails as a whole and is not written: no half of a list is revoked.
            return Error{
                ErrorCode::NotFound,
                "\"" + core::printable(id, 80) + "\" is not approved" +
                    (project.empty() ? ", and there is no project folder here"
                                     : " in " + core::printable(project, 1000)) +
                    "; approved: " + (known.empty() ? "nothing" : core::join(known, ", "))};
        }
        if (found && found->is_object() && found->get_object().empty()) projects.erase(project);
        return {};
    });
}

}  // namespace patchbay::service
