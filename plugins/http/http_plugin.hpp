// What one host has of the http plugin: threads for its channels, and the client it lends.
//
// Threads: made and destroyed on the loop; the client is called as services.h says.
#pragma once

#include "fetch_service.hpp"
#include "net/workers.hpp"

namespace patchbay::http {

class HttpPlugin final : public net::ThreadedPlugin {
public:
    explicit HttpPlugin(const patchbay_host* host)
        : ThreadedPlugin(host), fetches_(host, workers()) {}

    const void* extension(std::string_view name) override;
    FetchService& fetches() { return fetches_; }

private:
    FetchService fetches_;
};

}  // namespace patchbay::http
