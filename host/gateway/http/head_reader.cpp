#include "gateway/http/head_reader.hpp"

#include "core/text.hpp"
#include "protocol/trace_context.hpp"

#include <algorithm>

namespace patchbay::gateway {

namespace {

// Of several fields of a name the list that they are together (RFC 9110 section 5.3).
std::string joined_values(const http::Request& request, std::string_view name) {
    std::string all;
    bool any = false;
    for (const auto& [key, value] : request.headers)
        if (key == name) all += (std::exchange(any, true) ? ", " : "") + value;
    return all;
}

bool can_be_sent(std::string_view value) {
    return core::trimmed(value) == value &&
           std::all_of(value.begin(), value.end(),
                       [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

// What the client's own connection is about ends here (RFC 9110 section 7.6.1).
bool is_of_the_connection(const http::Request& request, std::string_view name) {
    const auto listed = core::lower(joined_values(request, "connection"));
    for (std::size_t begin = 0; begin < listed.size();) {
        const auto end = std::min(listed.find(',', begin), listed.size());
        if (core::trimmed(std::string_view(listed).substr(begin, end - begin)) == name) return true;
        begin = end + 1;
    }
    return false;
}

}  // namespace

std::variant<CarriedHead, HttpRefusal> read_carried_head(const http::Request& request,
                                                         const std::vector<std::string>& names) {
    CarriedHead carried;
    if (request.count("traceparent") == 1)
        carried.trace = protocol::trace_members(*request.header("traceparent"),
                                                joined_values(request, "tracestate"));
    std::vector<protocol::MessageHeader> found;
    std::size_t bytes = 0;
    for (const auto& name : names) {
        if (!request.header(name) || is_of_the_connection(request, name)) continue;
        auto value = joined_values(request, name);
        if (!can_be_sent(value))
            return HttpRefusal{400, "the value of the header " + name + " cannot be sent on"};
        bytes += name.size() + value.size();
        if (bytes > kForwardedBytes)
            return HttpRefusal{431, "the headers that go on to servers are over " +
                                        std::to_string(kForwardedBytes) + " bytes"};
        found.push_back({name, std::move(value)});
    }
    if (!found.empty())
        carried.headers =
            std::make_shared<const std::vector<protocol::MessageHeader>>(std::move(found));
    return carried;
}

}  // namespace patchbay::gateway
