// What only a handshake has.
#include "hostile/rows/rows.hpp"

namespace patchbay::hostile::rows {

namespace {

std::string begun(Era era, const std::string& version, const std::string& capabilities) {
    if (era == Era::Modern)
        return "{\"resultType\":\"complete\",\"ttlMs\":60000,\"cacheScope\":\"private\","
               "\"supportedVersions\":" +
               version + ",\"capabilities\":" + capabilities + "}";
    return "{\"protocolVersion\":" + version + ",\"capabilities\":" + capabilities +
           ",\"serverInfo\":{\"name\":\"hostile\",\"version\":\"1\"}}";
}

std::string version(Era era) {
    return era == Era::Modern ? "[\"2026-07-28\"]" : "\"2025-11-25\"";
}

}  // namespace

std::vector<Misbehaviour> beginnings() {
    const auto beginning = [](std::string theirs, std::string capabilities) {
        return [theirs, capabilities](const Asked& asked) {
            return Steps{message(asked.result(
                begun(asked.era, theirs.empty() ? version(asked.era) : theirs, capabilities)))};
        };
    };
    const std::vector<Phase> begin{Phase::Begin};
    return {
        {"VersionBanana", begin,
         [](const Asked& asked) {
             return Steps{message(asked.result(begun(
                 asked.era, asked.era == Era::Modern ? "[\"banana\"]" : "\"banana\"", "{}")))};
         },
         Fate::Fails, "server speaks banana"},
        {"VersionOfWrongTypes", begin, beginning("[7,{\"a\":null}]", "{}")},
        {"CapabilitiesThatAreText", begin, beginning("", "\"all\""), Fate::Fails, "has no tool"},
        {"CapabilitiesOfWrongTypes", begin,
         beginning("", "{\"tools\":7,\"logging\":[],\"resources\":null}"), Fate::Works},
        {"CapabilitiesCrowded", begin,
         [](const Asked& asked) {
             return Steps{message(asked.result(begun(
                 asked.era, version(asked.era), "{\"tools\":{}," + many(9'000, [](std::size_t i) {
                                                    return "\"k" + std::to_string(i) + "\":{}";
                                                }) + "}")))};
         }},
    };
}

}  // namespace patchbay::hostile::rows
