// Whom a connection serves: every caller of the host, or one alone, who may be named later.
//
// Threads: [loop]. Borrows the callers.
// Source:  decisions/0022-whose-a-connection-is.md.
#pragma once

#include "connection/caller.hpp"

#include <vector>

namespace patchbay::connection {

class Audience {
public:
    enum class Of { Everybody, One };
    Audience(const Callers& callers, Of of) : callers_(callers), of_(of) {}

    void give_to(CallerNumber one) { one_ = one; }

    // Null: it has gone.
    Caller* find(CallerNumber number) const { return callers_.find(number); }
    // The only one that can be meant; null: there is none, or there are several.
    Caller* only() const { return of_ == Of::Everybody ? callers_.only() : callers_.find(one_); }
    std::vector<CallerNumber> numbers() const {  // ascending
        if (of_ == Of::Everybody) return callers_.numbers();
        return one_ ? std::vector{one_} : std::vector<CallerNumber>();
    }

private:
    const Callers& callers_;
    const Of of_;
    CallerNumber one_ = 0;  // of One; 0: nobody yet
};

}  // namespace patchbay::connection
