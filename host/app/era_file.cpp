#include "app/era_file.hpp"

#include "config/sources.hpp"
#include "core/json.hpp"
#include "core/private_directory.hpp"
#include "core/replace_file.hpp"

#include <boost/json.hpp>

#include <utility>

namespace patchbay::app {
namespace json = boost::json;

EraFile::EraFile(std::string path) : path_(std::move(path)) {}

void EraFile::read() {
    if (std::exchange(read_, true) || path_.empty()) return;
    // A pipe or a device in its place must not hold the start up.
    const auto text = config::read_file(path_);
    if (!text || text->size() > config::kFileBytes) return;
    const auto known = core::parse_json_object(*text);
    if (!known) return;
    for (const auto& member : *known) {
        if (member.value().is_string() && versions_.size() < kEntries) {
            versions_.emplace(member.key(), member.value().get_string());
        }
    }
}

connection::KnownEra EraFile::find(const std::string& definition_key) {
    read();
    const auto found = versions_.find(definition_key);
    if (found == versions_.end()) return {};
    const auto& text = found->second;
    const auto space = text.find(' ');
    if (space == std::string::npos) return {text, {}};
    return {text.substr(0, space), text.substr(space + 1)};
}

void EraFile::remember(const std::string& definition_key, const connection::KnownEra& era) {
    read();
    const auto version = era.transport.empty() ? era.version : era.version + " " + era.transport;
    auto& known = versions_[definition_key];
    if (known == version) return;
    known = version;
    if (versions_.size() > kEntries)
        versions_.erase(versions_.begin()->first == definition_key ? std::next(versions_.begin())
                                                                   : versions_.begin());
    if (!path_.empty()) write();
}

// Another host may write at the same time; the last one wins, which costs a probe at most.
void EraFile::write() const {
    core::make_private_directory(path_.substr(0, path_.rfind('/')));
    json::object object;
    for (const auto& [key, version] : versions_) object[key] = version;
    // Without it the next start asks once more, that is all.
    static_cast<void>(core::replace_file(path_, json::serialize(object)));
}

}  // namespace patchbay::app
