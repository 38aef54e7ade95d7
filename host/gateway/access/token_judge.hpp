// Who knows of which bearer token whose it is.
//
// Threads: [loop].
#pragma once

#include "core/time_source.hpp"
#include "gateway/access/bearer.hpp"
#include "gateway/view.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace patchbay::gateway {

struct Bearer {
    std::string id;    // of its principal: another one for every other
    std::string name;  // as people know it
    View scope{};      // no more than that is shown
    // The token's end; none: its judge tells of it.
    std::optional<core::Calendar::time_point> until{};
    // Of the configuration, and no more than that one holds; empty: of none.
    std::string bundle{};
};

class TokenJudge {
public:
    using Verdict = std::variant<Bearer, HttpRefusal>;
    virtual ~TokenJudge() = default;

    // By the token's form: it is this one's to judge, be it right or wrong.
    virtual bool is_its(std::string_view token) const = 0;
    // What costs nothing to find out. Nothing: look_up() may know better.
    virtual std::optional<Bearer> known(std::string_view token) = 0;
    // look_up() judges it at once by what is there, and nobody comes nearer to a right one by trying:
    // wrong ones of others do not keep it out.
    virtual bool is_at_hand(std::string_view) const { return false; }
    // `then` is called once, from within or later; not at all once the judge is gone.
    virtual void look_up(std::string_view token, std::function<void(Verdict)> then) = 0;
};

}  // namespace patchbay::gateway
