// What `patchbay serve` was told of its door, by its options and by [gateway], and what that comes to.
// Each key there is an option here: `tls_cert` is --tls-cert.
//
// Threads: [value].
// Errors:  TermFault, with the option that makes no sense or that is missing; told() names it as it was
//          written.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"
#include "http/address.hpp"
#include "http/tls.hpp"

#include <boost/system/result.hpp>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

// `option` is wrong, or what it goes with: "--tls-cert".
struct TermFault {
    std::string option;
    Error error;
};

struct HttpTerms {
    config::ListenerSettings said;
    std::map<std::string, config::Place> places;  // by option, where a file says it

    http::TlsFiles tls() const { return {said.tls_cert, said.tls_key}; }
    bool is_of_a_file(const std::string& option) const { return places.contains(option); }
    // "--tls-cert: ...", or "user config f.toml:3:1: gateway.tls_cert: ..."
    Error told(const TermFault& fault) const;
};

enum class Over { Stdio, Whichever };  // Whichever: HTTP where an address is said

// `typed` counts before what files say, as far as `given` names its options; not before what an
// enterprise file says.
boost::system::result<HttpTerms, TermFault> terms_of(const config::Config& config,
                                                     const config::ListenerSettings& typed,
                                                     const std::set<std::string>& given, Over over);
// All options that have a key in [gateway].
std::vector<std::string> listener_options();
std::string gateway_key_of(std::string_view option);  // "--tls-cert": "gateway.tls_cert"
// Where --metrics listens: of this machine alone, since nobody who comes there is asked who it is.
Result<http::Address> metrics_address(const std::string& text);

struct HttpPlan {
    http::Address address;
    bool tokens = false, tls = false;
    std::vector<std::string> names;    // by which it may be called
    std::vector<std::string> origins;  // whose pages may come beside those of these

    // Of `path`; of a Unix socket unix:FILE, and unix:FILE#/sse for another path than that of the
    // endpoint. `at`: where it listens.
    std::string url(const http::Address& at, const char* path) const;
};

boost::system::result<HttpPlan, TermFault> plan_of(const HttpTerms& terms);

// What [gateway] says of a listener, and makes no sense together: for whoever checks a configuration.
std::optional<config::Diagnostic> fault_of_listener(const config::Config& config);

[[noreturn]] inline void throw_exception_from_error(const TermFault& fault,
                                                    const boost::source_location& place) {
    throw_exception_from_error(fault.error, place);
}

}  // namespace patchbay::app
