#include "protocol/handshake.hpp"

#include "core/digest.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::protocol {
namespace json = boost::json;

namespace {

constexpr const char* kDiscover = "server/discover";
constexpr const char* kInitialize = "initialize";
constexpr std::int64_t kUnsupportedVersion = -32022;

std::string text_of(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

json::object object_of(const json::object& object, std::string_view key) {
    const auto* value = object.if_contains(key);
    return value && value->is_object() ? value->get_object() : json::object();
}

std::vector<std::string> strings_of(const json::value* value) {
    std::vector<std::string> texts;
    if (!value || !value->is_array()) return texts;
    for (const auto& item : value->get_array()) {
        if (item.is_string()) texts.emplace_back(item.get_string());
    }
    return texts;
}

// The codes that only a modern server sends (basic/index, "Error Codes").
bool is_modern_error(std::int64_t code) {
    return code == -32020 || code == -32021 || code == kUnsupportedVersion;
}

}  // namespace

bool Session::can(std::string_view capability) const {
    const auto* found = capabilities.if_contains(capability);
    return found && !found->is_null() && *found != false;
}

bool Session::can(std::string_view capability, std::string_view feature) const {
    const auto* found = capabilities.if_contains(capability);
    if (!found || !found->is_object()) return false;
    const auto* flag = found->get_object().if_contains(feature);
    return flag && flag->is_bool() && flag->get_bool();
}

std::string declared_by(const ClientIdentity& identity) {
    if (identity.capabilities.empty()) return {};
    return core::sha256_hex(boost::json::serialize(identity.capabilities));
}

std::string modern_meta(const ClientIdentity& identity) {
    return "\"io.modelcontextprotocol/protocolVersion\":" + quoted(kModernVersion) +
           ",\"io.modelcontextprotocol/clientInfo\":" + json::serialize(identity.info) +
           ",\"io.modelcontextprotocol/clientCapabilities\":" +
           json::serialize(identity.capabilities);
}

Handshake::Handshake(ClientIdentity identity, std::string protocol, std::string remembered,
                     Era guess)
    : identity_(std::move(identity)),
      protocol_(std::move(protocol)),
      remembered_(std::move(remembered)),
      guesses_legacy_(protocol_ == "auto" && remembered_.empty() && guess == Era::Legacy) {}

Handshake::Step Handshake::start() {
    if (guesses_legacy_) return initialize();
    const auto& first = protocol_ == "auto" ? remembered_ : protocol_;
    if (!first.empty() && speaks(first) && era_of(first) == Era::Legacy) return initialize();
    return discover();
}

Handshake::Step Handshake::discover() {
    probe_pending_ = true;
    return Send{kDiscover, {"", modern_meta(identity_)}};
}

Handshake::Step Handshake::initialize() {
    initialize_sent_ = true;
    const std::string version = protocol_ == "auto" ? std::string(kLegacyVersion) : protocol_;
    return Send{kInitialize,
                {"\"protocolVersion\":" + quoted(version) +
                     ",\"capabilities\":" + json::serialize(identity_.capabilities) +
                     ",\"clientInfo\":" + json::serialize(identity_.info),
                 ""}};
}

Handshake::Step Handshake::fall_back() {
    if (!initialize_sent_) return initialize();
    if (!initialize_error_.empty()) return Error{ErrorCode::Protocol, initialize_error_};
    return Wait{};
}

Handshake::Step Handshake::on_silence() {
    if (std::exchange(guesses_legacy_, false)) return discover();
    if (settled_ || !probe_pending_ || initialize_sent_ || protocol_ != "auto") return Wait{};
    return initialize();
}

bool Handshake::expects_modern() const {
    return protocol_ == "auto" && remembered_ == kModernVersion;
}

Handshake::Step Handshake::on_result(std::string_view method, const json::object& result) {
    if (ambiguous_ && method == kInitialize) {
        ambiguous_ = false;
        auto step = settle_legacy(result);
        return std::holds_alternative<Done>(step) ? std::move(step) : Step(Wait{});
    }
    if (settled_) return Wait{};  // the slower of two answers
    if (method == kDiscover) {
        probe_pending_ = false;
        return settle_modern(result);
    }
    auto step = settle_legacy(result);
    const auto* wrong = std::get_if<Error>(&step);
    if (wrong && guesses_legacy_) return refused(method, wrong->message);
    guesses_legacy_ = false;
    return step;
}

Handshake::Step Handshake::on_error(std::string_view method, const RpcError& error) {
    if (method == kInitialize) ambiguous_ = false;
    if (settled_) return Wait{};
    const std::string told = "server answers " + std::string(method) + " with error " +
                             std::to_string(error.code) + ": " +
                             core::printable(error.message, 400);
    if (method == kDiscover) {
        probe_pending_ = false;
        if (is_modern_error(error.code)) {
            std::vector<std::string> supported;
            if (const auto data = core::parse_json_object(error.data))
                supported = strings_of(data->if_contains("supported"));
            // It refuses what it says it speaks: once more, in case that this was for a moment.
            const bool ours =
                std::find(supported.begin(), supported.end(), kModernVersion) != supported.end();
            if (ours && error.code == kUnsupportedVersion && !std::exchange(asked_again_, true))
                return discover();
            // A modern server of another revision may still offer one with a handshake.
            for (const auto& version : supported) {
                if (protocol_ == "auto" && speaks(version) && era_of(version) == Era::Legacy) {
                    return fall_back();
                }
            }
            if (!supported.empty()) return nothing_in_common(core::join(supported, ", "));
            return Error{ErrorCode::Protocol, told};
        }
    }
    return refused(method, told);
}

Handshake::Step Handshake::on_refused(std::string_view method, const std::string& told) {
    if (settled_) return Wait{};
    return refused(method, told);
}

// A server whose probe makes no sense may still be a legacy one; when it is none, both are told.
Handshake::Step Handshake::on_unreadable(std::string_view method, const std::string& why) {
    if (settled_) return Wait{};
    const std::string told =
        "its answer to " + std::string(method) + " could not be read: " + core::printable(why, 400);
    const auto before = std::exchange(unreadable_, told);
    if (method == kDiscover && protocol_ != "auto") return Error{ErrorCode::Protocol, told};
    return refused(method, told + (before.empty() ? "" : "; " + before));
}

// No answer of a server that speaks a modern revision.
Handshake::Step Handshake::refused(std::string_view method, const std::string& told) {
    if (method == kDiscover) {
        probe_pending_ = false;
        if (protocol_ != "auto") {
            return Error{ErrorCode::Unsupported,
                         told + "; it does not speak " + protocol_ +
                             ", which is pinned by `protocol`; remove that key or set \"auto\""};
        }
        return fall_back();
    }
    initialize_error_ = told;
    if (probe_pending_) return Wait{};  // the probe may still be answered
    if (may_still_be_modern()) return discover();
    return Error{ErrorCode::Protocol, told};
}

// Once: the guess was wrong, or what was remembered is out of date.
bool Handshake::may_still_be_modern() {
    const bool remembered_legacy =
        protocol_ == "auto" && !remembered_.empty() && era_of(remembered_) == Era::Legacy;
    if (remembered_legacy) remembered_.clear();
    return std::exchange(guesses_legacy_, false) || remembered_legacy;
}

Handshake::Step Handshake::settle_modern(const json::object& result) {
    const auto* offered = result.if_contains("supportedVersions");
    if (!offered || !offered->is_array()) {
        if (protocol_ == "auto") return fall_back();  // some other method of that name
        return Error{ErrorCode::Protocol, "server/discover result has no supportedVersions"};
    }
    const auto versions = strings_of(offered);
    bool modern = false, legacy = false;
    for (const auto& version : versions) {
        if (version == kModernVersion)
            modern = true;
        else if (speaks(version))
            legacy = true;
    }
    if (!modern) {
        if (legacy && protocol_ == "auto") return fall_back();
        return nothing_in_common(core::join(versions, ", "));
    }
    settled_ = true;
    ambiguous_ = initialize_sent_ && initialize_error_.empty();
    const auto meta = object_of(result, "_meta");
    return Done{{std::string(kModernVersion), Era::Modern,
                 object_of(meta, "io.modelcontextprotocol/serverInfo"),
                 object_of(result, "capabilities"), text_of(result, "instructions")}};
}

Handshake::Step Handshake::settle_legacy(const json::object& result) {
    const std::string version = text_of(result, "protocolVersion");
    if (version.empty()) {
        return Error{ErrorCode::Protocol, "initialize result has no protocolVersion"};
    }
    const bool acceptable = speaks(version) && era_of(version) == Era::Legacy &&
                            (protocol_ == "auto" || version == protocol_);
    if (!acceptable) return nothing_in_common(version);
    settled_ = true;
    return Done{{version, Era::Legacy, object_of(result, "serverInfo"),
                 object_of(result, "capabilities"), text_of(result, "instructions")}};
}

Error Handshake::nothing_in_common(const std::string& theirs) const {
    const std::string ours = protocol_ == "auto" ? spoken_versions() : protocol_ + " (pinned)";
    return {ErrorCode::Unsupported, "no protocol version in common: server speaks " +
                                        core::printable(theirs, 200) + ", Patchbay speaks " + ours};
}

}  // namespace patchbay::protocol
