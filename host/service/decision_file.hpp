// What was answered, for longer than a session, to what a rule wanted approved: `decisions.json` in the state directory.
//
//   {"version":1,"decisions":[{"server":"git","tool":"push","level":"allow-project","project":"/home/me/p",
//                              "for":"terminal","by":"person","when":"2026-07-28T09:00:00Z",
//                              "definition":"<digest> <digest>"}]}
//
// `tool` is the server's own name of it; of what is no call `request` stands in its place, with the method. `definition`:
// the server as it was configured then, and the tool as it was described. An answer counts for whom it was given:
// what is typed at a terminal for commands, what a client's user says for clients that come as that one did.
//
// Owns:    what was read last, as long as the file is the same one. Threads: [loop]; blocks for the disk. Writers of all
//          processes take turns by a lock on decisions.lock. Whoever is killed while writing leaves the old file or
//          the new one.
// Errors:  a record that others can write, that makes no sense or that another version has written answers nothing, and
//          is not written over: Denied, Protocol.
// Limits:  kFileBytes, kMost; a writer waits kLockWait for the others.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace patchbay::service {

struct Decision {
    std::string server;  // id
    std::string tool;    // the server's own name of it; empty: `request`
    std::string request;
    config::Level level = config::Level::AllowAlways;
    std::string project;  // of AllowProject: the folder
    std::string subject;  // for whom it counts: "terminal", "client"
    std::string by, when;
    std::string definition;
};
// As the file has it, and as two processes of one version tell each other. Nothing: it makes no sense.
boost::json::object decision_text(const Decision& decision);
std::optional<Decision> parse_decision(const boost::json::value& text);

class DecisionFile {
public:
    static constexpr std::size_t kFileBytes = 8u << 20;
    static constexpr std::size_t kMost = 10'000;
    static constexpr std::chrono::seconds kLockWait{10};

    // `directory`: the state directory; made, 0700, when it is needed. Empty: keeps nothing.
    explicit DecisionFile(std::string directory) : directory_(std::move(directory)) {}

    bool can_keep() const { return !directory_.empty(); }
    // As they stand on disk now; empty, too, where there is no such file. Good until the next call.
    Result<const std::vector<Decision>*> all();
    // In place of the one for the same. On disk when it returns.
    Result<void> keep(Decision decision);
    // How many were there that are gone now.
    Result<std::size_t> forget(const std::function<bool(const Decision&)>& these);

    std::string path() const { return directory_ + "/decisions.json"; }

private:
    using Change = std::function<Result<void>(std::vector<Decision>& all)>;
    Result<void> change(const Change& change);

    // Another one when the file may say something else.
    using Stamp = std::tuple<unsigned long, unsigned long, long long, long long, long long>;
    Stamp stamp() const;

    std::string directory_;
    std::vector<Decision> read_;
    Stamp read_at_{};
    bool has_read_ = false;
};

}  // namespace patchbay::service
