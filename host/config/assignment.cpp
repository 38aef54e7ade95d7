#include "config/assignment.hpp"

#include "config/reader.hpp"
#include "config/secret_names.hpp"
#include "config/secret_values.hpp"
#include "core/text.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace patchbay::config {
namespace json = boost::json;

namespace {

Node& leaf(Node& node) {
    return node.members.empty() ? node : leaf(node.members.front().value);
}

void unmark(Node& node) {
    node.mark = {};
    for (auto& item : node.items) unmark(item);
    for (auto& member : node.members) {
        member.mark = {};
        unmark(member.value);
    }
}

Error invalid(std::string why) {
    return {ErrorCode::Invalid, std::move(why)};
}

// Whose values go to programs and servers as they are, where any may be a secret.
bool is_passed_on(std::string_view key) {
    constexpr std::string_view kKeys[] = {"env", "headers", "http_headers", "url", "args", "proxy"};
    return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

bool holds_a_secret(const json::value& value) {
    if (value.is_string())
        return !secret_parts(value.get_string()).empty() || looks_like_a_key(value.get_string());
    if (value.is_array()) {
        const auto& list = value.get_array();
        const auto parts = secret_parts(list);
        return std::any_of(parts.begin(), parts.end(),
                           [](const auto& of) { return !of.empty(); }) ||
               std::any_of(list.begin(), list.end(), holds_a_secret);
    }
    if (!value.is_object()) return false;
    const auto& members = value.get_object();
    return std::any_of(members.begin(), members.end(), [](const auto& member) {
        return is_passed_on(member.key()) || names_a_secret(member.key()) ||
               holds_a_secret(member.value());
    });
}

}  // namespace

Result<Node> parse_assignment(const std::string& set) {
    const auto equals = set.find('=');
    const auto key = set.substr(0, equals);
    if (equals == std::string::npos || key.find_first_of("\n#") != std::string::npos)
        return invalid("\"" + core::printable(key, 80) +
                       "\": expected key=value, like health.misses=3");
    const auto written = set.substr(equals + 1);
    const bool begins_like_toml = written.find_first_of("[{\"'") == 0;
    Parsed parsed;
    if (written.find('\n') == std::string::npos)
        parsed = parse(key + " = " + written, Format::Toml);
    if (begins_like_toml && parsed.problem)
        return invalid(
            core::printable(key, 80) +
            ": what begins with a bracket or a quote must be a whole TOML value, and this "
            "is " +
            parsed.problem->message);
    if (written.find('\n') != std::string::npos || parsed.problem) {
        parsed = parse(key + " = \"\"", Format::Toml);
        if (parsed.problem)
            return invalid("\"" + core::printable(key, 80) +
                           "\" is not a key; expected names joined by dots, like health.misses");
        leaf(parsed.root).text = written;
    }
    unmark(parsed.root);
    return std::move(parsed.root);
}

bool may_hold_a_secret(const std::string& set) {
    const auto parsed = parse_assignment(set);
    return !parsed || holds_a_secret(to_json(*parsed));
}

}  // namespace patchbay::config
