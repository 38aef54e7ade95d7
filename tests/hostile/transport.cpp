#include "hostile/transport.hpp"

namespace patchbay::hostile {

const Transport kTransport = Transport::PATCHBAY_DRILL;

}  // namespace patchbay::hostile
