// That somebody has said yes to one request: to that tool, or server, as it was described then, with those arguments, for a
// while and once. Internal to this room.
//
// Threads: [value].
// Errors:  Denied: it covers something else, or nothing any more; the request goes nowhere.
// Limits:  kLifetime from the moment that it was given.
#pragma once

#include "core/result.hpp"
#include "core/time_source.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::router {

class Receipt {
public:
    static constexpr std::chrono::minutes kLifetime{10};

    // `what`: the public name, for messages. `definition`: as Approvable has it. `arguments`: their digest.
    Receipt(std::string what, std::string definition, std::string arguments,
            core::Clock::time_point given);
    // Of raw arguments, in whatever order their members stand.
    static std::string digest_of(std::string_view arguments);

    // Takes it, for the one request that it is for; nothing: it covers that.
    std::optional<Error> redeem(std::string_view definition, std::string_view arguments,
                                core::Clock::time_point now);
    // The same request goes out once more, as no server had it, or the one that had it has done nothing.
    std::optional<Error> cover_again(std::string_view definition,
                                     core::Clock::time_point now) const;

private:
    std::optional<Error> refuses(std::string_view definition, core::Clock::time_point now) const;

    std::string what_, definition_, arguments_;
    core::Clock::time_point until_;
    bool redeemed_ = false;
};

}  // namespace patchbay::router
