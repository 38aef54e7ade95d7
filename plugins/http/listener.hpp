// The GET stream of the legacy era: what the server says without being asked. Private to the
// plugin.
//
// Threads: inside a turn of the core.
#pragma once

#include "exchange.hpp"

namespace patchbay::http {

class Listener final : public net::Task {
public:
    explicit Listener(HttpTransport& transport);

    void prepare() override;
    Take head(const net::Head& head) override;
    void whole(std::string&& body) override;
    bool data(std::string_view& bytes) override;
    bool body_may_be_cut() const override { return refusal_.has_value(); }
    void end(const net::Trouble* trouble) override;

private:
    bool comes_back();

    HttpTransport& transport_;
    const std::string session_;
    net::SseParser parser_;
    std::optional<net::Refusal> refusal_;
    bool heard_ = false;
};

}  // namespace patchbay::http
