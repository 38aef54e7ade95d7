#include "app/meeting_point.hpp"

#include "app/host.hpp"
#include "app/service_unit.hpp"
#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/private_file.hpp"
#include "core/text.hpp"
#include "service/statuses.hpp"

#include <boost/json.hpp>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr std::size_t kHolderBytes = 64u << 10;
constexpr std::size_t kKeyDigits = 32;
constexpr int kBacklog = 1'024;         // commands that come while the host is in one long turn
constexpr std::size_t kFoldersUp = 64;  // a link that leads round would go on for ever

// The base directory specification asks for one that is the user's alone.
bool is_private(const std::string& directory) {
    struct stat info {};
    return directory.starts_with('/') && ::lstat(directory.c_str(), &info) == 0 &&
           S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 0077) == 0;
}

// By way of the open folder: whatever stands at its path by now, and however long that is.
sockaddr_un address_in(const core::Descriptor& folder, const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = "/proc/self/fd/" + std::to_string(folder.get()) + "/" + name;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

std::vector<std::string> absolute(const std::vector<std::string>& paths,
                                  const std::string& folder) {
    std::vector<std::string> whole;
    for (const auto& path : paths)
        whole.push_back((std::filesystem::path(folder) / path).lexically_normal().string());
    return whole;
}

}  // namespace

std::string runtime_folder(const config::Environment& environment) {
    const auto given = environment.variable("XDG_RUNTIME_DIR").value_or("");
    if (is_private(given)) return given + "/patchbay";
    return default_state_directory(environment) + "/run";
}

std::string meeting_key(const config::Environment& environment,
                        const std::vector<std::string>& plugin_directories,
                        const std::string& started_in) {
    const auto& folder = environment.working_directory;
    // Whatever decides which files are read, as it was said: the files may change under a host that runs.
    json::array said{json::value(started_in.empty() ? folder : started_in),
                     environment.home,
                     environment.config_home,
                     environment.enterprise_directory,
                     default_state_directory(environment),
                     core::array_of(absolute(environment.config_files, folder)),
                     core::array_of(environment.sets),
                     core::array_of(absolute(plugin_directories, folder))};
    for (const char* name : {"PATCHBAY_CONFIG", "PATCHBAY_CONFIG_JSON", "PATCHBAY_PLUGIN_PATH",
                             "XDG_DATA_HOME", "XDG_DATA_DIRS"})
        said.emplace_back(json::value(environment.variable(name).value_or("")));
    return core::sha256_hex(json::serialize(said)).substr(0, kKeyDigits);
}

std::vector<std::string> meeting_folders(const config::Environment& environment) {
    std::vector<std::string> folders{environment.working_directory};
    auto at = std::filesystem::path(environment.working_directory);
    for (; at.has_relative_path() && folders.size() < kFoldersUp; at = at.parent_path())
        folders.push_back(at.parent_path().string());
    return folders;
}

std::string to_text(const Holder& holder) {
    json::object members{{"pid", holder.pid}, {"since", holder.since}, {"folder", holder.folder}};
    if (holder.ending) members["ending"] = true;
    return json::serialize(members);
}

Result<Holder> parse_holder(std::string_view text) {
    const auto value = core::parse_json(text);
    const auto* object = value ? value->if_object() : nullptr;
    const auto* pid = object ? object->if_contains("pid") : nullptr;
    if (!pid || !pid->is_int64() || pid->get_int64() < 1 || pid->get_int64() > 1 << 30)
        return Error{ErrorCode::Invalid, "it does not say who holds it"};
    return Holder{static_cast<int>(pid->get_int64()),
                  core::printable(core::text_in(object, "since").value_or(""), 100),
                  core::printable(core::text_in(object, "folder").value_or(""), 1000),
                  core::flag_in(object, "ending") == true};
}

