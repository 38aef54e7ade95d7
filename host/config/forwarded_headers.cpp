#include "config/forwarded_headers.hpp"

#include "config/keys.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace patchbay::config {

namespace {

constexpr std::size_t kNameBytes = 256;

// A client's word would be taken for ours, or for that of a proxy between us and the server; or it is
// about its own connection and body.
constexpr std::array<std::string_view, 22> kNever = {
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "last-event-id",
    "origin",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
};
constexpr std::array<std::string_view, 3> kNeverBegins = {"content-", "mcp-", "x-forwarded-"};

bool is_never_forwarded(std::string_view name) {
    return std::find(kNever.begin(), kNever.end(), name) != kNever.end() ||
           std::any_of(kNeverBegins.begin(), kNeverBegins.end(),
                       [&](auto begin) { return name.starts_with(begin); });
}

bool sets(const Server& server, const std::string& name) {
    const auto* value = server.settings.if_contains("headers");
    const auto* headers = value ? value->if_object() : nullptr;
    return headers && std::any_of(headers->begin(), headers->end(), [&](const auto& header) {
               return core::lower(header.key()) == name;
           });
}

}  // namespace

std::string take_forwarded_headers(std::vector<std::string>& target, const Node& value) {
    std::vector<std::string> names;
    if (auto wrong = take_texts(names, value); !wrong.empty()) return wrong;
    target.clear();
    Wrongs wrongs;
    for (const auto& written : names) {
        const auto name = core::lower(written);
        const auto shown = "\"" + core::printable(written, 80) + "\"";
        if (!core::is_token(name) || name.size() > kNameBytes)
            wrongs.add(shown + " cannot be the name of a header");
        else if (is_never_forwarded(name))
            wrongs.add(shown +
                       " never goes on: it is about the client's own connection, or who it is");
        else if (std::find(target.begin(), target.end(), name) == target.end())
            target.push_back(name);
    }
    if (const auto wrong = wrongs.told(); !wrong.empty()) return wrong;
    if (target.size() > kMostForwardedHeaders)
        return "expected at most " + std::to_string(kMostForwardedHeaders) + " names, found " +
               std::to_string(target.size());
    return {};
}

std::string without_vain_headers(Server& server) {
    auto& names = server.forward_headers;
    if (names.empty()) return {};
    if (server.transport != "http" && server.transport != "sse") {
        names.clear();
        return "forward_headers is for the transports http and sse; over " + server.transport +
               " no header reaches the server";
    }
    std::vector<std::string> vain;
    std::erase_if(names, [&](const auto& name) {
        if (!sets(server, name)) return false;
        vain.push_back("\"" + name + "\"");
        return true;
    });
    if (vain.empty()) return {};
    return "forward_headers: " + core::join(vain, ", ") +
           " is set by headers of this server, which a client's may not replace; keep one of them";
}

}  // namespace patchbay::config
