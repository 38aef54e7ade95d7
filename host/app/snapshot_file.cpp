#include "app/snapshot_file.hpp"

#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/private_file.hpp"
#include "core/replace_file.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <cstring>
#include <sys/random.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::int64_t kSnapshotVersion = 1;
constexpr std::size_t kSnapshotDigits = 32, kSaltBytes = 16;
constexpr auto kSnapshotReaders = core::Others::MayNothing;

Result<std::string> fresh_salt() {
    unsigned char bytes[kSaltBytes];
    if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
        return Error{ErrorCode::Io, std::string("no random bytes: ") + std::strerror(errno)};
    return core::hex(bytes);
}

}  // namespace

SnapshotFile::SnapshotFile(const std::string& state_directory, std::string folder)
    : directory_(state_directory + "/snapshots"),
      folder_(std::move(folder)),
      name_(core::sha256_hex(folder_).substr(0, kSnapshotDigits) + ".json"),
      path_(directory_ + "/" + name_) {}

Result<std::optional<registry::Imprint>> SnapshotFile::read() const {
    using Read = std::optional<registry::Imprint>;
    const auto text = core::read_private(directory_, name_, kSnapshotReaders, kFileBytes);
    if (!text) return text.error();
    if (!*text) return Read();
    const std::string remedy = "; move it away and remember again";
    const auto whole = core::parse_json_object(**text);
    if (!whole) return Error{ErrorCode::Protocol, path_ + " " + whole.error().message + remedy};
    const auto version = core::integer_in(&*whole, "version");
    if (version && *version > kSnapshotVersion)
        return Error{ErrorCode::Unsupported, path_ + " was written by a newer patchbay (version " +
                                                 std::to_string(*version) + ", this one knows " +
                                                 std::to_string(kSnapshotVersion) +
                                                 "); use that one, or move the file away"};
    const auto* kept = core::object_in(&*whole, "snapshot");
    if (version != kSnapshotVersion || !kept)
        return Error{ErrorCode::Protocol, path_ + " is no snapshot of patchbay" + remedy};
    auto made = registry::imprint_from(*kept);
    if (!made)
        return Error{ErrorCode::Protocol, path_ + " is damaged: " + made.error().message + remedy};
    return Read(std::move(*made));
}

Result<void> SnapshotFile::remember(const registry::Snapshot& snapshot) const {
    // What cannot be read may be what somebody else still needs.
    if (const auto known = read(); !known) return known.error();
    const auto folder = core::open_private_directory(directory_, kSnapshotReaders, core::Make::Yes);
    if (!folder) return folder.error();
    const auto salt = fresh_salt();
    if (!salt) return salt.error();
    const json::object whole{
        {"version", kSnapshotVersion},
        {"folder", core::printable(folder_, 1000)},
        {"snapshot", registry::to_json(registry::imprint_of(snapshot, *salt))}};
    const auto text = json::serialize(whole) + "\n";
    if (text.size() > kFileBytes)
        return Error{ErrorCode::Limit,
                     path_ + " would be over " + std::to_string(kFileBytes >> 20) + " MiB"};
    return core::replace_file(path_, text, core::Durable::Yes);
}

}  // namespace patchbay::app
