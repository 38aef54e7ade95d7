// What a person types after `call NAME`, as the arguments of that tool.
//
// Threads: the calling one. Errors: Invalid, with what was expected; Limit over kArgumentBytes.
#pragma once

#include "core/limits.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

constexpr std::size_t kArgumentBytes = 16u << 20;

// One JSON value and nothing after it; `name` says in an error where the text is from, with the
// byte. As deep as a message may be, which is deeper than Boost.JSON goes by itself, and with as many
// values as its writer likes, who is this user. An object with a repeated key is refused: which of the
// two was meant is not for us to guess.
Result<boost::json::value> parse_json(std::string_view text, const std::string& name,
                                      std::size_t depth = core::Limits().json_depth);

// An object as it was read and as it was written. What was written is what goes out: many a number is
// more than any type here holds.
struct Arguments {
    boost::json::object values;
    std::string text = "{}";
};

// The object that --args means: JSON itself, @FILE, or - for stdin; {} when `given` is empty.
// Blocks on stdin, so it is asked before signals become events of a loop that is not yet run.
Result<Arguments> read_arguments(const std::string& given);

// `pairs` on top of `arguments`: key=value typed by the schema, key:=JSON as it stands. The whole
// is checked against the schema then, unless its server's `check_arguments` says otherwise.
enum class Check { Yes, No };
Result<Arguments> with_pairs(Arguments arguments, const std::vector<std::string>& pairs,
                             const boost::json::value& schema, Check check = Check::Yes);

// Which of the two was meant is not for us to guess.
Error given_twice(const std::string& key);

// `key=value` cut in two; the value is a string whatever it looks like.
Result<std::pair<std::string, std::string>> key_and_value(const std::string& pair);

}  // namespace patchbay::app
