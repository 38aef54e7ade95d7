// A plugin's manifest: who it is, what it provides and needs, and which file with which hash it is,
// all known before a byte of the library is mapped. The format is told in sdk/ABI.md.
//
// Threads: [value]. Door to toml++, as config/toml_reader.cpp is for the config room: neither room
//          may include the other.
// Errors:  Invalid, with file:line:column. Unknown keys are warnings, a manifest from the future
//          may have more of them.
#pragma once

#include "core/result.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugin {

inline constexpr std::size_t kManifestBytes = 256u << 10;
inline constexpr std::size_t kSchemaFileBytes = 256u << 10;

struct Manifest {
    struct Provides {
        std::string kind;  // "transport" | "auth"
        std::string name;
        std::string schema_file;  // relative to the manifest; empty: no settings
        bool local = false;       // a transport whose servers are programs of this machine
    };
    std::string id, name, version, license;
    unsigned generation = 0, minor = 0;
    std::vector<std::string> requires_extensions, wants_extensions;
    std::vector<Provides> provides;
    std::string library, sha256;  // for the platform asked for
    std::map<std::string, bool> grants;
    std::string isolation = "either";  // "either" | "process" | "in-process"
    bool has_servers = false;
    std::vector<std::string> warnings;
};

// The platform tag of this build: "linux-x86_64-gnu".
std::string_view this_platform();

// `path` is for messages only.
Result<Manifest> parse_manifest(std::string_view text, const std::string& path,
                                std::string_view platform = this_platform());

// Lower-case letters, digits, '_' and '-', starting with a letter.
bool valid_kind_name(std::string_view name);

}  // namespace patchbay::plugin
