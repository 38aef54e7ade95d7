// A server's name, as messages about it carry it.
//
// Threads: [value].
#pragma once

#include "core/result.hpp"

#include <string>
#include <utility>

namespace patchbay::connection {

class ServerName {
public:
    explicit ServerName(std::string id) : id_(std::move(id)), told_("server \"" + id_ + "\"") {}

    const std::string& id() const { return id_; }
    // `server "x": ...`; what comes from below may have named it already.
    Error named(Error error) const {
        if (error.message.find(told_) != std::string::npos) return error;
        return within(told_, std::move(error));
    }
    // `server "x" is failed: why`, where `why` may have named it already.
    std::string in_state(const std::string& state, const std::string& why) const {
        return told_ + " is " + state + ": " + why.substr(length_in(why));
    }
    std::string before(const std::string& text) const { return told_ + ": " + text; }
    // What named() put before it; 0: nothing.
    std::size_t length_in(const std::string& message) const {
        return message.rfind(told_ + ": ", 0) == 0 ? told_.size() + 2 : 0;
    }

private:
    std::string id_, told_;
};

}  // namespace patchbay::connection
