#include "app/server_account.hpp"

#include "app/server_variables.hpp"
#include "core/digest.hpp"
#include "core/kept_key.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

constexpr const char* kKey = "catalogue.key";
constexpr std::chrono::milliseconds kSlice{20};  // on the loop

}  // namespace

std::optional<std::string> ServerAccount::of(const registry::ServerSpec& spec) {
    const auto names = variables_of(spec);
    if (names.empty() || !environment_.variable) return std::string();
    if (!key()) return {};
    json::array values;  // also which are not set
    for (const auto& name : names) {
        const auto value = environment_.variable(name);
        values.push_back({name, value ? json::value(*value) : json::value()});
    }
    return core::hmac_sha256_hex(*key(), json::serialize(values));
}

const std::optional<std::string>& ServerAccount::key() {
    if (std::exchange(looked_for_, true)) return key_;
    if (auto kept = core::kept_key(state_directory_, kKey, kSlice)) key_ = std::move(*kept);
    return key_;
}

}  // namespace patchbay::app
