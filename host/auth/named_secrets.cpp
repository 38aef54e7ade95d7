#include "auth/named_secrets.hpp"

#include "core/json.hpp"
#include "core/secret_name.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::auth {
namespace json = boost::json;
using core::Calendar;

namespace {

constexpr const char* kValue = "value";  // members of a record
constexpr const char* kWritten = "written_at";
constexpr std::int64_t kLastSecond = 253'402'300'799;  // of the year 9999

// Apart from the servers that somebody is signed in to.
std::string keyring_name(const std::string& name) {
    return "secret:" + name;
}

Error elsewhere(const std::string& name, const std::string& what_next) {
    return {ErrorCode::Unavailable, "the secret \"" + name +
                                        "\" is in the Secret Service; set [secrets] store = "
                                        "\"secret-service\"" +
                                        what_next};
}

// `advice`: what to do where there is none.
Result<json::object> record_in(const StoreFile& file, const std::string& name,
                               const std::string& advice) {
    if (auto fine = core::check_secret_name(name); !fine) return fine.error();
    const auto contents = file.read();
    if (!contents) return contents.error();
    const auto* table = core::object_in(&contents->file, StoreFile::kNamed.table);
    if (const auto* record = core::object_in(table, name)) return *record;
    std::vector<std::string> known;
    for (const auto& each : *table) known.emplace_back(each.key());
    return Error{ErrorCode::NotFound,
                 "no secret \"" + name + "\" is kept" + core::did_you_mean(name, known) + advice};
}

}  // namespace

Result<json::object> NamedSecrets::record_of(const std::string& name) const {
    return record_in(file_, name, "; patchbay secret set " + name + " keeps one");
}

Result<void> NamedSecrets::check(const std::string& name) const {
    const auto record = record_of(name);
    return record ? Result<void>() : record.error();
}

Result<std::string> NamedSecrets::read(const std::string& name) const {
    const auto record = record_of(name);
    if (!record) return record.error();
    if (StoreFile::in_keyring(*record)) {
        if (!keyring_) return elsewhere(name, ", or keep it anew: patchbay secret set " + name);
        const std::lock_guard turn(keyring_turn_);
        const auto answer = keyring_->read(keyring_name(name));
        if (!answer) return answer.error();
        if (const auto kept = core::parse_json_object(*answer))
            if (const auto value = core::text_in(&*kept, kValue)) return std::string(*value);
        return Error{ErrorCode::NotFound, "the Secret Service does not hold the secret \"" + name +
                                              "\" any more; patchbay secret set " + name +
                                              " keeps it anew"};
    }
    const auto value = core::text_in(&*record, kValue);
    if (value) return std::string(*value);
    return Error{ErrorCode::Protocol, file_.path() + ": the record of \"" + name +
                                          "\" holds no value; patchbay secret set " + name +
                                          " keeps one"};
}

Result<NamedSecrets::Kept> NamedSecrets::write(const std::string& name, const std::string& value,
                                               Calendar::time_point now) const {
    if (auto fine = core::check_secret_name(name); !fine) return fine.error();
    if (value.empty()) return Error{ErrorCode::Invalid, "the secret \"" + name + "\" is empty"};
    // Whoever brings it may have stopped reading there.
    if (value.size() > kValueBytes)
        return Error{ErrorCode::Invalid, "the secret \"" + name + "\" has more than " +
                                             std::to_string(kValueBytes) +
                                             " bytes, which is the limit"};
    if (!core::valid_utf8(value) || value.find('\0') != value.npos)
        return Error{ErrorCode::Invalid,
                     "the secret \"" + name + "\" is no text (UTF-8 without NUL)"};
    json::object record{
        {kWritten,
         std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count()}};
    Kept kept;
    if (keyring_) {
        // First the keyring: whoever is killed between the two leaves the old record, which says where it is.
        const std::lock_guard turn(keyring_turn_);
        const auto taken = keyring_->write(
            keyring_name(name), json::serialize(json::object{{kValue, value}}), "secret " + name);
        kept.in_keyring = bool(taken);
        if (!taken)
            kept.warning = "the Secret Service does not keep it: " + taken.error().message +
                           "; it is kept in " + file_.path();
    }
    if (kept.in_keyring)
        record[StoreFile::kKeyring] = true;
    else
        record[kValue] = value;
    if (auto written = file_.replace(name, record); !written) return written.error();
    return kept;
}

// Nothing but the record leads to what the keyring holds: it stays until that is gone.
Result<void> NamedSecrets::erase(const std::string& name) const {
    const auto record = record_in(file_, name, "; patchbay secret list shows which there are");
    if (!record) return record.error();
    if (StoreFile::in_keyring(*record)) {
        if (!keyring_) return elsewhere(name, " to take it out there");
        const std::lock_guard turn(keyring_turn_);
        if (auto gone = keyring_->erase(keyring_name(name)); !gone) return gone;
    }
    return file_.replace(name, {});
}

Result<std::vector<NamedSecrets::Listed>> NamedSecrets::list() const {
    const auto contents = file_.read();
    if (!contents) return contents.error();
    std::vector<Listed> all;
    for (const auto& each : contents->file.at(StoreFile::kNamed.table).get_object()) {
        const auto* record = each.value().if_object();
        if (!record) continue;
        // Of a year that calendars write, whatever the file says.
        const auto written = std::clamp<std::int64_t>(
            core::integer_in(record, kWritten).value_or(0), 0, kLastSecond);
        all.push_back({each.key(), StoreFile::in_keyring(*record),
                       Calendar::time_point(std::chrono::seconds(written))});
    }
    std::sort(all.begin(), all.end(),
              [](const Listed& one, const Listed& other) { return one.name < other.name; });
    return all;
}

}  // namespace patchbay::auth
