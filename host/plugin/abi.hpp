// The C ABI as the host sees it, and small translations between its words and ours.
//
// Threads: [value].
#pragma once

// Set for the whole room by its CMakeLists.txt: without it clang turns a foreign exception into
// terminate before our catch is asked.
#ifndef PATCHBAY_HOST_CATCHES
#error "link patchbay::plugin, which defines PATCHBAY_HOST_CATCHES"
#endif
#include "core/result.hpp"
#include "plugin/channel.hpp"

#include <patchbay/plugin.h>
#include <patchbay/services.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugin {

inline std::string_view view(patchbay_str text) {
    return text.data ? std::string_view(text.data, text.size) : std::string_view();
}
inline patchbay_str str(std::string_view text) {
    return {text.data(), text.size()};
}

// The size each struct had in 0.0, spelled by its last member then. A table below its floor was
// built against a header older than the generation's first: every later slot would be another one.
inline constexpr std::size_t kPluginFloor = offsetof(patchbay_plugin, shutdown) + sizeof(void*);
inline constexpr std::size_t kTransportFloor =
    offsetof(patchbay_transport, destroy) + sizeof(void*);
inline constexpr std::size_t kAuthFloor = offsetof(patchbay_auth, destroy) + sizeof(void*);
inline constexpr std::size_t kGrantFloor =
    offsetof(patchbay_grant, expires_unix_ms) + sizeof(std::uint64_t);
inline constexpr std::size_t kProblemFloor =
    offsetof(patchbay_problem, header_count) + sizeof(std::size_t);

ErrorCode code_of(patchbay_status status);
patchbay_status status_of(ErrorCode code);
// "E_TIMEOUT", or the number.
std::string name_of_status(patchbay_status status);

// The plugin's text made safe to show; where there is none (null), that.
std::string text_of(const patchbay_error* error, patchbay_status status);

Problem problem_of(patchbay_status status, const patchbay_problem* problem);

// Points into `headers`.
void describe(const std::vector<Header>& headers, std::vector<patchbay_kv>& out);

// Fills `error` with a cut text; null is fine.
void fill(patchbay_error* error, patchbay_status code, std::string_view text, int native_code = 0);

// The same, for a service that answers with `code`.
patchbay_status refuse(patchbay_error* error, patchbay_status code, std::string_view text);

// Runs a call into a plugin; false: something was thrown, told in `thrown`.
template <class Call>
bool guarded(std::string& thrown, Call&& call) {
    try {
        call();
        return true;
    } catch (const std::exception& error) {
        thrown = error.what();
    } catch (...) {
        thrown = "something that is no std::exception";
    }
    return false;
}

// Logs what a service of the host threw at a plugin's call, where no exception may pass; the status
// to answer with. Call it inside a catch. [any]
[[gnu::cold]] patchbay_status thrown_at_entry(const char* service) noexcept;

// Runs the body of a function that plugins call. Text is built only when something was thrown.
template <class Body>
patchbay_status entry(const char* service, Body&& body) noexcept {
    try {
        return body();
    } catch (...) {
        return thrown_at_entry(service);
    }
}
template <class Body>
void void_entry(const char* service, Body&& body) noexcept {
    try {
        body();
    } catch (...) {
        thrown_at_entry(service);
    }
}

}  // namespace patchbay::plugin
