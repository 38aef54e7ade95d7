#include "app/server_account.hpp"

#include "app/gateway_key.hpp"
#include "app/server_variables.hpp"
#include "core/digest.hpp"
#include "core/random.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <cstddef>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr const char* kKey = "catalogue.key";
constexpr std::size_t kKeyBytes = 32;
constexpr std::chrono::milliseconds kTurn{20};  // on the loop

}  // namespace

std::string ServerAccount::of(const registry::ServerSpec& spec) {
    const auto names = variables_of(spec);
    if (names.empty() || !environment_.variable) return {};
    json::array values;  // also which are not set
    for (const auto& name : names) {
        const auto value = environment_.variable(name);
        values.push_back({name, value ? json::value(*value) : json::value()});
    }
    return core::hmac_sha256_hex(key(), json::serialize(values));
}

const std::string& ServerAccount::key() {
    if (!key_.empty()) return key_;
    const auto kept = kept_key(state_directory_, kKey, kTurn);
    return key_ = kept ? *kept : core::random_hex(kKeyBytes);
}

}  // namespace patchbay::app
