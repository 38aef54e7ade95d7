#include "gateway/access/bearer.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace patchbay::gateway {

namespace {

constexpr std::size_t kMostTokenBytes = 8u << 10;

bool is_token68(std::string_view text) {
    const auto padding = std::min(text.find('='), text.size());
    if (padding == 0 || text.substr(padding).find_first_not_of('=') != text.npos) return false;
    return std::all_of(
        text.begin(), text.begin() + static_cast<std::ptrdiff_t>(padding), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   std::string_view("-._~+/").find(c) != std::string_view::npos;
        });
}

// Also where a letter of the name is written as %61: nobody says it so who means something else.
bool says_token(std::string_view query) {
    const auto plain = [&] {
        std::string out;
        for (std::size_t i = 0; i < query.size(); ++i) {
            const auto digit = [&](std::size_t at) {
                const auto place =
                    at < query.size()
                        ? std::string_view("0123456789abcdef").find(core::lower(query[at]))
                        : std::string_view::npos;
                return place == std::string_view::npos ? -1 : static_cast<int>(place);
            };
            if (query[i] == '%' && digit(i + 1) >= 0 && digit(i + 2) >= 0) {
                out += static_cast<char>(16 * digit(i + 1) + digit(i + 2));
                i += 2;
            } else {
                out += query[i];
            }
        }
        return "&" + core::lower(out);
    }();
    return plain.find("&access_token=") != plain.npos;
}

const char* code_of(Challenge::Error error) {
    switch (error) {
        case Challenge::Error::InvalidRequest:
            return "invalid_request";
        case Challenge::Error::InvalidToken:
            return "invalid_token";
        case Challenge::Error::InsufficientScope:
            return "insufficient_scope";
        case Challenge::Error::None:
            break;
    }
    return "";
}

unsigned status_of(Challenge::Error error) {
    if (error == Challenge::Error::InvalidRequest) return 400;
    return error == Challenge::Error::InsufficientScope ? 403 : 401;
}

}  // namespace

HttpRefusal Challenge::refusal(Error error, std::string_view why) const {
    std::string value = "Bearer realm=\"patchbay\"";
    const auto add = [&](const char* name, std::string_view text) {
        if (!text.empty()) value.append(", ").append(name).append("=\"").append(text).append("\"");
    };
    add("error", code_of(error));
    // A request without a token is told nothing of errors (RFC 6750 section 3.1).
    if (error != Error::None) add("error_description", why);
    add("resource_metadata", resource_metadata);
    add("scope", scope);
    HttpRefusal refused{status_of(error), std::string(why)};
    refused.headers = {{"WWW-Authenticate", value}, {"Cache-Control", "no-store"}};
    return refused;
}

std::variant<std::string_view, NoBearer> bearer_of(const http::Request& request) {
    using Error = Challenge::Error;
    const std::string_view target = request.target;
    if (const auto query = target.find('?');
        query != target.npos && says_token(target.substr(query + 1)))
        return NoBearer{Error::InvalidRequest,
                        "a token in a URL is not taken; send it as Authorization: Bearer TOKEN"};
    const auto count = request.count("authorization");
    if (count > 1) return NoBearer{Error::InvalidRequest, "a request has one Authorization header"};
    if (count == 0)
        return NoBearer{Error::None, "a token is needed, sent as Authorization: Bearer TOKEN"};
    const auto value = core::trimmed(*request.header("authorization"));
    const auto space = std::min(value.find_first_of(" \t"), value.size());
    if (core::lower(value.substr(0, space)) != "bearer")
        return NoBearer{Error::None, "a token is needed, sent as Authorization: Bearer TOKEN"};
    const auto token = core::trimmed(value.substr(space));
    if (token.size() > kMostTokenBytes)
        return NoBearer{Error::InvalidToken, "the token is too long for any of ours"};
    if (!is_token68(token))
        return NoBearer{Error::InvalidRequest, "the Authorization header holds no token"};
    return token;
}

}  // namespace patchbay::gateway
