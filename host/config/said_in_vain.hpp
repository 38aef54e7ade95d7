// What people say of a server that has no effect, since an administrator has said otherwise: whoever said
// it would look for the mistake at home.
//
// Threads: [any], pure.
#pragma once

#include "config/compile.hpp"

#include <string>
#include <vector>

namespace patchbay::config {

struct SaidInVain {
    const Source* source;
    Mark mark;
    std::string text;
};

// `turned_off_by`: who spoke of `enabled` last; its entry is null where nobody did.
std::vector<SaidInVain> said_in_vain(const Settled& settled, const Server& server,
                                     const Voice& turned_off_by);

}  // namespace patchbay::config
