// For a host that nobody sits at.
//
// Threads: [loop].
#pragma once

#include "auth/person.hpp"

#include <cstdint>
#include <string>

namespace patchbay::app {

class NobodyThere final : public auth::Person {
    Presence presence() const override { return Presence::Nobody; }
    void tell(const std::string&) override {}
    std::uint64_t ask(const std::string&, const std::string&, Line) override { return 1; }
    void withdraw(std::uint64_t) override {}
    Result<void> open_browser(const std::string&) override {
        return Error{ErrorCode::Unsupported, "nobody is there"};
    }
};

}  // namespace patchbay::app
