#include "app/trust_file.hpp"

#include "core/descriptor.hpp"
#include "core/json.hpp"
#include "core/private_directory.hpp"
#include "core/replace_file.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

using core::Descriptor;

constexpr int kVersion = 1;
constexpr std::chrono::milliseconds kLockPause{2};

Error failed(const std::string& doing, const std::string& path, int number = errno) {
    return {ErrorCode::Io, "cannot " + doing + " " + path + ": " + std::strerror(number)};
}

// A record that somebody else can write says what somebody else approved.
Result<void> check_ours(int fd, const std::string& path) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return failed("look at", path);
    if (info.st_uid != ::geteuid())
        return Error{ErrorCode::Denied, path + " belongs to user " + std::to_string(info.st_uid) +
                                            ", not to you; move it away"};
    if ((info.st_mode & 0022) != 0)
        return Error{ErrorCode::Denied,
                     path + " can be written by others; look at it, then run: chmod go-w " + path};
    return {};
}

Result<std::string> text_of(int fd, const std::string& path) {
    std::string text;
    char block[16384];
    for (;;) {
        const auto got = ::read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed("read", path);
        if (got == 0) return text;
        text.append(block, static_cast<std::size_t>(got));
        if (text.size() > TrustFile::kFileBytes)
            return Error{ErrorCode::Limit, path + " is larger than 4 MiB; move it away"};
    }
}

// The projects of the record; none when there is no file.
Result<json::object> read_projects(const std::string& directory, const std::string& path) {
    const Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0 && errno == ENOENT) return json::object();
    if (folder.get() < 0) return failed("open", directory);
    if (auto ours = check_ours(folder.get(), directory); !ours) return ours.error();
    const Descriptor file(
        ::openat(folder.get(), "trust.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0 && errno == ENOENT) return json::object();
    if (file.get() < 0) return failed("open", path);
    if (auto ours = check_ours(file.get(), path); !ours) return ours.error();
    const auto text = text_of(file.get(), path);
    if (!text) return text.error();
    const auto whole = core::parse_json_object(*text);
    const auto* version = whole ? whole->if_contains("version") : nullptr;
    const auto* projects = core::object_in(whole ? &*whole : nullptr, "projects");
    if (!version || *version != kVersion || !projects)
        return Error{ErrorCode::Protocol,
                     path +
                         " is damaged, or of another patchbay: nothing is approved; move it "
                         "away and approve again"};
    return *projects;
}

Result<Descriptor> lock_writers(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return failed("write", path);
    const auto deadline = std::chrono::steady_clock::now() + TrustFile::kLockWait;
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return failed("lock", path);
        if (std::chrono::steady_clock::now() > deadline)
            return Error{ErrorCode::Timeout, "another process holds " + path + " for more than " +
                                                 core::duration(TrustFile::kLockWait)};
        std::this_thread::sleep_for(kLockPause);
    }
    return file;
}

}  // namespace

const json::object& TrustFile::projects() const {
    if (projects_) return *projects_;
    auto read = directory_.empty() ? Result<json::object>(json::object())
                                   : read_projects(directory_, path());
    if (!read) trouble_ = read.error().message;
    projects_ = read ? std::move(*read) : json::object();
    return *projects_;
}

std::string TrustFile::trouble() const {
    projects();
    return trouble_;
}

bool TrustFile::approved(const config::Proposal& proposal) const {
    const auto* project = projects().if_contains(proposal.directory);
    if (!project || !project->is_object()) return false;
    const auto* digest = project->get_object().if_contains(proposal.id);
    return digest && digest->is_string() &&
           std::string_view(digest->get_string()) == proposal.digest;
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
    if (directory_.empty())
        return Error{ErrorCode::Unsupported, "there is no state directory to keep approvals in"};
    if (!core::make_private_directory(directory_)) return failed("make", directory_);
    const auto turn = lock_writers(directory_ + "/trust.lock");
    if (!turn) return turn.error();
    auto now = read_projects(directory_, path());
    if (!now) return now.error();
    if (auto changed = change(*now); !changed) return changed;
    const json::object file{{"version", kVersion}, {"projects", *now}};
    auto written = core::replace_file(path(), json::serialize(file) + "\n", core::Durable::Yes);
    if (written) projects_ = std::move(*now);
    return written;
}

Result<void> TrustFile::approve(const std::vector<config::Proposal>& proposals) {
    return change([&](json::object& projects) -> Result<void> {
        for (const auto& proposal : proposals) {
            auto& project = projects[proposal.directory];
            if (!project.is_object()) project.emplace_object();
            project.get_object()[proposal.id] = proposal.digest;
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
            return Error{ErrorCode::NotFound,
                         "\"" + core::printable(id, 80) + "\" is not approved in " +
                             core::printable(project, 1000) + "; approved: " +
                             (known.empty() ? "nothing" : core::join(known, ", ")) +
                             core::did_you_mean(id, known)};
        }
        if (found && found->is_object() && found->get_object().empty()) projects.erase(project);
        return {};
    });
}

}  // namespace patchbay::app
