// What the tests of the editors share.
#pragma once

#include "config/edit/edit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace patchbay::config::edit {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A text that was changed, or why not.
inline std::string outcome(const Result<std::string>& result) {
    return result ? *result
                  : std::string(name_of(result.error().code)) + ": " + result.error().message;
}

inline json::value patchbay_entry() {
    return json::object{{"command", "patchbay"}, {"args", json::array{"serve"}}};
}

}  // namespace patchbay::config::edit
