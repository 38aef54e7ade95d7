#include "service/plugins.hpp"

#include "support/result_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::service {
namespace {

using plugin::PluginState;

TEST(PluginAsJson, HasItsShapeInEveryState) {
    plugin::PluginInfo info;
    info.id = "dev.patchbay.stdio";
    info.provides = {{"transport", "stdio", "{}"}};
    info.grants = {{"process", true}};
    info.place.kind = "built-in";
    for (const auto state :
         {PluginState::Available, PluginState::Loaded, PluginState::Refused, PluginState::Shadowed,
          PluginState::Disabled, PluginState::Misbehaved}) {
        info.state = state;
        EXPECT_TRUE(test::is_a("plugin", to_json(info)));
    }
    EXPECT_THAT(provided(info), ::testing::ElementsAre("transport stdio"));
}

TEST(PluginAsJson, WhatWasFoundHasItsShape) {
    EXPECT_TRUE(
        test::is_a("plugin_finding",
                   to_json(plugin::Looked{{"user", "/p"}, "/p/x.toml", "not there", false})));
}

}  // namespace
}  // namespace patchbay::service
