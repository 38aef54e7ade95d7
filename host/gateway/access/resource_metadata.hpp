// What a client that was refused finds out where it gets a token: the metadata of this protected
// resource. Whoever comes through the door may read it.
//
// Owns:    the text. Borrows the handler of all other requests.
// Threads: [loop].
// Source:  RFC 9728 sections 2 and 3; MCP basic/authorization "Authorization Server Discovery".
#pragma once

#include "gateway/access/listening.hpp"
#include "gateway/http/door.hpp"

#include <string>
#include <vector>

namespace patchbay::gateway {

class ResourceMetadata final : public http::Handler {
public:
    static constexpr std::string_view kWellKnown = "/.well-known/oauth-protected-resource";

    ResourceMetadata(Door door, const WebUrl& resource, const std::vector<std::string>& issuers,
                     const std::vector<std::string>& scopes, http::Handler& others);

    // Where it is found.
    static std::string url_of(const WebUrl& resource) {
        return resource.origin() + std::string(kWellKnown) + resource.path;
    }
    void on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) override;

private:
    bool is_ours(std::string_view path) const;

    const Door door_;
    const std::string path_;
    const std::string text_;
    http::Handler& others_;
};

}  // namespace patchbay::gateway
