#include "gateway/request_meta.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/log_levels.hpp"

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

constexpr std::string_view kOurs = "io.modelcontextprotocol/";

Error missing(const std::string& name, const std::string& what) {
    return {ErrorCode::Invalid,
            "the request's _meta needs \"" + std::string(kOurs) + name + "\", " + what};
}

Result<void> take(RequestMeta& read, std::string_view name, std::string_view value,
                  std::size_t depth) {
    const auto parsed = core::parse_json(value, {.depth = depth});
    if (!parsed) return Error{ErrorCode::Invalid, "the request's _meta " + parsed.error().message};
    const auto text = core::text_of(*parsed);
    if (name == "protocolVersion") {
        if (!text) return missing("protocolVersion", "a text");
        read.version = *text;
    } else if (name == "clientCapabilities") {
        const auto* object = parsed->if_object();
        if (!object) return missing("clientCapabilities", "an object");
        read.capabilities = *object;
    } else if (name == "logLevel") {
        read.log_severity = text ? protocol::log_severity(*text) : std::nullopt;
        if (!read.log_severity)
            return Error{ErrorCode::Invalid,
                         "unknown log level in \"" + std::string(kOurs) + "logLevel\""};
    }
    return {};
}

}  // namespace

Result<RequestMeta> read_meta(std::string_view meta, std::size_t depth) {
    RequestMeta read;
    bool names_version = false, names_capabilities = false;
    std::optional<Error> wrong;
    const std::string object = "{" + std::string(meta) + "}";
    protocol::each_member(object, [&](const std::string& key, std::string_view value) {
        const bool ours = key.starts_with(kOurs);
        const auto name = ours ? key.substr(kOurs.size()) : std::string();
        if (key == "progressToken") {
            const auto parsed = core::parse_json(value, {.depth = depth});
            if (parsed && (parsed->is_string() || parsed->is_number())) read.progress_token = value;
        } else if (name == "protocolVersion" || name == "clientCapabilities" ||
                   name == "logLevel") {
            names_version = names_version || name == "protocolVersion";
            names_capabilities = names_capabilities || name == "clientCapabilities";
            if (const auto taken = take(read, name, value, depth); !taken) wrong = taken.error();
        } else if (name != "clientInfo") {
            protocol::append_member(read.relayed, key, value);
        }
        return !wrong;
    });
    if (!names_version) {
        read.log_severity.reset();
        return read;
    }
    if (wrong) return std::move(*wrong);
    read.era = protocol::Era::Modern;
    if (read.version != protocol::kModernVersion)
        return Error{ErrorCode::Unsupported, "Unsupported protocol version"};
    if (!names_capabilities) return missing("clientCapabilities", "an object");
    return read;
}

}  // namespace patchbay::gateway
