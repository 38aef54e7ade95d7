// A foreign C++ plugin whose send throws. PATCHBAY_HOST_CATCHES takes the noexcept out of the slot
// types, as a compiler older than C++17 would.
#include "fake.schema.h"

#include <patchbay/plugin.h>

#include <stdexcept>

struct patchbay_channel {
    const patchbay_sink* sink;
    patchbay_link* link;
};

namespace {

patchbay_status open(const patchbay_open_params* params, patchbay_channel** out, patchbay_error*) {
    *out = new patchbay_channel{params->sink, params->link};
    params->sink->opened(params->link);
    return PATCHBAY_OK;
}
patchbay_status send(patchbay_channel*, const patchbay_message* message) {
    if (message->body.release) message->body.release(message->body.owner);
    throw std::runtime_error("out of cheese");
}
void cancel(patchbay_channel*, std::uint64_t) {}
void resume(patchbay_channel*) {}
void close(patchbay_channel* channel) {
    channel->sink->closed(channel->link, nullptr);
}
void destroy(patchbay_channel* channel) {
    delete channel;
}

const patchbay_transport kTransport = {sizeof(patchbay_transport),
                                       0,
                                       "fake",
                                       fake_schema,
                                       open,
                                       send,
                                       cancel,
                                       resume,
                                       nullptr,
                                       nullptr,
                                       close,
                                       destroy};
const patchbay_transport* const kTransports[] = {&kTransport};
const patchbay_plugin kPlugin = {sizeof(patchbay_plugin),
                                 0,
                                 "patchbay.test.fake",
                                 "0.0.1",
                                 kTransports,
                                 1,
                                 nullptr,
                                 0,
                                 nullptr,
                                 nullptr};

}  // namespace

patchbay_status patchbay_plugin_entry_0(const patchbay_host*, const patchbay_plugin** out,
                                        patchbay_error*) {
    *out = &kPlugin;
    return PATCHBAY_OK;
}
