#include "gateway/request_states.hpp"

#include "core/digest.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "protocol/canonical_json.hpp"
#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"

#include <charconv>
#include <cstdint>
#include <utility>

namespace patchbay::gateway {

namespace {

constexpr std::size_t kKeyBytes = 32, kNumberBytes = 16;
constexpr std::size_t kMostBytes = 256;  // of a state: none of ours is longer

std::int64_t seconds_of(core::Calendar::time_point time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

Error unknown(const std::string& why) {
    return {ErrorCode::Invalid, "unknown requestState: " + why + "; ask again without it"};
}

// From the dot before the last member on, and without it.
std::string_view take_last(std::string_view& text) {
    const auto dot = text.rfind('.');
    if (dot == std::string_view::npos) return {};
    const auto last = text.substr(dot + 1);
    text = text.substr(0, dot);
    return last;
}

}  // namespace

RequestStates::RequestStates(std::string key, std::string whose)
    : key_(key.empty() ? core::random_hex(kKeyBytes) : std::move(key)), whose_(std::move(whose)) {}

// NUMBER.SECONDS.REQUEST.SEAL: of it all no more is secret than the key.
std::string RequestStates::make(const std::string& request, core::Calendar::time_point now) const {
    const auto payload = core::random_hex(kNumberBytes) + "." +
                         std::to_string(seconds_of(now + kLifetime)) + "." +
                         core::sha256_hex(request);
    return payload + "." + seal_of(payload);
}

std::optional<Error> RequestStates::refuses(std::string_view state, const std::string& request,
                                            core::Calendar::time_point now) const {
    auto payload = state;
    const auto seal = take_last(payload);
    if (state.size() > kMostBytes || !core::same_secret(seal, seal_of(payload)))
        return unknown("it is none that was given to this client");
    const auto meant = take_last(payload);
    const auto until = take_last(payload);
    std::int64_t seconds = 0;
    std::from_chars(until.data(), until.data() + until.size(), seconds);
    if (seconds_of(now) > seconds) return unknown("it is older than " + core::duration(kLifetime));
    if (meant != core::sha256_hex(request))
        return Error{ErrorCode::Invalid, "requestState belongs to another request"};
    return {};
}

std::string RequestStates::request(std::string_view method, std::string_view members) {
    std::string rest;
    protocol::each_of(members, [&](std::string_view key, std::string_view value) {
        if (key != "inputResponses" && key != "requestState")
            protocol::append_member(rest, key, value);
        return true;
    });
    return std::string(method) + "\n" + protocol::canonical_json("{" + rest + "}");
}

// With its purpose ahead: what else is sealed by the same key is no state.
std::string RequestStates::seal_of(std::string_view payload) const {
    return core::hmac_sha256_hex(key_, "requestState\n" + std::string(payload) + "\n" + whose_);
}

}  // namespace patchbay::gateway
