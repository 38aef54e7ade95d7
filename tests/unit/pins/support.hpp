// Tools, and what is listed of them, for tests of pins.
#pragma once

#include "pins/listed.hpp"
#include "protocol/tool.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace patchbay::pins {

namespace json = boost::json;

inline std::vector<protocol::Tool> tools_in(const json::array& tools) {
    auto page = protocol::parse_tool_page(json::serialize(json::object{{"tools", tools}}), {});
    EXPECT_TRUE(page);
    return page ? std::move(page->tools) : std::vector<protocol::Tool>();
}

inline catalogue::Listing listing_of(const json::array& tools, std::string instructions = {}) {
    return {"definition", tools_in(tools), true, std::move(instructions)};
}

inline std::string public_name_at_x(const std::string& tool) {
    return "mcp__x__" + tool;
}

inline Listed listed_of(const json::array& tools, std::string instructions = {}) {
    const auto listing = listing_of(tools, std::move(instructions));
    return listed_of(&listing, {}, public_name_at_x);
}

}  // namespace patchbay::pins
