// For work that is put off and may be due when its owner is gone: then it does nothing.
//
// Owns:    the token that guarded work looks at. Declared last, it goes first.
// Threads: [loop].
#pragma once

#include <memory>
#include <utility>

namespace patchbay::core {

class Lifetime {
public:
    Lifetime() = default;
    Lifetime(const Lifetime&) = delete;

    template <class Work>
    auto guard(Work work) const {
        return [alive = std::weak_ptr<const int>(token_),
                work = std::move(work)](auto&&... arguments) mutable {
            if (!alive.expired()) work(std::forward<decltype(arguments)>(arguments)...);
        };
    }
    // To ask in the middle of something that may have ended the owner.
    std::weak_ptr<const int> watch() const { return token_; }
    // Nothing that is guarded happens from now on.
    void end() { token_.reset(); }

private:
    std::shared_ptr<const int> token_ = std::make_shared<int>();
};

}  // namespace patchbay::core
