#include "app/session_folder.hpp"

#include "core/digest.hpp"
#include "core/log.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace patchbay::app {
using gateway::SessionRecord;
namespace fs = std::filesystem;

namespace {

constexpr auto kOthers = core::Others::MayNothing;
constexpr std::size_t kFolderDigits = 2, kSessionDigits = 62;
constexpr const char* kSessionSuffix = ".json";

struct Place {
    std::string folder, name;

    std::string path() const { return folder + "/" + name; }
    std::string name_of_folder() const { return folder.substr(folder.rfind('/') + 1); }
};

// In one of 256 folders: whoever replaces a file looks at all that are beside it.
Place place_of(const std::string& directory, const std::string& id) {
    const auto digest = core::sha256_hex(id);
    return {directory + "/" + digest.substr(0, kFolderDigits),
            digest.substr(kFolderDigits) + kSessionSuffix};
}

// And nothing else that somebody may have put there.
bool is_ours(const fs::path& file) {
    const auto name = file.filename().string(), folder = file.parent_path().filename().string();
    const auto hex = [](std::string_view text) {
        return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    };
    return folder.size() == kFolderDigits && hex(folder) && name.size() > kSessionDigits &&
           hex(name.substr(0, kSessionDigits)) &&
           name.substr(kSessionDigits).starts_with(kSessionSuffix);
}

struct Found {
    fs::path path;
    fs::file_time_type time;
    std::size_t bytes;
};

// Drafts of those that were killed too.
std::vector<Found> found_in(const std::string& directory) {
    std::vector<Found> all;
    std::error_code failed;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator each(directory, options, failed), end;
         !failed && each != end; each.increment(failed)) {
        std::error_code gone;
        if (!is_ours(each->path()) || each->symlink_status(gone).type() != fs::file_type::regular)
            continue;
        const auto time = each->last_write_time(gone);
        const auto bytes = gone ? 0 : each->file_size(gone);
        if (!gone) all.push_back({each->path(), time, static_cast<std::size_t>(bytes)});
    }
    return all;
}

}  // namespace

struct SessionFolder::Disk {
    const std::string directory;
    const Limits limits;
    core::Descriptor opened{};
    std::size_t records = 0, bytes = 0;  // that are there; what was replaced counts twice

    bool over() const { return records > limits.records || bytes > limits.bytes; }

    // Judged once: whoever may not come in there can have put nothing below it. -1: not there.
    Result<int> folder(core::Make make) {
        struct stat about {};
        if (opened.get() >= 0 && ::fstat(opened.get(), &about) == 0 && about.st_nlink > 0)
            return opened.get();
        auto open = core::open_private_directory(directory, kOthers, make);
        if (!open) return open.error();
        opened = std::move(*open);
        return opened.get();
    }

