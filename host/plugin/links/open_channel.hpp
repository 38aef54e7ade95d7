// What the rooms above have of channels: how one is opened through a loaded plugin's transport
// table, and the table by which it has its requests signed.
#pragma once

#include "plugin/abi.hpp"
#include "plugin/channel.hpp"
#include "plugin/links/instance.hpp"

#include <memory>

namespace patchbay::plugin {

// patchbay.host.sign/1: a link leads to the signer its channel was opened with.
const patchbay_host_sign* sign_table();

// `instance` and `table` live for good; the rest as Catalogue::open() says.
Result<std::unique_ptr<Channel>> open_channel(core::Loop& loop, Instance& instance,
                                              const patchbay_transport& table,
                                              const ChannelOptions& options, ChannelEvents& events);

}  // namespace patchbay::plugin
