// The shapes of config/schema/api, for tests that hold real output against them.
//
// Errors: a failure of the test that asked, which names the shape and what is wrong.
#pragma once

#include "protocol/schema.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace patchbay::test {

// Whether `value` has the shape of that name.
inline testing::AssertionResult is_a(const std::string& shape, const boost::json::value& value) {
    std::ostringstream text;
    text << std::ifstream(PATCHBAY_SOURCE_DIR "/config/schema/api/results.schema.json").rdbuf();
    auto document = boost::json::parse(text.str()).as_object();
    if (!document.at("$defs").as_object().contains(shape))
        return testing::AssertionFailure() << "there is no shape \"" << shape << '"';
    document["$ref"] = "#/$defs/" + shape;
    const auto schema = protocol::Schema::compile(document);
    if (!schema) return testing::AssertionFailure() << schema.error().message;
    const auto wrong = schema->validate(value);
    if (wrong.empty()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no \"" << shape << "\": " << wrong.front().pointer << ' '
                                       << wrong.front().message << "\n"
                                       << value;
}

// The same of each item of an array, as verbs print lists.
inline testing::AssertionResult are_all(const std::string& shape, const boost::json::value& list) {
    const auto* items = list.if_array();
    if (!items) return testing::AssertionFailure() << "no array: " << list;
    for (const auto& item : *items)
        if (auto outcome = is_a(shape, item); !outcome) return outcome;
    return testing::AssertionSuccess();
}

}  // namespace patchbay::test
