// Whose one connection of a pool is, and when it has to go. Decides, and does nothing: no connection,
// no clock.
//
//   use       event                                            next      the pool
//   Spare     hold: by the caller that takes it                Own
//   Own       release: its caller goes                         Leaving   closes it
//   Shared    hold: by one more                                Shared
//   Shared    release: others hold it still                    Shared
//   Shared    release: of the last                             Unheld    begins the idle time
//   Unheld    hold                                             Shared    ends the idle time
//   Unheld    expire: the idle time is over                    Leaving   closes it
//   any       retire: nobody is to find it any more            Leaving   closes it
//
// Threads: [value]. Errors: none; any other event in that use is a mistake of the pool.
// Source:  decisions/0022-whose-a-connection-is.md.
#pragma once

#include <cstddef>

namespace patchbay::connection {

class Tenure {
public:
    enum class Use { Spare, Own, Shared, Unheld, Leaving };

    static Tenure of_one() { return Tenure(Use::Spare); }
    static Tenure of_all() { return Tenure(Use::Unheld); }

    Use use() const { return use_; }
    std::size_t holders() const { return holders_; }

    void hold();
    void release();
    void expire();
    void retire();

private:
    explicit Tenure(Use use) : use_(use) {}

    Use use_;
    std::size_t holders_ = 0;
};
const char* name_of(Tenure::Use use);  // "spare", "own", "shared"

}  // namespace patchbay::connection
