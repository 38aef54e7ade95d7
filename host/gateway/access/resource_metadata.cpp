#include "gateway/access/resource_metadata.hpp"

#include <boost/json.hpp>

#include <utility>

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

std::string text_of(const WebUrl& resource, const std::vector<std::string>& issuers,
                    const std::vector<std::string>& scopes) {
    json::object metadata{{"resource", resource.origin() + resource.path},
                          {"authorization_servers", json::array(issuers.begin(), issuers.end())},
                          {"bearer_methods_supported", {"header"}},
                          {"resource_name", "Patchbay"}};
    if (!scopes.empty()) metadata["scopes_supported"] = json::array(scopes.begin(), scopes.end());
    return json::serialize(metadata);
}

}  // namespace

ResourceMetadata::ResourceMetadata(Door door, const WebUrl& resource,
                                   const std::vector<std::string>& issuers,
                                   const std::vector<std::string>& scopes, http::Handler& others)
    : door_(std::move(door)),
      path_(resource.path),
      text_(text_of(resource, issuers, scopes)),
      others_(others) {}

// At the root, and below it with the path of the resource, or of a part of it, behind.
bool ResourceMetadata::is_ours(std::string_view path) const {
    if (!path.starts_with(kWellKnown)) return false;
    path.remove_prefix(kWellKnown.size());
    return path.empty() ||
           (path.starts_with(path_) && (path.size() == path_.size() || path[path_.size()] == '/'));
}

void ResourceMetadata::on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) {
    const auto path = std::string_view(request.target).substr(0, request.target.find('?'));
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (!reads || !is_ours(path) || door_.refuses(request))
        return others_.on_request(std::move(exchange), std::move(request));
    exchange->answer(200, {{"Content-Type", "application/json"}, {"Cache-Control", "max-age=300"}},
                     text_);
}

}  // namespace patchbay::gateway
