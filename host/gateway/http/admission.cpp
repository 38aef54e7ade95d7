#include "gateway/http/admission.hpp"

namespace patchbay::gateway {

std::optional<Admission::Admitted> Everybody::admit(const http::Request& request,
                                                    std::function<void(Admitted)>) {
    auto at = endpoints_.at(request.target);
    if (auto* refused = std::get_if<HttpRefusal>(&at)) return std::move(*refused);
    Guest guest;
    guest.principal = {core::Principal::Kind::Client, {}, "http", core::Trust::Approves};
    guest.view = std::get<View>(std::move(at));
    return guest;
}

}  // namespace patchbay::gateway
