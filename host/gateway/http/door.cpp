#include "gateway/http/door.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace patchbay::gateway {

namespace {

// Of "host", "host:80" and "[::1]:80"; empty where it is none of them.
std::string_view host_of(std::string_view authority) {
    const auto end = authority.starts_with('[') ? authority.find(']') : std::string_view::npos;
    const auto colon = authority.find(':', end == std::string_view::npos ? 0 : end);
    const auto port = colon == std::string_view::npos ? "" : authority.substr(colon + 1);
    if (port.find_first_not_of("0123456789") != std::string_view::npos) return {};
    return authority.substr(0, colon);
}

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return core::lower(x) == y; });
}

}  // namespace

bool Door::is_ours(std::string_view authority) const {
    const auto host = host_of(authority);
    for (const auto* each : {"localhost", "127.0.0.1", "[::1]"})
        if (same_name(host, each)) return true;
    for (const auto& each : names_)
        if (same_name(host, each)) return true;
    // Of any address there is no page and no name.
    return !address_.host.empty() && !address_.any() &&
           (host == address_.host || host == "[" + address_.host + "]");
}

std::optional<HttpRefusal> Door::refuses(const http::Request& request) const {
    const auto* host = request.header("host");
    if (address_.path.empty() && (!host || !is_ours(*host)))
        return HttpRefusal{
            403, "this is no server of the host \"" + core::printable(host ? *host : "", 200) +
                     "\"; it is reached as " +
                     (names_.empty() ? "localhost, 127.0.0.1 and [::1]" : names_.front()) +
                     ", and by each other name that --allow-host says"};
    const auto* origin = request.header("origin");
    if (!origin) return {};
    std::string_view page = *origin;
    const auto scheme = page.find("://");
    const bool web = scheme != std::string_view::npos &&
                     (page.substr(0, scheme) == "http" || page.substr(0, scheme) == "https");
    const bool named = std::find(origins_.begin(), origins_.end(), page) != origins_.end();
    if (request.count("origin") == 1 && (named || (web && is_ours(page.substr(scheme + 3)))))
        return {};
    return HttpRefusal{403, "pages of \"" + core::printable(*origin, 200) +
                                "\" may not come here; --allow-origin says whose may"};
}

}  // namespace patchbay::gateway
