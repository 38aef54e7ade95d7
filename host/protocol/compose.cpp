#include "protocol/compose.hpp"

#include "protocol/raw_json.hpp"
#include "protocol/versions.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <set>

namespace patchbay::protocol {
namespace json = boost::json;

namespace {

void append_quoted(std::string& out, std::string_view text) {
    const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    });
    if (plain)
        out.append("\"").append(text).append("\"");
    else
        out.append(json::serialize(json::string_view(text.data(), text.size())));
}

// Of `members` those that `stronger` has none of: a key twice is read differently by each reader.
std::string without(std::string_view members, std::string_view stronger) {
    std::set<std::string, std::less<>> taken;
    each_of(stronger, [&](std::string_view key, auto) { return taken.emplace(key), true; });
    std::string out;
    each_of(members, [&](std::string_view key, auto value) {
        if (!taken.contains(key)) append_member(out, key, value);
        return true;
    });
    return out;
}

void append_params(std::string& out, std::string_view members, std::string_view meta_a,
                   std::string_view meta_b) {
    if (members.empty() && meta_a.empty() && meta_b.empty()) return;
    out.append(",\"params\":{").append(members);
    if (!meta_a.empty() || !meta_b.empty()) {
        if (!members.empty()) out += ',';
        out.append("\"_meta\":{").append(meta_a);
        if (!meta_a.empty() && !meta_b.empty()) out += ',';
        out.append(meta_b).append("}");
    }
    out += '}';
}

}  // namespace

std::string request(std::int64_t id, std::string_view method, const Params& params,
                    std::string_view meta) {
    std::string out;
    out.reserve(96 + method.size() + params.members.size() + params.meta.size() + meta.size());
    out.append("{\"jsonrpc\":\"2.0\",\"id\":").append(std::to_string(id));
    out.append(",\"method\":");
    append_quoted(out, method);
    append_params(out, params.members,
                  params.meta.empty() || meta.empty() ? params.meta : without(params.meta, meta),
                  meta);
    out += '}';
    return out;
}

std::string with_member(std::string_view members, std::string_view key,
                        std::string_view raw_value) {
    std::string made;
    each_of(members, [&](std::string_view name, std::string_view value) {
        if (name != key) append_member(made, name, value);
        return true;
    });
    append_member(made, key, raw_value);
    return made;
}

std::string notification(std::string_view method, std::string_view members, std::string_view meta) {
    std::string out = "{\"jsonrpc\":\"2.0\",\"method\":" + quoted(method);
    append_params(out, members, {}, meta);
    out += '}';
    return out;
}

std::string response(std::string_view raw_id, std::string_view raw_result) {
    std::string out = "{\"jsonrpc\":\"2.0\",\"id\":";
    out.append(raw_id).append(",\"result\":").append(raw_result).append("}");
    return out;
}

std::string error_response(std::string_view raw_id, std::int64_t code, std::string_view message) {
    std::string out = "{\"jsonrpc\":\"2.0\",\"id\":";
    out.append(raw_id).append(",\"error\":{\"code\":").append(std::to_string(code));
    out.append(",\"message\":");
    append_quoted(out, message);
    out.append("}}");
    return out;
}

std::string quoted(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 2);
    append_quoted(out, text);
    return out;
}

std::string members_of(const json::object& object) {
    const std::string text = json::serialize(object);
    return text.substr(1, text.size() - 2);
}

std::string joined(std::string_view a, std::string_view b) {
    std::string out(a);
    if (!a.empty() && !b.empty()) out += ',';
    return out.append(b);
}

void append_member(std::string& members, std::string_view key, std::string_view raw_value) {
    if (!members.empty()) members += ',';
    append_quoted(members, key);
    members.append(":").append(raw_value);
}

void flatten(std::string& message) {
    for (const char end : {'\n', '\r'}) {
        for (auto at = message.find(end); at != message.npos; at = message.find(end, at))
            message[at] = ' ';
    }
}

std::string spoken_versions() {
    std::string out;
    for (const auto version : kVersions) {
        if (!out.empty()) out += ", ";
        out += version;
    }
    return out;
}

}  // namespace patchbay::protocol
