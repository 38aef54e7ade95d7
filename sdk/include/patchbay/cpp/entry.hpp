// patchbay/cpp/entry.hpp - the one function that a plugin exports, for C++17. Header only, std only.
//
//   constexpr auto kEcho = patchbay::sdk::transport_table<Echo>("echo", echo_schema, 0);
//   constexpr auto kLibrary = patchbay::sdk::Library<>("dev.example.echo", "0.1.0")
//                                 .provides(kEcho)
//                                 .needs(PATCHBAY_HOST_REACTOR);
//   PATCHBAY_PLUGIN_ENTRY(kLibrary)
//
// What all channels of one host share is a class of yours that derives from Plugin, and
// Library<Yours>: entry makes one for each host, shutdown destroys it, plugin_of<Yours>(params)
// finds it in open() and create().
#ifndef PATCHBAY_CPP_ENTRY_HPP
#define PATCHBAY_CPP_ENTRY_HPP

#include "plugin.hpp"

namespace patchbay::sdk {

// What one host has of a library.
class Plugin : public patchbay_plugin {
public:
    explicit Plugin(const patchbay_host* host) : patchbay_plugin{}, host_(host) {}
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;
    virtual ~Plugin() = default;  // shutdown: no channel and no authenticator is left

    // A table of the plugin's own, or null. [any]
    virtual const void* extension(std::string_view name) {
        (void)name;
        return nullptr;
    }
    const patchbay_host* host() const { return host_; }

private:
    const patchbay_host* const host_;
};

// What Library<Mine> has made, from what the host hands back.
template <class Mine>
Mine& mine(const patchbay_plugin* plugin) {
    return const_cast<Mine&>(static_cast<const Mine&>(*plugin));  // it was made without const
}
// `params`: patchbay_open_params or patchbay_auth_params.
template <class Mine, class Params>
Mine& plugin_of(const Params& params) {
    return mine<Mine>(params.plugin);
}

// What a library says of itself. Lives in static storage, as do the tables it provides.
template <class Mine = Plugin>
class Library {
public:
    constexpr Library(const char* id, const char* version) : id_(id), version_(version) {}

    constexpr Library provides(const patchbay_transport& table) const {
        auto more = *this;
        more.transports_[more.transport_count_++] = &table;
        return more;
    }
    constexpr Library provides(const patchbay_auth& table) const {
        auto more = *this;
        more.auths_[more.auth_count_++] = &table;
        return more;
    }
    // Extensions of the host without which entry refuses.
    template <class... Ids>
    constexpr Library needs(Ids... ids) const {
        auto more = *this;
        ((more.needed_[more.needed_count_++] = ids), ...);
        return more;
    }

    patchbay_status enter(const patchbay_host* host, const patchbay_plugin** out,
                          patchbay_error* error) const noexcept {
        return guarded(error, [&] {
            for (std::size_t i = 0; i < needed_count_; ++i)
                if (!host->get_extension(host, needed_[i]))
                    throw Failure(PATCHBAY_E_UNSUPPORTED,
                                  std::string("needs the host's ") + needed_[i]);
            auto made = std::make_unique<Mine>(host);
            describe(*made);
            *out = made.release();
            return patchbay_status{PATCHBAY_OK};
        });
    }

private:
    static constexpr std::size_t kMost = 8;  // one more does not compile

    void describe(patchbay_plugin& plugin) const {
        plugin.struct_size = sizeof plugin;
        plugin.abi_minor = PATCHBAY_ABI_MINOR;
        plugin.id = id_;
        plugin.version = version_;
        plugin.transports = transports_;
        plugin.transport_count = transport_count_;
        plugin.auths = auths_;
        plugin.auth_count = auth_count_;
        plugin.get_extension = [](const patchbay_plugin* self, const char* name) noexcept {
            const void* table = nullptr;
            guarded(nullptr, [&] {
                table = mine<Plugin>(self).extension(name);
                return patchbay_status{PATCHBAY_OK};
            });
            return table;
        };
        plugin.shutdown = [](const patchbay_plugin* self) noexcept {
            guarded(nullptr,
                    [&] { return delete &mine<Plugin>(self), patchbay_status{PATCHBAY_OK}; });
        };
    }
    const char *id_, *version_;
    const patchbay_transport* transports_[kMost]{};
    const patchbay_auth* auths_[kMost]{};
    const char* needed_[kMost]{};
    std::size_t transport_count_ = 0, auth_count_ = 0, needed_count_ = 0;
};

}  // namespace patchbay::sdk

// `library`: a Library in static storage. At the top level of a file, once.
#define PATCHBAY_PLUGIN_ENTRY(library)                                                 \
    extern "C" patchbay_status PATCHBAY_CALL patchbay_plugin_entry_0(                  \
        const patchbay_host* host, const patchbay_plugin** out, patchbay_error* error) \
        PATCHBAY_NX {                                                                  \
        return (library).enter(host, out, error);                                      \
    }

#endif
