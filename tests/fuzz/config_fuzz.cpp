// Foreign bytes through every configuration reader, and what they become through restating, merge
// and display: none may crash, throw or run away.
#include "config/load.hpp"
#include "config/merge.hpp"
#include "config/show.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::config;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto format : {Format::Toml, Format::Yaml, Format::Json}) {
        for (const auto scope : {Scope::User, Scope::Enterprise}) {
            std::vector<Fragment> fragments;
            fragments.push_back(read_fragment(text, format, {scope, 0, "/fuzz/input"}));
            fragments.push_back(
                read_fragment(text, format, {Scope::Local, 0, "/fuzz/.vscode/input"}));
            auto config = merge(std::move(fragments));
            check_transports(config, {{"stdio", nullptr}, {"http", nullptr}});
            (void)boost::json::serialize(to_json(config, true));
            Environment environment;
            environment.variable = [](const std::string&) {
                return std::optional<std::string>("x");
            };
            for (const auto& server : config.servers) {
                // ${command:...} would run what the fuzzer finds.
                if (boost::json::serialize(server.settings).find("ommand:") == std::string::npos)
                    (void)expand(server, environment);
            }
        }
    }
    return 0;
}
