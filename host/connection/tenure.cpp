#include "connection/tenure.hpp"

#include <cassert>

namespace patchbay::connection {

void Tenure::hold() {
    assert(use_ == Use::Spare || use_ == Use::Shared || use_ == Use::Unheld);
    use_ = use_ == Use::Spare ? Use::Own : Use::Shared;
    ++holders_;
}

void Tenure::release() {
    assert(holders_ > 0);
    if (--holders_ > 0) return;
    use_ = use_ == Use::Own ? Use::Leaving : Use::Unheld;
}

void Tenure::expire() {
    assert(use_ == Use::Unheld);
    use_ = Use::Leaving;
}

void Tenure::retire() {
    use_ = Use::Leaving;
    holders_ = 0;
}

const char* name_of(Tenure::Use use) {
    switch (use) {
        case Tenure::Use::Spare:
            return "spare";
        case Tenure::Use::Own:
            return "own";
        case Tenure::Use::Shared:
        case Tenure::Use::Unheld:
            return "shared";
        case Tenure::Use::Leaving:
            return "leaving";
    }
    return "leaving";
}

}  // namespace patchbay::connection
