// What clients of the modern era know their tasks by: SERVER:SEAL:ID, where ID is what its server calls it.
// They have no session that could remember which ones are theirs, and may keep a name for longer than this
// process lives. So the name says itself whose it is.
//
// Threads: [value].
// Errors:  open() gives nothing for what was not made for this client, by this key.
// Source:  SEP-2663 "Security Implications", Auth binding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace patchbay::gateway {

class TaskNames {
public:
    struct Task {
        std::string server, id;
        bool operator==(const Task&) const = default;
    };

    // As those of RequestStates.
    explicit TaskNames(std::string key = {}, std::string whose = {});

    std::string make(const Task& task) const;
    std::optional<Task> open(std::string_view name) const;

private:
    std::string seal_of(const Task& task) const;

    const std::string key_, whose_;
};

}  // namespace patchbay::gateway
