#include "held_calls.hpp"

#include "exchange.hpp"

namespace patchbay::http {

void HeldCalls::add(std::shared_ptr<Exchange> call) {
    bytes_ += call->request.body.size();
    waiting_.push_back(std::move(call));
}

void HeldCalls::release() {
    holding_ = false;
    bytes_ = 0;
    for (auto& call : std::exchange(waiting_, {}))
        if (!call->over()) engine_.start(std::move(call));
}

}  // namespace patchbay::http
