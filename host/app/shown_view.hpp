// What a client of `serve` is shown, as somebody has picked it with options.
//
// Threads: [value]. Errors: for the person who wrote it, with the option.
#pragma once

#include "app/hello.hpp"
#include "gateway/view.hpp"
#include "service/servers.hpp"

namespace patchbay::app {

Result<gateway::View> view_of(const service::Servers& servers, const Shown& shown);
// What a client that is here is shown by now; nothing, where what it was shown by is gone or turned off.
gateway::View view_by_now(const service::Servers& servers, const Shown& shown);

}  // namespace patchbay::app
