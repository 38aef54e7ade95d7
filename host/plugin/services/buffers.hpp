// patchbay.host.buffers/1: blocks that a plugin reads into and hands over without a copy. Power of
// two sizes, a bounded number of each kept for the next taker, 64 readable bytes behind the end.
//
// Owns:    the kept blocks, for the life of the process.
// Threads: [any].
#pragma once

#include "plugin/abi.hpp"

namespace patchbay::plugin {

inline constexpr std::size_t kBufferPadding = 64;
inline constexpr std::size_t kLargestBuffer = 128u << 20;

const patchbay_host_buffers* buffers_table();

}  // namespace patchbay::plugin
