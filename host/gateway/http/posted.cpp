#include "gateway/http/posted.hpp"

#include "core/base64.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "gateway/answers.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"
#include "protocol/http_headers.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/versions.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

namespace patchbay::gateway {

namespace {

constexpr std::string_view kBegin = "=?base64?", kEnd = "?=";

using core::lower;

// `word` is in lower case.
bool same_word(std::string_view text, std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [](char x, char y) { return lower(x) == y; });
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// What a header stands for; none: it is no proper Base64 form.
std::optional<std::string> decoded(std::string_view value) {
    if (!value.starts_with(kBegin) || !value.ends_with(kEnd) ||
        value.size() < kBegin.size() + kEnd.size())
        return std::string(value);
    const auto text = core::base64_decoded(
        value.substr(kBegin.size(), value.size() - kBegin.size() - kEnd.size()));
    if (!text) return {};
    return *text;
}

bool is_plain(std::string_view value) {
    return std::all_of(value.begin(), value.end(),
                       [](char c) { return (c >= ' ' && c < 0x7f) || c == '\t'; });
}

bool same_number(const std::string& a, const std::string& b) {
    char *end_a = nullptr, *end_b = nullptr;
    const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
    return !a.empty() && !b.empty() && *end_a == 0 && *end_b == 0 && x == y;
}

// Why a header does not say what the body says; none: it does.
std::optional<std::string> disagreement(const http::Request& request,
                                        const protocol::MessageHeader& wanted, bool number) {
    const auto name = lower(wanted.name);
    const auto* found = request.header(name);
    if (!found) return "Header mismatch: " + wanted.name + " is missing";
    if (request.count(name) > 1)
        return "Header mismatch: " + wanted.name + " is there several times";
    const auto value = trimmed(*found);
    if (value == wanted.value) return {};  // as nearly always
    if (!is_plain(value))
        return "Header mismatch: " + wanted.name + " holds what no header may; it is sent as " +
               std::string(kBegin) + "..." + std::string(kEnd);
    // What reads the head alone knows of a method no other form.
    const auto says = wanted.name == "Mcp-Method" ? std::string(value) : decoded(value);
    const auto means = decoded(wanted.value);
    if (!says) return "Header mismatch: " + wanted.name + " is no proper base64";
    if (says == means || (number && same_number(*says, *means))) return {};
    return "Header mismatch: " + wanted.name + " is '" + core::printable(*says, 200) +
           "', the body says '" + core::printable(*means, 200) + "'";
}

std::optional<std::string> check_parameters(const http::Request& request,
                                            const protocol::Params& params,
                                            const FindTool& find_tool, std::size_t depth) {
    const auto name = protocol::text_of_raw(protocol::raw_member(params.members, "name"));
    const auto* tool = name ? find_tool(*name) : nullptr;
    // The text of a schema is read only where there is something to find.
    if (!tool || tool->known.find("x-mcp-header") == std::string::npos) return {};
    const auto marked = protocol::header_parameters(tool->input_schema());
    if (!marked) return {};
    const auto arguments = protocol::raw_member(params.members, "arguments");
    const auto mirrored = protocol::mirrored_arguments(*marked, arguments, depth);
    if (!mirrored) return "Header mismatch: " + mirrored.error().message;
    for (const auto& each : *marked) {
        const auto wanted =
            std::find_if(mirrored->begin(), mirrored->end(),
                         [&](const auto& header) { return header.name == each.header; });
        if (wanted != mirrored->end()) {
            if (auto why = disagreement(request, *wanted, true)) return why;
        } else if (request.header(lower(each.header))) {
            return "Header mismatch: " + each.header + " is there, and no such argument";
        }
    }
    return {};
}

// In words of the modern era, whose clients look for one to go on with; to others it is a 400 as any.
HttpRefusal not_spoken(const std::string& version, std::string raw_id) {
    HttpRefusal refusal{400,
                        "MCP-Protocol-Version \"" + core::printable(version, 80) +
                            "\" is not spoken here; " + protocol::spoken_versions() + " are",
                        kUnsupportedVersion, std::move(raw_id)};
    refusal.raw_data = other_versions(version);
    return refusal;
}

// "0", "0." and "0.000": of no use to who says it (RFC 9110 section 12.4.2).
bool is_zero(std::string_view weight) {
    return weight.starts_with('0') && weight.substr(1).find_first_not_of(".0") == weight.npos;
}

// `parameters` of a range of media types: ";a=b;q=0".
bool weighs_nothing(std::string_view parameters) {
    while (!parameters.empty()) {
        parameters.remove_prefix(1);
        const auto end = std::min(parameters.find(';'), parameters.size());
        const auto each = parameters.substr(0, end);
        const auto equals = std::min(each.find('='), each.size());
        if (same_word(trimmed(each.substr(0, equals)), "q"))
            return is_zero(trimmed(each.substr(std::min(equals + 1, each.size()))));
        parameters.remove_prefix(end);
    }
    return false;
}

// How closely a range of media types names that one; 0: not at all.
int closeness(std::string_view range, std::string_view type) {
    if (same_word(range, type)) return 3;
    if (range == "*/*") return 1;
    const auto family = type.substr(0, type.find('/') + 1);
    return range.ends_with("/*") && same_word(range.substr(0, range.size() - 1), family) ? 2 : 0;
}

}  // namespace

bool accepts(const http::Request& request, std::string_view type) {
    int closest = 0;
    bool taken = false;
    for (const auto& [name, value] : request.headers) {
        if (name != "accept") continue;
        std::string_view rest = value;
        while (!rest.empty()) {
            const auto comma = std::min(rest.find(','), rest.size());
            const auto range = rest.substr(0, comma);
            const auto end = std::min(range.find(';'), range.size());
            const int close = closeness(trimmed(range.substr(0, end)), type);
            const bool takes = !weighs_nothing(range.substr(end));
            if (close > 0 && close >= closest) taken = takes || (close == closest && taken);
            closest = std::max(closest, close);
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return taken;
}

namespace {

// As nearly every client says it: then nothing is to be weighed.
constexpr std::string_view kUsualAccept = "application/json, text/event-stream";

bool accepts_both(const http::Request& request) {
    const auto* accept = request.header("accept");
    if (accept && *accept == kUsualAccept && request.count("accept") == 1) return true;
    return accepts(request, "application/json") && accepts(request, "text/event-stream");
}

}  // namespace

std::optional<HttpRefusal> refuses_content(const http::Request& request) {
    const auto* type = request.header("content-type");
    if (!type || request.count("content-type") > 1 ||
        !same_word(trimmed(std::string_view(*type).substr(0, type->find(';'))), "application/json"))
        return HttpRefusal{415, "the Content-Type of a message is application/json"};
    if (const auto* coding = request.header("content-encoding");
        coding && !same_word(*coding, "identity"))
        return HttpRefusal{415, "a message comes without a Content-Encoding"};
    return {};
}

std::variant<Posted, HttpRefusal> read_posted(const http::Request& request, std::size_t depth,
                                              const FindTool& find_tool) {
    if (auto refused = refuses_content(request)) return *refused;
    if (!accepts_both(request))
        return HttpRefusal{406,
                           "the answer may be application/json or text/event-stream; Accept "
                           "has to name both"};
    const auto* version = request.header("mcp-protocol-version");
    if (request.count("mcp-protocol-version") > 1)
        return HttpRefusal{400, "MCP-Protocol-Version is there several times",
                           protocol::kHeaderMismatch};
    const auto begin = request.body.find_first_not_of(" \t\r\n");
    if (begin != std::string::npos && request.body[begin] == '[')
        return Posted{Posted::Kind::Batch};
    auto read = read_incoming(request.body, depth);
    if (!read) {
        auto fault = fault_of(request.body, depth);
        return HttpRefusal{400, read.error().message, fault.code, std::move(fault.raw_id)};
    }
    const bool is_request = read->envelope.kind == protocol::MessageKind::Request;
    Posted posted{is_request ? Posted::Kind::Request : Posted::Kind::Other, false,
                  std::move(*read)};
    const auto& envelope = posted.message.envelope;
    const auto& params = posted.message.params;
    const auto& named = posted.message.meta.version;
    const bool known = version && protocol::speaks(*version);
    posted.modern = !named.empty() || (known && *version == protocol::kModernVersion);
    const auto mismatch = [&](const std::string& why) {
        return HttpRefusal{400, why, protocol::kHeaderMismatch,
                           is_request ? std::string(envelope.id) : std::string()};
    };
    if (!posted.modern) {
        if (version && !known)
            return not_spoken(*version, is_request ? std::string(envelope.id) : std::string());
        return posted;
    }
    if (!is_request) {
        if (envelope.method.empty())
            return HttpRefusal{400,
                               "an answer to nothing: requests of this revision ask in their "
                               "results"};
        return posted;
    }
    if (!version) return mismatch("Header mismatch: MCP-Protocol-Version is missing");
    // Without its _meta the request is refused as such.
    if (named.empty()) return posted;
    if (trimmed(*version) != named)
        return mismatch("Header mismatch: MCP-Protocol-Version is '" +
                        core::printable(*version, 80) + "', the body says '" +
                        core::printable(named, 80) + "'");
    if (named != protocol::kModernVersion) return posted;  // refused as that
    for (const auto& each : protocol::standard_headers(envelope.method, params.members))
        if (auto why = disagreement(request, each, false)) return mismatch(*why);
    if (envelope.method == "tools/call")
        if (auto why = check_parameters(request, params, find_tool, depth)) return mismatch(*why);
    return posted;
}

}  // namespace patchbay::gateway
