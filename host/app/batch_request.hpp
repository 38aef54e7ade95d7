// One line of a batch, parsed: the members that every op shares.
//
// Threads: [value]. Errors: trouble_with() says them; the others take what it let through.
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

struct BatchLine {
    std::string id;  // raw JSON
    const boost::json::object& members;
    std::string_view text;  // as it was written
    std::size_t number;     // from 1
};
std::vector<std::string> known_ops();
std::string name_of_line(std::size_t number);  // `line 3`
// That it cannot be carried out as it stands.
Error wrong_line(std::size_t number, const std::string& why);

// What is wrong with the members that every op shares; empty: nothing.
std::string trouble_with(const boost::json::object& request);
// What is wrong with what its op takes and needs; empty: nothing.
std::string trouble_with_params(const boost::json::object& request);

std::chrono::milliseconds timeout_of(const boost::json::object& request);  // 0: none
// A member of `params`, or of the request itself when there is none; null: it is not there.
const boost::json::value* param_of(const boost::json::object& request, const char* key);

// The same of the line that such a request was read from, as bytes: what is passed on goes out as it
// was written, numbers too that no type here holds. Empty: it is not there.
std::string_view raw_member_of(std::string_view line, std::string_view key);
std::string_view raw_param_of(std::string_view line, std::string_view key);
// `params`, or every member that is not ours when there is none: one object.
std::string raw_params_of(std::string_view line);

}  // namespace patchbay::app
