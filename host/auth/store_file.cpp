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

constexpr const char* kName = "mcp-auth.json";
constexpr const char* kFresh = "mcp-auth.json.new";
constexpr const char* kPrevious = "mcp-auth.json.previous";
constexpr const char* kFreshPrevious = "mcp-auth.json.previous.new";
constexpr const char* kDamaged = "mcp-auth.json.damaged";
constexpr const char* kWriters = "mcp-auth.lock";
constexpr int kVersion = 1;
constexpr auto kOthers = core::Others::MayNothing;  // what they can read is no secret any more

using core::Descriptor;

Error failed(const std::string& doing, const std::string& path, int number = errno) {
    return {ErrorCode::Io, "cannot " + doing + " " + path + ": " + std::strerror(number)};
}

// Protocol: damaged. Unsupported: written by somebody who knows more.
Result<json::object> parse(const std::string& text, const std::string& path) {
    auto parsed = core::parse_json_object(text);
    const Error damaged{ErrorCode::Protocol, path +
                                                 " is damaged: it is not a JSON object with "
                                                 "\"version\" and \"servers\""};
    if (!parsed) return damaged;
    auto& file = *parsed;
    const auto* version = file.if_contains("version");
    const auto* servers = file.if_contains("servers");
    if (!version || !version->is_int64() || !servers || !servers->is_object()) return damaged;
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

Found find(const Descriptor& directory, const std::string& place, const char* name) {
    Found found;
    auto file = core::open_private_file(directory, place, name, kOthers);
    if (!file) {
        found.error = file.error();
        return found;
    }
    if (file->get() < 0) return found;
    found.there = true;
    const auto text = core::read_whole(*file, place + "/" + name, StoreFile::kFileBytes);
    auto parsed = text ? parse(*text, place + "/" + name) : Result<json::object>(text.error());
    if (parsed)
        found.file = std::move(*parsed);
    else
        found.error = parsed.error();
    return found;
}

// The previous copy stands in for a file that is damaged, never for one that is refused: an older
// sign-in would only hide what somebody has to look at.
Result<StoreFile::Contents> contents_of(const Descriptor& directory, const std::string& place) {
    auto now = find(directory, place, kName);
    if (now.file) return StoreFile::Contents{std::move(*now.file), {}};
    if (now.error && now.error->code != ErrorCode::Protocol) return *now.error;
    if (!now.there)
        return StoreFile::Contents{{{"version", kVersion}, {"servers", json::object()}}, {}};
    auto before = find(directory, place, kPrevious);
    if (before.file)
        return StoreFile::Contents{std::move(*before.file),
                                   now.error->message + "; its previous copy is used"};
    return Error{now.error->code, now.error->message +
                                      ", and there is no previous copy; mend it, or move it away "
                                      "and sign in again"};
}

Result<void> write_fresh(int directory, const std::string& place, const std::string& text) {
    const auto path = place + "/" + kFresh;
    ::unlinkat(directory, kFresh, 0);  // of one that was killed
    const Descriptor file(
        ::openat(directory, kFresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return failed("write", path);
    if (!core::write_whole(file.get(), text) || ::fsync(file.get()) != 0)
        return failed("write", path);
    return {};
}

// The file itself is never missing: what stays of it is a second name, then the new one takes its
// place.
Result<void> swap_in(int directory, const std::string& place, bool damaged, bool forget) {
    const auto path = place + "/" + kName;
    if (damaged) {
        ::unlinkat(directory, kDamaged, 0);
        if (::linkat(directory, kName, directory, kDamaged, 0) != 0)
            return failed("keep a copy of", path);
    }
    ::unlinkat(directory, kFreshPrevious, 0);
    if (!damaged && !forget && ::linkat(directory, kName, directory, kFreshPrevious, 0) == 0 &&
        ::renameat(directory, kFreshPrevious, directory, kPrevious) != 0)
        return failed("write", place + "/" + kPrevious);
    if (::renameat(directory, kFresh, directory, kName) != 0) return failed("write", path);
    // What was erased is not to live on in a copy.
    if (forget) ::unlinkat(directory, kPrevious, 0);
    if (::fsync(directory) != 0) return failed("write", place);
    return {};
}

}  // namespace

Result<StoreFile::Contents> StoreFile::read() const {
    const auto directory = core::open_private_directory(directory_, kOthers, core::Make::No);
    if (!directory) return directory.error();
    if (directory->get() < 0)
        return Contents{{{"version", kVersion}, {"servers", json::object()}}, {}};
    return contents_of(*directory, directory_);
}

Result<void> StoreFile::replace(const std::string& server, const json::object& record) const {
    const auto directory = core::open_private_directory(directory_, kOthers, core::Make::Yes);
    if (!directory) return directory.error();
    const auto turn = core::take_turn(*directory, directory_, kWriters, kLockWait);
    if (!turn) return turn.error();
    auto contents = contents_of(*directory, directory_);
    if (!contents) return contents.error();
    auto& servers = contents->file.at("servers").get_object();
    // Nothing to erase is nothing to write: signing out must work on a full disk too.
    if (record.empty() && !servers.contains(server) && contents->warning.empty()) {
        ::unlinkat(directory->get(), kPrevious, 0);  // left by one that was killed while erasing
        return {};
    }
    if (record.empty())
        servers.erase(server);
    else
        servers[server] = record;
    auto written =
        write_fresh(directory->get(), directory_, json::serialize(contents->file) + "\n");
    if (written)
        written = swap_in(directory->get(), directory_, !contents->warning.empty(), record.empty());
    if (!written) ::unlinkat(directory->get(), kFresh, 0);
    return written;
}

Result<int> StoreFile::lock_file(const std::string& server) const {
    auto directory = core::open_private_directory(directory_, kOthers, core::Make::Yes);
    if (!directory) return directory.error();
    const auto name = "mcp-auth." + core::sha256_hex(server).substr(0, 16) + ".lock";
    const int fd =
        ::openat(directory->get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return failed("write", directory_ + "/" + name);
    return fd;
}

}  // namespace patchbay::auth
