// When two JSON values are the same to a schema, and which of two numbers is greater: 1, 1.0 and 1u
// are one number there, while Boost.JSON tells them apart.
//
// Threads: [value]. Errors: none. Both count one step for every value they look at.
#pragma once

#include <boost/json.hpp>

#include <cstddef>

namespace patchbay::protocol::schema {

// Holds every int64, uint64 and double as it is on the platforms we build for.
long double number_of(const boost::json::value& value);

bool is_multiple(const boost::json::value& value, const boost::json::value& unit);
bool same(const boost::json::value& a, const boost::json::value& b, std::size_t& steps);
// Equal for what is the same.
std::size_t hash_of(const boost::json::value& value, std::size_t& steps);

}  // namespace patchbay::protocol::schema
