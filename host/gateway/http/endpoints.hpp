// Which view of all that is configured is at which path: at /mcp that of this gateway, at /mcp/AGENT
// what of it that agent is shown.
//
// Threads: [loop]: the configuration may be another one at the next request.
// Errors:  an HttpRefusal of 404 that says why; of an agent to Strangers no more than that it is not here.
#pragma once

#include "core/result.hpp"
#include "gateway/http/door.hpp"
#include "gateway/view.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <variant>

namespace patchbay::gateway {

class Endpoints {
public:
    static constexpr const char* kPath = "/mcp";
    using FindAgent = std::function<Result<View>(const std::string& name)>;

    // Who comes: programs of who configured all this, or whoever has a token.
    enum class Guests { Own, Strangers };

    Endpoints() = default;
    // Without `agents` there are none.
    explicit Endpoints(View view, FindAgent agents = {}, Guests guests = Guests::Own)
        : view_(std::move(view)), agents_(std::move(agents)), guests_(guests) {}

    // `target`: of a request, with its query.
    std::variant<View, HttpRefusal> at(std::string_view target) const;

private:
    const View view_{};
    const FindAgent agents_{};
    const Guests guests_ = Guests::Own;
};

}  // namespace patchbay::gateway
