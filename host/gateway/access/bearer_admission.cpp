#include "gateway/access/bearer_admission.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::gateway {

// Which bundles there are, and what is wrong with one, is for who configured them.
Admission::Admitted BearerAdmission::as(const Bearer& bearer, Admitted admitted) const {
    auto* guest = std::get_if<Guest>(&admitted);
    if (!guest) return admitted;
    guest->principal.id = bearer.id;
    guest->principal.name = bearer.name;
    guest->view = guest->view.within(bearer.scope);
    guest->until = bearer.until;
    if (bearer.bundle.empty()) return admitted;
    const auto bundle = bundles_ ? bundles_(bearer.bundle)
                                 : Error{ErrorCode::NotFound, "no bundles are known here"};
    if (!bundle) {
        core::log::info("over HTTP: token \"" + bearer.name + "\": " + bundle.error().message);
        return HttpRefusal{403, "this token is for bundle \"" + core::printable(bearer.bundle, 80) +
                                    "\", which is not here any more or cannot be used; ask who "
                                    "gave the token out"};
    }
    guest->view = guest->view.within(*bundle);
    return admitted;
}

std::optional<Admission::Admitted> BearerAdmission::admit(const http::Request& request,
                                                          std::function<void(Admitted)> later) {
    const auto brought = bearer_of(request);
    if (const auto* none = std::get_if<NoBearer>(&brought))
        return challenge_.refusal(none->error, none->why);
    const auto token = std::get<std::string_view>(brought);
    const auto judge = std::find_if(judges_.begin(), judges_.end(),
                                    [&](const auto* each) { return each->is_its(token); });
    // A right one comes in whatever others at its address have tried.
    if (judge != judges_.end())
        if (const auto bearer = (*judge)->known(token))
            return let_in(*bearer, request, std::move(later));
    const bool at_hand = judge != judges_.end() && (*judge)->is_at_hand(token);
    if (!at_hand && attempts_.too_many(request.peer))
        return HttpRefusal{429, "too many wrong tokens came from here; try again later"};
    if (judge == judges_.end())
        return failed(request.peer, challenge_.refusal(Challenge::Error::InvalidToken,
                                                       "the token is none of ours"));
    // `later` keeps the request.
    (*judge)->look_up(token, [this, &request, later](TokenJudge::Verdict verdict) {
        if (auto* refused = std::get_if<HttpRefusal>(&verdict))
            return later(failed(request.peer, std::move(*refused)));
        if (auto at_once = let_in(std::get<Bearer>(verdict), request, later))
            later(std::move(*at_once));
    });
    return {};
}

std::optional<Admission::Admitted> BearerAdmission::let_in(const Bearer& bearer,
                                                           const http::Request& request,
                                                           std::function<void(Admitted)> later) {
    auto at_once = within_.admit(request, [this, bearer, later](Admitted admitted) {
        later(as(bearer, std::move(admitted)));
    });
    if (!at_once) return {};
    return as(bearer, std::move(*at_once));
}

HttpRefusal BearerAdmission::failed(const std::string& peer, HttpRefusal refused) {
    if (refused.status == 401 && attempts_.note(peer))
        core::log::warn("too many wrong tokens come from " +
                        (peer.empty() ? "the socket" : core::printable(peer, 64)));
    return refused;
}

}  // namespace patchbay::gateway
