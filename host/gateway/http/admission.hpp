// Whose a request is that has come through the door, and what of all that is configured it is shown.
//
// Threads: [loop].
// Errors:  an HttpRefusal.
#pragma once

#include "core/principal.hpp"
#include "core/time_source.hpp"
#include "gateway/http/door.hpp"
#include "gateway/http/endpoints.hpp"
#include "gateway/view.hpp"

#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace patchbay::gateway {

struct Guest {
    core::Principal principal;  // id: empty where nobody is told from another
    View view;
    // What it has brought with this request counts until then; none: until it is dismissed.
    std::optional<core::Calendar::time_point> until{};

    // Sessions and requests of one key are of no other.
    std::string key() const { return principal.id + "\n" + view.key(); }
};

class Admission {
public:
    using Admitted = std::variant<Guest, HttpRefusal>;
    virtual ~Admission() = default;
    // At once where that is known; else nothing, and `later` is called once.
    virtual std::optional<Admitted> admit(const http::Request& request,
                                          std::function<void(Admitted)> later) = 0;
};

// Whoever comes through the door is one and the same, and is shown what is at the path it comes to.
class Everybody final : public Admission {
public:
    explicit Everybody(Endpoints endpoints) : endpoints_(std::move(endpoints)) {}
    std::optional<Admitted> admit(const http::Request& request,
                                  std::function<void(Admitted)> later) override;

private:
    const Endpoints endpoints_;
};

}  // namespace patchbay::gateway