bool Seat::write_holder() const {
    const auto text = to_text(holder_);
    return ::ftruncate(lock_.get(), 0) == 0 &&
           ::pwrite(lock_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

void Seat::give_up() {
    if (socket_.get() < 0) return;
    holder_.ending = true;
    static_cast<void>(write_holder());  // without it whoever waits for us has to look again
    struct stat now {};
    // One that systemd made stays its own; another number is the socket of somebody who came after us.
    const bool is_ours = !is_handed_over_ &&
                         ::fstatat(folder_.get(), name_.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 &&
                         now.st_ino == file_;
    if (is_ours) ::unlinkat(folder_.get(), name_.c_str(), 0);
    socket_.close();
}

Result<Holder> MeetingPoint::read_holder(const core::Descriptor& folder) const {
    const auto file =
        core::open_private_file(folder, folder_, lock_name(), core::Others::MayNothing);
    if (!file) return file.error();
    const auto text = core::read_whole(*file, lock_name(), kHolderBytes);
    return text ? parse_holder(*text) : Result<Holder>(text.error());
}

Error MeetingPoint::taken(const core::Descriptor& folder) const {
    const std::string told = "a host runs for this configuration already";
    const auto holder = read_holder(folder);  // it may not have come to write it
    if (!holder) return {ErrorCode::Invalid, told + "; it has just begun"};
    return {ErrorCode::Invalid, told + ": pid " + std::to_string(holder->pid) + ", since " +
                                    holder->since + ", in " + holder->folder + "; `kill " +
                                    std::to_string(holder->pid) + "` ends it"};
}

Result<std::optional<Holder>> MeetingPoint::holder() const {
    using Found = std::optional<Holder>;
    const auto folder =
        core::open_private_directory(folder_, core::Others::MayNothing, core::Make::No);
    if (!folder) return folder.error();
    if (folder->get() < 0) return Found();
    const auto file =
        core::open_private_file(*folder, folder_, lock_name(), core::Others::MayNothing);
    if (!file) return file.error();
    if (file->get() < 0) return Found();
    const auto lock = core::take_turn(*folder, folder_, lock_name(), std::chrono::milliseconds(0));
    if (lock) return Found();
    if (lock.error().code != ErrorCode::Timeout) return lock.error();
    auto holder = read_holder(*folder);
    if (!holder) return holder.error();
    return Found(std::move(*holder));
}

// With the lock nobody else can be listening: what a killed one left may go.
Result<Seat> MeetingPoint::take(const std::string& working_folder,
                                std::vector<HandedOver> handed_over,
                                const std::function<void(const Holder&)>& waits) const {
    auto folder = core::open_private_directory(folder_, core::Others::MayNothing, core::Make::Yes);
    if (!folder) return folder.error();
    auto lock = take_lock(*folder, waits);
    if (!lock && lock.error().code == ErrorCode::Timeout) return taken(*folder);
    if (!lock) return lock.error();
    Seat seat(std::move(*folder), std::move(*lock),
              {::getpid(), service::time_of(std::chrono::system_clock::now()), working_folder},
              socket_name(), path());
    if (!seat.write_holder()) return core::io_failure("write", folder_ + "/" + lock_name());
    for (auto& each : handed_over) {
        if (each.path != path()) continue;
        seat.socket_ = std::move(each.socket);
        seat.is_handed_over_ = true;
        return seat;
    }
    if (!handed_over.empty())
        return Error{ErrorCode::Invalid,
                     "systemd hands over a socket at " +
                         core::printable(handed_over.front().path, 200) + ", and this host's is " +
                         path() +
                         "; its units are of another folder or configuration: `patchbay service "
                         "install` writes them anew"};
    if (auto silent = check_silence(seat, working_folder); !silent) return silent.error();
    if (auto listens = seat.listen(); !listens) return listens.error();
    return seat;
}

Result<core::Descriptor> MeetingPoint::take_lock(
    const core::Descriptor& folder, const std::function<void(const Holder&)>& waits) const {
    auto lock = core::take_turn(folder, folder_, lock_name(), std::chrono::milliseconds(0));
    if (lock || lock.error().code != ErrorCode::Timeout) return lock;
    const auto holder = read_holder(folder);
    // One that stays is not waited for; one that is ending lets go of its lock soon.
    if (!holder || !holder->ending) return lock;
    if (waits) waits(*holder);
    return core::take_turn(folder, folder_, lock_name(), kEnding);
}

// With the lock no host can: to take away what systemd listens at would leave it deaf until it is started anew.
Result<void> MeetingPoint::check_silence(const Seat& seat,
                                         const std::string& working_folder) const {
    const core::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto address = address_in(seat.folder_, seat.name_);
    const bool connected =
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (!connected && errno != EAGAIN) return {};  // EAGAIN: more wait there than it takes
    const auto unit = unit_name(working_folder, key_);
    return Error{ErrorCode::Invalid,
                 "systemd listens at " + path() + ", and starts the host with the first command: " +
                     "`systemctl --user start " + unit + ".service` starts it now, and " +
                     "`systemctl --user stop " + unit + ".socket` has systemd listen no more"};
}

// What cleans up temporary folders takes it after weeks, and nobody would find the host any more.
bool Seat::was_lost() const {
    struct stat info {};
    return !is_handed_over_ &&
           ::fstatat(folder_.get(), name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 &&
           errno == ENOENT;
}

Result<void> Seat::listen() {
    if (::unlinkat(folder_.get(), name_.c_str(), 0) != 0 && errno != ENOENT)
        return core::io_failure("replace", path());
    core::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto address = address_in(folder_, name_);
    if (socket.get() < 0 ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return core::io_failure("listen on", path());
    socket_ = std::move(socket);
    struct stat info {};
    // Nobody can connect before it is listened on.
    if (::fchmodat(folder_.get(), name_.c_str(), 0600, 0) != 0 ||
        ::listen(socket_.get(), kBacklog) != 0 ||
        ::fstatat(folder_.get(), name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
        return core::io_failure("listen on", path());
    file_ = info.st_ino;
    return {};
}

Result<core::Descriptor> MeetingPoint::connect() const {
    const auto folder =
        core::open_private_directory(folder_, core::Others::MayNothing, core::Make::No);
    if (!folder) return folder.error();
    if (folder->get() < 0) return core::Descriptor();
    core::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto address = address_in(*folder, socket_name());
    if (socket.get() < 0) return core::io_failure("make a socket for", path());
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        // Nobody listens behind what a killed one left.
        if (errno == ENOENT || errno == ECONNREFUSED) return core::Descriptor();
        return core::io_failure("connect to", path());
    }
    if (const auto stranger = stranger_at(socket.get()); !stranger.empty())
        return Error{ErrorCode::Denied, path() + ": " + stranger};
    return socket;
}

std::string stranger_at(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return std::string("who is there cannot be told: ") + std::strerror(errno);
    if (peer.uid == ::geteuid()) return {};
    return "a process of user " + std::to_string(peer.uid) + " is there, not of yours (" +
           std::to_string(::geteuid()) + ")";
}

}  // namespace patchbay::app
