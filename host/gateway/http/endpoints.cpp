#include "gateway/http/endpoints.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

namespace patchbay::gateway {

namespace {
constexpr std::string_view kBundles = "bundles/";  // below the endpoint
}

std::variant<View, HttpRefusal> Endpoints::at(std::string_view target) const {
    const std::string_view root = kPath;
    const auto path = target.substr(0, target.find('?'));
    if (path == root) return view_;
    const bool below = path.starts_with(root) && path.substr(root.size()).starts_with('/');
    const auto name = below ? path.substr(root.size() + 1) : std::string_view();
    if (name.empty() || !agents_)
        return HttpRefusal{404, std::string("there is nothing here; the MCP endpoint is ") + kPath};
    // What has its own names is no part of what has public ones.
    if (!view_.public_names())
        return HttpRefusal{
            404, "one server alone is served here, and no agents; it is at " + std::string(kPath)};
    const auto view = agents_(std::string(name));
    if (!view && guests_ == Guests::Own) return HttpRefusal{404, view.error().message};
    if (!view) {
        // Which others there are, and what is wrong with one, is for who configured them.
        core::log::info("over HTTP: " + view.error().message);
        const bool bundle = name.starts_with(kBundles);
        const auto shown = core::printable(bundle ? name.substr(kBundles.size()) : name, 80);
        return HttpRefusal{
            404, std::string(bundle ? "no bundle \"" : "no agent \"") + shown + "\" is here"};
    }
    return view_.within(*view);
}

}  // namespace patchbay::gateway
