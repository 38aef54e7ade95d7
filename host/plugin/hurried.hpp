// Whose programs get less time to end than their servers were promised.
#pragma once

namespace patchbay::plugin {

enum class Hurried {
    Leaving,  // of those that are being stopped already
    All,      // of those too that will be
};

}  // namespace patchbay::plugin
