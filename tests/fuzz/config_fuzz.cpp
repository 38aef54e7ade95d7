// Foreign bytes through every configuration reader, and what they become through restating, merge
// and display: none may crash, throw or run away. The same as PATCHBAY_CONFIG_JSON and as --set.
#include "config/load.hpp"
#include "config/merge.hpp"
#include "config/show.hpp"
#include "fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace patchbay::config;

// No files but those that the input names.
void load_as_words(std::string_view text) {
    Environment environment;
    environment.working_directory = environment.home = environment.config_home =
        environment.enterprise_directory = "/nonexistent";
    environment.sets = {std::string(text.substr(0, text.find('\n')))};
    environment.variable = [&](const std::string& name) {
        return name == "PATCHBAY_CONFIG_JSON" ? std::optional<std::string>(text) : std::nullopt;
    };
    const auto loaded = load(environment);
    (void)boost::json::serialize(to_json(loaded.config, true));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    load_as_words(text);
    for (const auto format : {Format::Toml, Format::Yaml, Format::Json}) {
        if (const auto parsed = parse(text, format); !parsed.problem) {
            boost::json::parse_options options;
            options.max_depth = kFileDepth;
            boost::json::error_code failed;
            boost::json::parse(boost::json::serialize(to_json(parsed.root)), failed, {}, options);
            FUZZ_REQUIRE(!failed);
        }
        for (const auto scope : {Scope::User, Scope::Project, Scope::Enterprise}) {
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
