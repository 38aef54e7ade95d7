#include "service/pins.hpp"

#include "core/json.hpp"
#include "service/statuses.hpp"

#include <chrono>

namespace patchbay::service {
namespace json = boost::json;
using pins::Basis;

namespace {

std::string date_of(std::int64_t seconds) {
    return time_of(std::chrono::system_clock::time_point(std::chrono::seconds(seconds)));
}

// As the server wrote it; text where that cannot be read any more.
json::value value_of(const std::string& raw) {
    auto read = core::parse_json(raw);
    return read ? std::move(*read) : json::value(raw);
}

const char* word_of(Basis basis) {
    return basis == Basis::Approved ? "approved" : basis == Basis::Used ? "used" : "seen";
}

}  // namespace

json::object to_json(const pins::Difference& difference) {
    json::object told{{"list", pins::name_of(difference.part)},
                      {"name", difference.name},
                      {"change", pins::name_of(difference.kind)}};
    if (difference.basis) {
        told["was"] = word_of(*difference.basis);
        told["at"] = date_of(difference.at);
    }
    if (difference.text_lost) told["text_lost"] = true;
    auto& fields = told["fields"].emplace_array();
    for (const auto& [at, before, now] : difference.fields) {
        json::object field{{"at", at}};
        if (!before.empty()) field["before"] = value_of(before);
        if (!now.empty()) field["now"] = value_of(now);
        fields.push_back(std::move(field));
    }
    if (difference.more_fields > 0) told["more_fields"] = difference.more_fields;
    return told;
}

json::object to_json(const std::string& server, const std::vector<pins::Difference>& differences) {
    json::object told{{"server", server}};
    auto& all = told["differences"].emplace_array();
    for (const auto& each : differences) all.push_back(to_json(each));
    return told;
}

std::string since(const pins::Difference& difference) {
    if (!difference.basis) return {};
    const auto day = date_of(difference.at).substr(0, 10);
    const auto* what = *difference.basis == Basis::Approved ? "it was approved ("
                       : *difference.basis == Basis::Used   ? "it was first used ("
                                                            : "its server was first used (";
    return std::string("since ") + what + day + ")";
}

}  // namespace patchbay::service
