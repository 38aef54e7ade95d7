#include "app/pin_folder.hpp"

#include "core/digest.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kWriters = "writers.lock";
constexpr const char* kPinSuffix = ".json";
// It holds no secret, but what somebody else writes there is what somebody else approved.
constexpr auto kPinReaders = core::Others::MayRead;

Error unusable(const std::string& path, const Error& why) {
    return {why.code,
            path + " " + why.message +
                ": nothing of that server counts as approved; move the file away, and approve "
                "what is there with: patchbay trust ID --tools"};
}

Result<std::optional<pins::Record>> read_file(const std::string& folder, const std::string& file,
                                              pins::Texts texts) {
    const auto text = core::read_private(folder, file, kPinReaders, pins::Record::kMostBytes);
    if (!text) return text.error();
    if (!*text) return std::optional<pins::Record>();
    auto record = pins::from_text(**text, texts);
    if (!record) return unusable(folder + "/" + file, record.error());
    return std::optional(std::move(*record));
}

bool is_approved(const pins::Record& record) {
    return std::any_of(record.pins.begin(), record.pins.end(),
                       [](const auto& each) { return each.second.basis == pins::Basis::Approved; });
}

bool is_record(const fs::directory_entry& file) {
    const auto name = file.path().filename().string();
    return name.size() == core::kSha256Digits + std::string_view(kPinSuffix).size() &&
           name.find_first_not_of("0123456789abcdef") == core::kSha256Digits &&
           name.ends_with(kPinSuffix);
}

// Definitions change, and each has a file. What somebody has decided stays, so that the folder may hold more.
void remove_oldest(const std::string& folder, std::size_t most, const std::string& but) {
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code trouble;
    for (const auto& each : fs::directory_iterator(folder, trouble)) {
        if (!is_record(each) || each.path().filename() == but) continue;
        const auto written = each.last_write_time(trouble);
        if (!trouble) files.emplace_back(written, each.path());
    }
    if (files.size() < most) return;
    std::sort(files.begin(), files.end());
    auto surplus = files.size() + 1 - most;
    for (const auto& [written, file] : files) {
        if (surplus == 0) return;
        const auto record = read_file(folder, file.filename().string(), pins::Texts::LeftOut);
        if (!record || !*record || is_approved(**record))
            continue;  // one that is damaged is somebody's to look at
        if (fs::remove(file, trouble)) --surplus;
    }
}

Result<pins::Record> change_file(const std::string& path, const std::string& file,
                                 const pins::Store::Change& change) {
    const auto folder = core::open_private_directory(path, kPinReaders, core::Make::Yes);
    if (!folder) return folder.error();
    const auto turn = core::take_turn(*folder, path, kWriters, PinFolder::kLockWait);
    if (!turn) return turn.error();
    // Within our turn: what others have approved since must not be written over.
    auto before = read_file(path, file, pins::Texts::Read);
    if (!before) return before.error();
    const bool is_new = !before->has_value();
    auto now = change(before->value_or(pins::Record()));
    if (!now || (!is_new && *now == **before)) return now;
    const auto text = pins::to_text(*now);
    if (text.size() > pins::Record::kMostBytes)
        return Error{ErrorCode::Limit, path + "/" + file + " would be over " +
                                           std::to_string(pins::Record::kMostBytes >> 20) + " MiB"};
    if (auto written = core::replace_file(path + "/" + file, text, core::Durable::Yes); !written)
        return written.error();
    if (is_new) remove_oldest(path, PinFolder::kMostFiles, file);
    return now;
}

}  // namespace

std::string PinFolder::file_of(const pins::Key& key) {
    const auto whose =
        key.project.empty() ? "definition\n" + key.definition : "project\n" + key.project;
    return core::sha256_hex(key.server + "\n" + whose) + kPinSuffix;
}

PinFolder::Stamp PinFolder::stamp_of(const std::string& file) const {
    struct stat about {};
    if (::stat((path_ + "/" + file).c_str(), &about) != 0) return {};
    return {about.st_dev, about.st_ino, about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_size};
}

// Looked at first: what is written in between is read anew the next time.
Result<std::optional<pins::Record>> PinFolder::read(const pins::Key& key, pins::Texts texts) {
    const auto file = file_of(key);
    read_[file] = stamp_of(file);
    return read_file(path_, file, texts);
}

bool PinFolder::is_other(const pins::Key& key) const {
    const auto file = file_of(key);
    const auto known = read_.find(file);
    return known == read_.end() || known->second != stamp_of(file);
}

void PinFolder::change(const pins::Key& key, Change change,
                       std::function<void(Result<pins::Record>)> then) {
    worker_.run(
        [path = path_, file = file_of(key), change = std::move(change)](const std::stop_token&) {
            auto now = change_file(path, file, change);
            if (now)
                for (auto& [name, pin] : now->pins) pin.text.clear();
            return now;
        },
        std::move(then));
}

Result<pins::Record> PinFolder::change_now(const pins::Key& key, const Change& change) {
    return change_file(path_, file_of(key), change);
}

Result<bool> PinFolder::remove(const pins::Key& key) {
    const auto folder = core::open_private_directory(path_, kPinReaders, core::Make::No);
    if (!folder) return folder.error();
    if (folder->get() < 0) return false;
    const auto turn = core::take_turn(*folder, path_, kWriters, kLockWait);
    if (!turn) return turn.error();
    const auto file = file_of(key);
    if (::unlinkat(folder->get(), file.c_str(), 0) == 0) return true;
    if (errno == ENOENT) return false;
    return Error{ErrorCode::Io, path_ + "/" + file + ": " + std::generic_category().message(errno)};
}

}  // namespace patchbay::app
