// Which transport this program drills.
#pragma once

#include "hostile/misbehaviour.hpp"

namespace patchbay::hostile {

extern const Transport kTransport;

}  // namespace patchbay::hostile
