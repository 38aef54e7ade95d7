#include "auth/store_file.hpp"

#include "core/descriptor.hpp"
#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace patchbay::auth {
namespace json = boost::json;

namespace {

constexpr int kVersion = 1;
constexpr auto kOthers = core::Others::MayNothing;  // what they can read is no secret any more

using core::Descriptor;

struct Names {  // in the directory
    explicit Names(const StoreFile::Kind& of) : kind(of), now(std::string(of.name) + ".json") {}
    StoreFile::Kind kind;
    std::string now, fresh = now + ".new", previous = now + ".previous",
                     fresh_previous = previous + ".new", damaged = now + ".damaged",
                     writers = std::string(kind.name) + ".lock";
};

json::object nothing(const Names& names) {
    return {{"version", kVersion}, {names.kind.table, json::object()}};
}

Error failed(const std::string& doing, const std::string& path, int number = errno) {
    return {ErrorCode::Io, "cannot " + doing + " " + path + ": " + std::strerror(number)};
}

// Protocol: damaged. Unsupported: written by somebody who knows more.
Result<json::object> parse(const std::string& text, const std::string& path, const char* table) {
    auto parsed = core::parse_json_object(text);
    const Error damaged{ErrorCode::Protocol, path +
                                                 " is damaged: it is not a JSON object with "
                                                 "\"version\" and \"" +
                                                 table + "\""};
    if (!parsed) return damaged;
    auto& file = *parsed;
    const auto* version = file.if_contains("version");
    const auto* records = file.if_contains(table);
    if (!version || !version->is_int64() || !records || !records->is_object()) return damaged;
    if (version->get_int64() != kVersion)
        return Error{ErrorCode::Unsupported,
                     path + " has version " + std::to_string(version->get_int64()) +
                         ", this patchbay reads version 1; it is left as it is, use the patchbay "
                         "that wrote it or move it away"};
    return std::move(file);
}

struct Found {
    std::optional<json::object> file;
    std::optional<Error> error;
    bool there = false;
};

Found find(const Descriptor& directory, const std::string& place, const std::string& name,
           const char* table) {
    Found found;
    auto file = core::open_private_file(directory, place, name.c_str(), kOthers);
    if (!file) {
        found.error = file.error();
        return found;
    }
    if (file->get() < 0) return found;
    found.there = true;
    const auto text = core::read_whole(*file, place + "/" + name, StoreFile::kFileBytes);
    auto parsed =
        text ? parse(*text, place + "/" + name, table) : Result<json::object>(text.error());
    if (parsed)
        found.file = std::move(*parsed);
    else
        found.error = parsed.error();
    return found;
}

// The previous copy stands in for a file that is damaged, never for one that is refused: an older
// sign-in would only hide what somebody has to look at.
Result<StoreFile::Contents> contents_of(const Descriptor& directory, const std::string& place,
                                        const Names& names) {
    auto now = find(directory, place, names.now, names.kind.table);
    if (now.file) return StoreFile::Contents{std::move(*now.file), {}};
    if (now.error && now.error->code != ErrorCode::Protocol) return *now.error;
    if (!now.there) return StoreFile::Contents{nothing(names), {}};
    auto before = find(directory, place, names.previous, names.kind.table);
    if (before.file)
        return StoreFile::Contents{std::move(*before.file),
                                   now.error->message + "; its previous copy is used"};
    return Error{now.error->code, now.error->message +
                                      ", and there is no previous copy; mend it, or move it away "
                                      "and " +
                                      names.kind.again};
}

Result<void> write_fresh(int directory, const std::string& place, const Names& names,
                         const std::string& text) {
    const auto path = place + "/" + names.fresh;
    const auto* fresh = names.fresh.c_str();
    ::unlinkat(directory, fresh, 0);  // of one that was killed
    const Descriptor file(
        ::openat(directory, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return failed("write", path);
    if (!core::write_whole(file.get(), text) || ::fsync(file.get()) != 0)
        return failed("write", path);
    return {};
}

// The file itself is never missing: what stays of it is a second name, then the new one takes its
// place.
Result<void> swap_in(int directory, const std::string& place, const Names& names, bool damaged,
                     bool forget) {
    const auto path = place + "/" + names.now;
    const auto *now = names.now.c_str(), *previous = names.previous.c_str(),
               *fresh_previous = names.fresh_previous.c_str();
    if (damaged) {
        ::unlinkat(directory, names.damaged.c_str(), 0);
        if (::linkat(directory, now, directory, names.damaged.c_str(), 0) != 0)
            return failed("keep a copy of", path);
    }
    ::unlinkat(directory, fresh_previous, 0);
    if (!damaged && !forget && ::linkat(directory, now, directory, fresh_previous, 0) == 0 &&
        ::renameat(directory, fresh_previous, directory, previous) != 0)
        return failed("write", place + "/" + names.previous);
    if (::renameat(directory, names.fresh.c_str(), directory, now) != 0)
        return failed("write", path);
    // What was erased is not to live on in a copy.
    if (forget) ::unlinkat(directory, previous, 0);
    if (::fsync(directory) != 0) return failed("write", place);
    return {};
}

}  // namespace

bool StoreFile::in_keyring(const json::object& record) {
    return core::flag_in(&record, kKeyring).value_or(false);
}

Result<StoreFile::Contents> StoreFile::read() const {
    const Names names(kind_);
    const auto directory = core::open_private_directory(directory_, kOthers, core::Make::No);
    if (!directory) return directory.error();
    if (directory->get() < 0) return Contents{nothing(names), {}};
    return contents_of(*directory, directory_, names);
}

Result<void> StoreFile::replace(const std::string& key, const json::object& record) const {
    const Names names(kind_);
    const auto directory = core::open_private_directory(directory_, kOthers, core::Make::Yes);
    if (!directory) return directory.error();
    const auto turn = core::take_turn(*directory, directory_, names.writers.c_str(), kLockWait);
    if (!turn) return turn.error();
    auto contents = contents_of(*directory, directory_, names);
    if (!contents) return contents.error();
    auto& records = contents->file.at(kind_.table).get_object();
    // Nothing to erase is nothing to write: signing out must work on a full disk too.
    if (record.empty() && !records.contains(key) && contents->warning.empty()) {
        ::unlinkat(directory->get(), names.previous.c_str(),
                   0);  // left by one that was killed while erasing
        return {};
    }
    if (record.empty())
        records.erase(key);
    else
        records[key] = record;
    auto written =
        write_fresh(directory->get(), directory_, names, json::serialize(contents->file) + "\n");
    if (written)
        written = swap_in(directory->get(), directory_, names, !contents->warning.empty(),
                          record.empty());
    if (!written) ::unlinkat(directory->get(), names.fresh.c_str(), 0);
    return written;
}

Result<int> StoreFile::lock_file(const std::string& key) const {
    auto directory = core::open_private_directory(directory_, kOthers, core::Make::Yes);
    if (!directory) return directory.error();
    const auto name = std::string(kind_.name) + "." + core::sha256_hex(key).substr(0, 16) + ".lock";
    const int fd =
        ::openat(directory->get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return failed("write", directory_ + "/" + name);
    return fd;
}

}  // namespace patchbay::auth
