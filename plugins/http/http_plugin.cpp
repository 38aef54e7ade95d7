#include "http_plugin.hpp"

namespace patchbay::http {
namespace {

FetchService& fetches_of(const patchbay_plugin* plugin) {
    return sdk::mine<HttpPlugin>(plugin).fetches();
}

constexpr patchbay_plugin_http kTable{
    sizeof(patchbay_plugin_http), 0,
    [](const patchbay_plugin* plugin, const patchbay_http_request* request, void* ctx,
       FetchService::Callback done, patchbay_op* out) noexcept {
        return sdk::guarded(nullptr, [&] {
            const auto started = fetches_of(plugin).start(*request, ctx, done);
            if (out) *out = started;
            return patchbay_status{PATCHBAY_OK};
        });
    },
    [](const patchbay_plugin* plugin, patchbay_op op) noexcept {
        sdk::guarded(nullptr, [&] { return fetches_of(plugin).cancel(op), PATCHBAY_OK; });
    }};

}  // namespace

const void* HttpPlugin::extension(std::string_view name) {
    return name == PATCHBAY_PLUGIN_HTTP ? &kTable : nullptr;
}

}  // namespace patchbay::http
