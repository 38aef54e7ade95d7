#include "gateway/http/session_records.hpp"

#include "core/json.hpp"
#include "protocol/log_levels.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace patchbay::gateway {
namespace json = boost::json;

std::string session_record_text(const SessionRecord& record) {
    json::object object;
    if (record.deleted) object["deleted"] = true;
    const auto& [level, uris] = record.wishes;
    if (!level.empty()) object["level"] = level;
    if (!uris.empty()) object["uris"] = json::array(uris.begin(), uris.end());
    return json::serialize(object) + "\n";
}

Result<SessionRecord> parse_session_record(std::string_view text) {
    const Error none{ErrorCode::Invalid, "is no record of a session"};
    if (text.size() > kMostSessionRecordBytes) return none;
    const auto object = core::parse_json_object(text);
    if (!object) return none;
    SessionRecord record{core::flag_in(&*object, "deleted").value_or(false)};
    const auto level = core::text_in(&*object, "level");
    if (level && !protocol::log_severity(*level)) return none;
    record.wishes.level = level.value_or("");
    if (const auto* uris = core::array_in(&*object, "uris"))
        for (const auto& uri : *uris) {
            const auto one = core::text_of(uri);
            if (!one) return none;
            record.wishes.uris.emplace(*one);
        }
    return record;
}

void MemoryRecords::read(const std::string& id, std::function<void(SessionRecord)> then) {
    const auto found = records_.find(id);
    loop_.defer([then = std::move(then), record = found == records_.end()
                                                      ? SessionRecord()
                                                      : found->second] { then(record); });
}

void MemoryRecords::write(const std::string& id, SessionRecord record, std::function<void()> then) {
    const bool kept = records_.erase(id) != 0;
    if (kept) first_.erase(std::find(first_.begin(), first_.end(), id));
    if (!record.empty()) {
        records_[id] = std::move(record);
        first_.push_back(id);
    }
    if (first_.size() > kMost) {
        records_.erase(first_.front());
        first_.pop_front();
    }
    loop_.defer(std::move(then));
}

}  // namespace patchbay::gateway
