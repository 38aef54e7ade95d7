#include "plugin/loading/tables.hpp"

#include "core/text.hpp"
#include "plugin/loading/manifest.hpp"

#include <algorithm>

namespace patchbay::plugin {
namespace {

constexpr std::size_t kMostTables = 64;

std::string too_small(const std::string& table, std::size_t size, std::size_t floor) {
    return "the " + table + " table is " + std::to_string(size) + " bytes, generation " +
           std::to_string(PATCHBAY_ABI_MAJOR) + " starts at " + std::to_string(floor) +
           ": built against another header, rebuild the plugin";
}

std::string shown(const char* text) {
    if (!text) return "nothing";
    std::string quoted = "\"";
    quoted += core::printable(text, 128);
    return quoted += '"';
}

// Name and schema against the manifest; `seen` collects the names.
std::string check_face(const char* kind, const char* name, const char* schema,
                       const PluginInfo& manifest, std::vector<std::string>& seen) {
    const std::string what = std::string(kind) + " table";
    if (!name || !valid_kind_name(name)) return "a " + what + " is named " + shown(name);
    const auto promised = std::find_if(
        manifest.provides.begin(), manifest.provides.end(),
        [&](const Provided& provided) { return provided.kind == kind && provided.name == name; });
    if (promised == manifest.provides.end())
        return std::string(kind) + " \"" + name + "\" is not in the manifest's [[provides]]";
    const auto key = std::string(kind) + " " + name;
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
        return std::string(kind) + " \"" + name + "\" is there twice";
    seen.push_back(key);
    if (promised->schema_text != (schema ? schema : ""))
        return std::string(kind) + " \"" + name +
               "\": config_schema of the library differs from the manifest's schema file";
    return {};
}

std::string check_transport(const patchbay_transport* table, const PluginInfo& manifest,
                            std::vector<std::string>& seen) {
    if (!table) return "a transport table is null";
    if (table->struct_size < kTransportFloor)
        return too_small("transport", table->struct_size, kTransportFloor);
    if (auto why = check_face("transport", table->name, table->config_schema, manifest, seen);
        !why.empty())
        return why;
    const std::pair<const char*, bool> slots[] = {
        {"open", table->open != nullptr},
        {"send", table->send != nullptr},
        {"cancel", table->cancel != nullptr},
        {"resume", table->resume != nullptr},
        {"settle", table->settle || !(table->caps & PATCHBAY_CAP_RESUME)},
        {"set_credentials", table->set_credentials || !(table->caps & PATCHBAY_CAP_CREDENTIALS)},
        {"close", table->close != nullptr},
        {"destroy", table->destroy != nullptr}};
    for (const auto& [slot, there] : slots)
        if (!there) return "transport \"" + std::string(table->name) + "\" has no " + slot;
    return {};
}

std::string check_auth(const patchbay_auth* table, const PluginInfo& manifest,
                       std::vector<std::string>& seen) {
    if (!table) return "an auth table is null";
    if (table->struct_size < kAuthFloor) return too_small("auth", table->struct_size, kAuthFloor);
    if (auto why = check_face("auth", table->name, table->config_schema, manifest, seen);
        !why.empty())
        return why;
    const std::pair<const char*, bool> slots[] = {
        {"create", table->create != nullptr}, {"acquire", table->acquire != nullptr},
        {"cancel", table->cancel != nullptr}, {"forget", table->forget != nullptr},
        {"close", table->close != nullptr},   {"destroy", table->destroy != nullptr}};
    for (const auto& [slot, there] : slots)
        if (!there) return "auth \"" + std::string(table->name) + "\" has no " + slot;
    return {};
}

}  // namespace

std::string why_tables_are_wrong(const patchbay_plugin* plugin, const PluginInfo& manifest) {
    if (!plugin) return "patchbay_plugin_entry_0 returned OK without a plugin table";
    if (plugin->struct_size < kPluginFloor)
        return too_small("plugin", plugin->struct_size, kPluginFloor);
    if (plugin->abi_minor > PATCHBAY_ABI_MINOR)
        return "built for ABI " + std::to_string(PATCHBAY_ABI_MAJOR) + "." +
               std::to_string(plugin->abi_minor) + ", this host speaks " +
               std::to_string(PATCHBAY_ABI_MAJOR) + "." + std::to_string(PATCHBAY_ABI_MINOR);
    if (!plugin->id || manifest.id != plugin->id)
        return "the library says its id is " + shown(plugin->id) + ", the manifest says \"" +
               manifest.id + "\"";
    if (!plugin->version || manifest.version != plugin->version)
        return "the library says its version is " + shown(plugin->version) +
               ", the manifest says \"" + manifest.version + "\"";
    if (plugin->transport_count > kMostTables || plugin->auth_count > kMostTables ||
        (plugin->transport_count && !plugin->transports) || (plugin->auth_count && !plugin->auths))
        return "the plugin table's arrays make no sense";
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < plugin->transport_count; ++i)
        if (auto why = check_transport(plugin->transports[i], manifest, seen); !why.empty())
            return why;
    for (std::size_t i = 0; i < plugin->auth_count; ++i)
        if (auto why = check_auth(plugin->auths[i], manifest, seen); !why.empty()) return why;
    for (const auto& provided : manifest.provides)
        if (std::find(seen.begin(), seen.end(), provided.kind + " " + provided.name) == seen.end())
            return "the manifest promises " + provided.kind + " \"" + provided.name +
                   "\", the library does not have it";
    return {};
}

}  // namespace patchbay::plugin
