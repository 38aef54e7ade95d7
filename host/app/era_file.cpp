#include "app/era_file.hpp"

#include "config/sources.hpp"
#include "core/json.hpp"
#include "core/private_directory.hpp"
#include "core/replace_file.hpp"

#include <boost/json.hpp>

#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// Another host may write at the same time; the last one wins, which costs a probe at most.
void replace(const std::string& path, const std::string& text) {
    core::make_private_directory(path.substr(0, path.rfind('/')));
    // Without it the next start asks once more, that is all.
    static_cast<void>(core::replace_file(path, text));
}

std::string entry_of(const std::string& definition_key, protocol::Era preferred) {
    return preferred == protocol::Era::Legacy ? definition_key + " legacy" : definition_key;
}

}  // namespace

EraFile::EraFile(core::Loop& loop, std::string path) : EraFile(loop, std::move(path), replace) {}

EraFile::EraFile(core::Loop& loop, std::string path, Replace replace)
    : path_(std::move(path)), replace_(std::move(replace)) {
    worker_.emplace(loop, 1);
}

EraFile::~EraFile() {
    worker_.reset();  // finishes what it is writing
    if (unsaved_) replace_(path_, text());
}

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

connection::KnownEra EraFile::find(const std::string& definition_key, protocol::Era preferred) {
    read();
    const auto found = versions_.find(entry_of(definition_key, preferred));
    if (found == versions_.end()) return {};
    const auto& text = found->second;
    const auto space = text.find(' ');
    if (space == std::string::npos) return {text, {}};
    return {text.substr(0, space), text.substr(space + 1)};
}

void EraFile::remember(const std::string& definition_key, protocol::Era preferred,
                       const connection::KnownEra& era) {
    read();
    const auto version = era.transport.empty() ? era.version : era.version + " " + era.transport;
    const auto entry = entry_of(definition_key, preferred);
    auto& known = versions_[entry];
    if (known == version) return;
    known = version;
    if (versions_.size() > kEntries)
        versions_.erase(versions_.begin()->first == entry ? std::next(versions_.begin())
                                                          : versions_.begin());
    if (!path_.empty()) save();
}

// One text at a time; what changes meanwhile is in the next one.
void EraFile::save() {
    unsaved_ = saving_;
    if (std::exchange(saving_, true)) return;
    worker_->run(
        [replace = replace_, path = path_, now = text()](const std::stop_token&) -> Result<void> {
            replace(path, now);
            return {};
        },
        [this](const Result<void>&) {
            saving_ = false;
            if (unsaved_) save();
        });
}

std::string EraFile::text() const {
    json::object object;
    for (const auto& [key, version] : versions_) object[key] = version;
    return json::serialize(object);
}

}  // namespace patchbay::app