    Result<SessionRecord> read(const std::string& id) {
        const auto above = folder(core::Make::No);
        if (!above) return above.error();
        const auto place = place_of(directory, id);
        const core::Descriptor own(::openat(*above, place.name_of_folder().c_str(),
                                            O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
        if (own.get() < 0) return SessionRecord();
        const auto file = core::open_private_file(own, place.folder, place.name, kOthers);
        if (!file) return file.error();
        if (file->get() < 0) return SessionRecord();
        const auto text = core::read_whole(*file, place.path(), gateway::kMostSessionRecordBytes);
        if (!text) return text.error();
        auto record = gateway::parse_session_record(*text);
        if (!record) return Error{ErrorCode::Invalid, place.path() + " " + record.error().message};
        // It is used, and not swept away as one of long ago.
        ::futimens(file->get(), nullptr);
        return record;
    }

    Result<void> write(const std::string& id, const SessionRecord& record) {
        const auto place = place_of(directory, id);
        if (record.empty()) {
            ::unlink(place.path().c_str());
            return {};
        }
        const auto above = folder(core::Make::Yes);
        if (!above) return above.error();
        ::mkdirat(*above, place.name_of_folder().c_str(), 0700);
        const auto text = gateway::session_record_text(record);
        const auto written = core::replace_file(place.path(), text);
        if (!written) return written;
        ++records;
        bytes += text.size();
        if (over()) sweep();
        return written;
    }

    // The oldest go, and some more than must: the next one that is written shall not look at all again.
    void sweep() {
        const auto above = folder(core::Make::No);
        if (!above || *above < 0) return;
        auto all = found_in(directory);
        std::sort(all.begin(), all.end(),
                  [](const auto& a, const auto& b) { return a.time < b.time; });
        records = all.size();
        bytes = 0;
        for (const auto& each : all) bytes += each.bytes;
        const bool full = over();
        const auto too_many = [&] {
            return full && (records > limits.records / 10 * 9 || bytes > limits.bytes / 10 * 9);
        };
        const auto of_long_ago = fs::file_time_type::clock::now() - limits.kept;
        for (const auto& each : all) {
            if (each.time >= of_long_ago && !too_many()) return;
            std::error_code gone;
            fs::remove(each.path, gone);
            --records;
            bytes -= each.bytes;
        }
    }
};

SessionFolder::SessionFolder(core::Loop& loop, std::string directory, Limits limits)
    : loop_(loop), disk_(std::shared_ptr<Disk>(new Disk{std::move(directory), limits})) {
    worker_.emplace(loop, 1);
    worker_->run(
        [disk = disk_](const std::stop_token&) -> Result<void> {
            disk->sweep();
            return {};
        },
        [](const auto&) {});
}

SessionFolder::~SessionFolder() {
    worker_.reset();  // finishes what it is writing
    for (const auto& [id, pending] : pending_)
        if (pending.changed) static_cast<void>(disk_->write(id, pending.record));
}

void SessionFolder::read(const std::string& id, std::function<void(SessionRecord)> then) {
    if (const auto found = pending_.find(id); found != pending_.end())
        return loop_.defer(
            [then = std::move(then), record = found->second.record] { then(record); });
    worker_->run([disk = disk_, id](const std::stop_token&) { return disk->read(id); },
                 [then = std::move(then)](Result<SessionRecord> record) {
                     if (!record)
                         core::log::warn("a session goes on without what it left: " +
                                         record.error().message);
                     then(record ? std::move(*record) : SessionRecord());
                 });
}

void SessionFolder::write(const std::string& id, SessionRecord record, std::function<void()> then) {
    const auto [place, first] = pending_.try_emplace(id);
    auto& pending = place->second;
    pending.record = std::move(record);
    pending.waiting.push_back(std::move(then));
    pending.changed = true;
    if (first) save(id, pending);
}

void SessionFolder::save(const std::string& id, Pending& pending) {
    pending.changed = false;
    pending.written = std::exchange(pending.waiting, {});
    worker_->run([disk = disk_, id, record = pending.record](
                     const std::stop_token&) { return disk->write(id, record); },
                 [this, id](const Result<void>& saved) { on_saved(id, saved); });
}

void SessionFolder::on_saved(const std::string& id, const Result<void>& saved) {
    if (!saved && !failing_)
        core::log::warn("of HTTP sessions nothing can be kept: " + saved.error().message +
                        "; log levels and subscriptions end with this process meanwhile, and "
                        "deleted ids count again in the next");
    failing_ = !saved;
    const auto found = pending_.find(id);
    const auto written = std::exchange(found->second.written, {});
    if (found->second.changed)
        save(id, found->second);
    else
        pending_.erase(found);
    for (const auto& each : written) each();
}

std::unique_ptr<gateway::SessionRecords> session_records(core::Loop& loop,
                                                         const std::string& state_directory) {
    if (state_directory.empty()) return std::make_unique<gateway::MemoryRecords>(loop);
    return std::make_unique<SessionFolder>(loop, state_directory + "/sessions");
}

}  // namespace patchbay::app
