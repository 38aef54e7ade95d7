#include "gateway/request_meta.hpp"

#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/log_levels.hpp"
#include "protocol/raw_json.hpp"

namespace patchbay::gateway {

namespace {

constexpr std::string_view kOurs = "io.modelcontextprotocol/";

Error missing(const std::string& name, const std::string& what) {
    return {ErrorCode::Invalid,
            "the request's _meta needs \"" + std::string(kOurs) + name + "\", " + what};
}

std::optional<Error> take(RequestMeta& read, std::string_view name, std::string_view value) {
    const auto text = protocol::text_of_raw(value);
    if (name == "protocolVersion") {
        if (!text) return missing("protocolVersion", "a text");
        read.version = *text;
    } else if (name == "clientCapabilities") {
        if (!value.starts_with('{')) return missing("clientCapabilities", "an object");
        if (value.size() > kMostCapabilityBytes)
            return missing(
                "clientCapabilities",
                "an object of at most " + std::to_string(kMostCapabilityBytes) + " bytes");
        read.capabilities = value;
    } else if (name == "logLevel") {
        read.log_severity = text ? protocol::log_severity(*text) : std::nullopt;
        if (!read.log_severity)
            return Error{ErrorCode::Invalid,
                         "unknown log level in \"" + std::string(kOurs) + "logLevel\""};
    }
    return {};
}

Error not_of_one_request(std::string_view version) {
    std::string message = "Unsupported protocol version";
    if (protocol::speaks(version))
        message.append(": ").append(version).append(
            " begins with \"initialize\", and no request names it in its _meta");
    return {ErrorCode::Unsupported, std::move(message)};
}

bool is_token(std::string_view raw) {
    return raw.starts_with('"') || raw.starts_with('-') || (raw >= "0" && raw < ":");
}

}  // namespace

std::string RequestMeta::log_level() const {
    return log_severity ? std::string(protocol::kLogLevels[*log_severity]) : std::string();
}

RequestMeta read_meta(std::string_view meta) {
    RequestMeta read;
    bool names_version = false;
    protocol::each_of(meta, [&](std::string_view key, std::string_view value) {
        const auto name = key.starts_with(kOurs) ? std::string_view(key).substr(kOurs.size()) : "";
        if (key == "progressToken") {
            if (is_token(value)) read.progress_token = value;
        } else if (name == "protocolVersion" || name == "clientCapabilities" ||
                   name == "logLevel") {
            names_version = names_version || name == "protocolVersion";
            if (auto wrong = take(read, name, value); wrong && !read.wrong)
                read.wrong = std::move(wrong);
        } else if (name != "clientInfo") {
            protocol::append_member(read.relayed, key, value);
        }
        return true;
    });
    if (!names_version) {
        read.log_severity.reset();
        read.wrong.reset();
        return read;
    }
    if (read.wrong) return read;
    read.era = protocol::Era::Modern;
    if (read.version != protocol::kModernVersion)
        read.wrong = not_of_one_request(read.version);
    else if (read.capabilities.empty())
        read.wrong = missing("clientCapabilities", "an object");
    return read;
}

}  // namespace patchbay::gateway
