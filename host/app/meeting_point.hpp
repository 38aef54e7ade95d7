// Where the commands of a user find the host that runs for their configuration: in a folder that is that
// user's alone, by a key, a lock and a Unix socket. The key is made of everything that says which files are
// read, and of the folder that servers are started in; what the files say is not in it.
//
//   $XDG_RUNTIME_DIR/patchbay/<key>.lock    {"pid":1,"since":"...","folder":"/srv/app"}, locked while it runs
//                             <key>.sock    0600
//
// Without a private XDG_RUNTIME_DIR it is `run` in the state directory.
//
// Owns:    the folder's descriptor; a Seat the lock, the socket and its file, which goes with it. The file of
//          the lock stays: another one in its place would be a second lock.
// Threads: [any].
// Errors:  Denied: others can reach what is there; Invalid: somebody else runs, or systemd listens; Io: the system's reason.
// Source:  decisions/0040-a-host-that-stays.md.
#pragma once

#include "app/handed_over.hpp"
#include "config/load.hpp"
#include "core/descriptor.hpp"
#include "core/private_file.hpp"
#include "core/result.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace patchbay::app {

std::string runtime_folder(const config::Environment& environment);
// `folder`: where the host was started; empty: the working folder.
std::string meeting_key(const config::Environment& environment,
                        const std::vector<std::string>& plugin_directories,
                        const std::string& folder = {});
// Where a host may have been started that a command in the working folder could ask: there, and above.
std::vector<std::string> meeting_folders(const config::Environment& environment);

// What the lock says of who holds it.
struct Holder {
    int pid = 0;
    std::string since, folder;
    bool ending = false;  // nobody finds it any more, and what is in flight has its last time
};
std::string to_text(const Holder& holder);
Result<Holder> parse_holder(std::string_view text);

class Seat {
public:
    Seat(Seat&&) noexcept = default;
    Seat& operator=(Seat&&) = delete;
    ~Seat() { give_up(); }

    int socket() const { return socket_.get(); }  // listening, non-blocking
    const std::string& path() const { return path_; }
    // Whether the socket's file is gone: nobody finds the host then.
    bool was_lost() const;
    // At a new socket. Who has come over the one before stays.
    Result<void> listen();
    // Nobody comes any more; at a socket of systemd's they wait for the next host.
    void give_up();

private:
    friend class MeetingPoint;
    Seat(core::Descriptor folder, core::Descriptor lock, Holder holder, std::string name,
         std::string path)
        : folder_(std::move(folder)),
          lock_(std::move(lock)),
          holder_(std::move(holder)),
          name_(std::move(name)),
          path_(std::move(path)) {}

    bool write_holder() const;

    core::Descriptor folder_, lock_, socket_;
    Holder holder_;
    std::string name_, path_;
    bool is_handed_over_ = false;  // the socket: its file is not ours to take away
    ino_t file_ = 0;  // that was made for it; another one in its place is systemd's by now
};

class MeetingPoint {
public:
    MeetingPoint(std::string folder, std::string key)
        : folder_(std::move(folder)), key_(std::move(key)) {}

    // The host's place; Invalid says who has it. `handed_over`: sockets of systemd's, of which one is to be at
    // path(), and is listened on then. Who is ending is waited for, kEnding at most, and told to `waits` before.
    static constexpr std::chrono::seconds kEnding{30};
    Result<Seat> take(const std::string& working_folder, std::vector<HandedOver> handed_over = {},
                      const std::function<void(const Holder&)>& waits = {}) const;
    // Who has it; nothing: nobody.
    Result<std::optional<Holder>> holder() const;
    // A connection to the host, non-blocking, whose other side is this user's process. -1: nobody runs.
    Result<core::Descriptor> connect() const;
    std::string path() const { return folder_ + "/" + socket_name(); }

private:
    std::string socket_name() const { return key_ + ".sock"; }
    std::string lock_name() const { return key_ + ".lock"; }
    Error taken(const core::Descriptor& folder) const;
    Result<Holder> read_holder(const core::Descriptor& folder) const;
    Result<void> check_silence(const Seat& seat, const std::string& working_folder) const;
    Result<core::Descriptor> take_lock(const core::Descriptor& folder,
                                       const std::function<void(const Holder&)>& waits) const;

    std::string folder_, key_;
};

// Whose process is on the other side of a connected Unix socket is not ours; empty: it is.
std::string stranger_at(int socket);

}  // namespace patchbay::app
