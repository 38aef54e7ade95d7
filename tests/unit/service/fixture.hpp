// The operations before two servers, "git" and "github", and a configuration that names more.
#pragma once

#include "service/servers.hpp"
#include "unit/router/fixture.hpp"

namespace patchbay::service {

using namespace std::chrono_literals;
namespace json = boost::json;

class ServiceTest : public router::RouterTest {
protected:
    Servers& known() {
        if (!known_) {
            router();
            for (const auto& spec : specs) config.servers.push_back(spec.config);
            known_.emplace(config, *connections, *router_, &*catalogue, "/here");
        }
        return *known_;
    }
    void connect() {
        known();
        bool settled = false;
        connections->connect(caller, {}, [&] { settled = true; });
        ASSERT_TRUE(loop.run_until([&] { return settled; }, core::Clock::now() + 20s));
    }
    void configure_disabled(const std::string& id) {
        config::Server off;
        off.id = id;
        off.enabled = false;
        off.place = {config::Scope::User, "mcp.json", 7, 1};
        config.servers.push_back(off);
    }

    config::Config config;
    std::optional<Servers> known_;
};

}  // namespace patchbay::service
