#include "gateway/http/admission.hpp"

namespace patchbay::gateway {

std::optional<Admission::Admitted> Everybody::admit(const http::Request& request,
                                                    std::function<void(Admitted)>) {
    if (std::string_view(request.target).substr(0, request.target.find('?')) != kPath)
        return HttpRefusal{404, std::string("there is nothing here; the MCP endpoint is ") + kPath};
    return Guest{{core::Principal::Kind::Client, {}, "http", core::Trust::Approves}, view_};
}

}  // namespace patchbay::gateway
