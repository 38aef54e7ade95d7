#include "net/outgoing.hpp"

#include "ascii.hpp"

namespace patchbay::net {
namespace {

constexpr std::size_t kUsualHead = 512;

void add(std::string& head, std::string_view name, std::string_view value) {
    head += name;
    head += ": ";
    head += value;
    head += "\r\n";
}

}  // namespace

std::string Outgoing::head(std::string_view target, std::string_view host,
                           const HeaderList& secrets, std::string_view proxy_authorization) const {
    std::string head;
    head.reserve(kUsualHead + (body.size() < kUsualHead ? body.size() : 0));
    head += method;
    head += ' ';
    head += target;
    head += " HTTP/1.1\r\n";
    if (!headers.has("host") && !secrets.has("host")) add(head, "Host", host);
    const auto replaced = [this](std::string_view name) {
        return has_body && ascii::same(name, "content-length");
    };
    for (const auto& [name, value] : secrets)
        if (!headers.has(name) && !replaced(name)) add(head, name, value);
    for (const auto& [name, value] : headers)
        if (!replaced(name)) add(head, name, value);
    if (!proxy_authorization.empty()) add(head, "Proxy-Authorization", proxy_authorization);
    if (has_body) add(head, "Content-Length", std::to_string(body.size()));
    return head += "\r\n";
}

}  // namespace patchbay::net
