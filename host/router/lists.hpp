// Lists of what servers have: put together of their pages, and without what is hidden. Internal to
// this room.
//
// Threads: [loop].
#pragma once

#include "router/router.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::router {

// Asks `router` for one page after the other; as Router::list_all.
std::shared_ptr<void> read_all_pages(Router& router, connection::Caller& caller,
                                     const core::Limits& limits, ServerRequest asked,
                                     std::function<void(Result<ListedItems>)> listed);

// The reply to a tools/list with those tools alone of which `shown` is true, by their raw names, and what is to stand
// `in_place` of one; the bytes that came where that is all of them as they are.
using InPlace = std::function<std::optional<boost::json::object>(const std::string&)>;
Result<connection::Reply> with_tools_shown(connection::Reply reply, const std::string& server,
                                           std::size_t most_depth,
                                           const std::function<bool(const std::string&)>& shown,
                                           const InPlace& in_place);

}  // namespace patchbay::router
