// Which plugins there are, where each was found or why it was refused, and the transports and auth
// methods they provide. Manifests are read first; a library is mapped on first use and never
// unmapped.
//
// Owns:    manifests, and the use of loaded libraries: those themselves and the host services
//          handed to them stay for the life of the process, for the next catalogue. Borrows `loop`,
//          which must outlive it; its channels must be gone before it.
// Threads: [loop]. Reading, hashing and mapping a library is done on other threads by
//          prepare_transport() and prepare_auth(); only entry is called on the loop.
// Errors:  a plugin that cannot be used is a visible state in list(), with a reason; others go on.
#pragma once

#include "core/loop.hpp"
#include "plugin/authenticator.hpp"
#include "plugin/channel.hpp"
#include "plugin/hurried.hpp"
#include "plugin/loading/claim.hpp"
#include "plugin/services/http_get.hpp"
#include "plugin/sign_in.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::plugin {

struct SearchPlace {
    std::string
        kind;  // "--plugin-dir", "PATCHBAY_PLUGIN_PATH", "config", "user", "system", "built-in"
    std::string directory;
};

// In the order of sdk/ABI.md, "Where plugins are found, and what is refused".
struct SearchOptions {
    std::vector<std::string> flag_directories;    // --plugin-dir
    std::vector<std::string> config_directories;  // [plugins] directories
    std::vector<std::string> disabled;            // plugin ids
    bool built_in = true;
    // What a user says counts for nothing: neither the flag, nor the variable, nor the user's own
    // directory is looked at.
    bool users_excluded = false;
};
std::vector<SearchPlace> search_places(const SearchOptions& options);

enum class PluginState { Available, Loaded, Refused, Shadowed, Disabled, Misbehaved };
const char* name_of(PluginState state);

struct Provided {
    std::string kind;  // "transport" | "auth"
    std::string name;
    std::string schema_text;
    bool local = false;  // its servers are programs of this machine
};

struct PluginInfo {
    std::string id, name, version, license;
    std::string manifest_path, library_path, sha256;
    SearchPlace place;
    PluginState state = PluginState::Available;
    std::string reason;  // for every state but Available and Loaded
    std::vector<Provided> provides;
    std::vector<std::string> requires_extensions, wants_extensions;
    std::map<std::string, bool> grants;
    bool has_servers = false;  // the manifest brings [servers.*]
};

// One thing that was looked at, in order; for `plugin doctor`.
struct Looked {
    SearchPlace place;
    std::string path;     // directory or manifest
    std::string finding;  // "not there", "ok: stdio 0.1.0", or the refusal
    bool ok = true;
};

// How a library comes to be mapped: empty is claim_resident(); tests have a slow one. [any]
using MapLibrary = std::function<Result<Claim>(const PluginInfo&)>;

class Catalogue {
public:
    // What `sign_in` points to must outlive the catalogue.
    Catalogue(core::Loop& loop, SearchOptions options, SignIn sign_in = {}, MapLibrary map = {});
    // Shuts loaded plugins down, and waits for a library that is being mapped; they stay mapped.
    ~Catalogue();
    Catalogue(const Catalogue&) = delete;

    const std::vector<PluginInfo>& list() const;
    // Refuses what could not be loaded: reads every library, runs none.
    void verify();
    const std::vector<Looked>& looked() const;
    // By plugin id or by the name of something it provides. NotFound offers the nearest.
    Result<PluginInfo> info(std::string_view name) const;

    // Names of the transports, and of the auth methods, of usable plugins, sorted.
    std::vector<std::string> transports() const;
    std::vector<std::string> auth_methods() const;
    Result<std::string> schema_of(std::string_view transport) const;
    // Servers of that transport are programs of this machine, as its manifest says.
    bool is_local(std::string_view transport) const;
    Result<std::string> auth_schema_of(std::string_view method) const;

    // Loads the plugin that provides it, so that open() and create_authenticator() need not.
    // `ready` is called once, from within the call where there is nothing to load, and otherwise
    // from the loop; never when the catalogue is gone by then.
    using Ready = std::function<void(Result<void>)>;
    void prepare_transport(std::string_view transport, Ready ready);
    void prepare_auth(std::string_view method, Ready ready);

    // Opens a channel. `events` must outlive the channel. A plugin that nobody has prepared is
    // loaded within the call, which waits for the disk.
    Result<std::unique_ptr<Channel>> open(std::string_view transport, ChannelOptions options,
                                          ChannelEvents& events);
    // Makes an authenticator; the same holds. `events` must outlive it.
    Result<std::unique_ptr<Authenticator>> create_authenticator(std::string_view method,
                                                                const AuthenticatorOptions& options,
                                                                AuthenticatorEvents& events);
    // What the host itself wants to read, by the plugin that provides transport "http", which is
    // loaded for it. `then` is called once, in a later turn; never when the catalogue is gone by then.
    void get(const HttpGet& wanted, Got then);
    // Servers' processes get at most this time at each step of their end; Leaving: those only whose
    // channel is being closed already.
    void hurry(Hurried whom, std::chrono::milliseconds most);
    // Like open() without the channel: errors of loading, for `plugin doctor --load`.
    Result<PluginInfo> load(std::string_view plugin_id);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace patchbay::plugin
