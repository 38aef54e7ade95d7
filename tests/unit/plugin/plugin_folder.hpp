// A temporary place for plugins, and the manifests that tests put there.
#pragma once

#include "core/digest.hpp"
#include "support/scratch_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::test {

struct PluginFolder : ScratchFolder {
    PluginFolder() {}  // a const one may be made
    std::string write(const std::string& name, const std::string& text) const {
        const auto path = *this / name;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
};

inline std::string read_file(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// The path of a fixture's library, built by tests/abi/plugins.
inline std::string fixture(const std::string& name) {
    return std::string(PATCHBAY_BUILD_DIR) + "/tests/plugins/" + name + "/libpatchbay_" + name +
           ".so";
}

inline std::string schema_text() {
    return read_file(std::string(PATCHBAY_SOURCE_DIR) + "/tests/abi/plugins/fake.schema.json");
}

struct FakeManifest {
    std::string id = "patchbay.test.fake";
    std::string version = "0.0.1";
    std::string transport = "fake";
    std::string abi = "generation = 0\n";
    std::string library = "lib.so";
    std::string sha256 = std::string(64, '0');
    std::string tail;

    std::string text() const {
        return "manifest = 1\nid = \"" + id + "\"\nversion = \"" + version + "\"\n[abi]\n" + abi +
               "[[provides]]\nkind = \"transport\"\nname = \"" + transport +
               "\"\nconfig_schema = \"fake.schema.json\"\n[library.linux-x86_64-gnu]\npath = \"" +
               library + "\"\nsha256 = \"" + sha256 + "\"\n" + tail;
    }
};

// A folder `name` with the library's bytes, its schema and a manifest with the right hash.
inline std::string install(const PluginFolder& folder, const std::string& name,
                           const std::string& bytes, FakeManifest manifest = {}) {
    folder.write(name + "/lib.so", bytes);
    folder.write(name + "/fake.schema.json", schema_text());
    manifest.sha256 = core::sha256_hex(bytes);
    return folder.write(name + "/plugin.toml", manifest.text());
}
// A fixture with the manifest that its build wrote.
inline void install_built(const PluginFolder& folder, const std::string& name) {
    std::filesystem::copy(std::string(PATCHBAY_BUILD_DIR) + "/tests/plugins/" + name,
                          folder.path() + "/" + name, std::filesystem::copy_options::recursive);
}
inline std::string install_fixture(const PluginFolder& folder, const std::string& name,
                                   FakeManifest manifest = {}) {
    return install(folder, name, read_file(fixture(name)), std::move(manifest));
}

}  // namespace patchbay::test
