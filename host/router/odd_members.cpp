#include "router/odd_members.hpp"

#include "core/text.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace patchbay::router {

namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 12> kOfParams = {
    "name",   "uri",  "ref",          "argument",       "arguments", "_meta",
    "taskId", "task", "requestState", "inputResponses", "level",     "cursor"};
constexpr std::array<std::string_view, 3> kOfRef = {"type", "name", "uri"};
constexpr std::array<std::string_view, 2> kOfArgument = {"name", "value"};
constexpr std::array<std::string_view, 9> kOfMeta = {"progressToken",
                                                     "traceparent",
                                                     "tracestate",
                                                     "io.modelcontextprotocol/protocolVersion",
                                                     "io.modelcontextprotocol/clientInfo",
                                                     "io.modelcontextprotocol/clientCapabilities",
                                                     "io.modelcontextprotocol/logLevel",
                                                     "io.modelcontextprotocol/subscriptionId",
                                                     "io.modelcontextprotocol/related-task"};
constexpr std::array<std::string_view, 18> kMethods = {"tools/call",
                                                       "tools/list",
                                                       "prompts/get",
                                                       "prompts/list",
                                                       "resources/read",
                                                       "resources/list",
                                                       "resources/templates/list",
                                                       "resources/subscribe",
                                                       "resources/unsubscribe",
                                                       "completion/complete",
                                                       "logging/setLevel",
                                                       "subscriptions/listen",
                                                       "tasks/get",
                                                       "tasks/result",
                                                       "tasks/cancel",
                                                       "tasks/list",
                                                       "tasks/update",
                                                       "server/discover"};

bool is_between(char letter) {
    return letter == '_' || letter == '-';
}

bool may_end_a_key(char letter) {
    return letter == '_' || core::is_digit(letter) || (letter >= 'a' && letter <= 'z');
}

// Letters beyond ASCII that are letters of it in lower or upper case (Unicode, CaseFolding.txt, SpecialCasing.txt).
constexpr std::pair<const char*, const char*> kLikeOurs[] = {
    {"\u017f", "s"},   {"\u212a", "k"},  {"\u0130", "i"},  {"\u0131", "i"},
    {"\ufb00", "ff"},  {"\ufb01", "fi"}, {"\ufb02", "fl"}, {"\ufb03", "ffi"},
    {"\ufb04", "ffl"}, {"\ufb05", "st"}, {"\ufb06", "st"}};

// As the least exact of such servers has it: there are libraries that take task_id for taskId. What stands around a key and
// is no part of a name may be any kind of blank.
std::string folded(std::string_view key) {
    std::string text(key.substr(0, key.find('\0')));
    for (const auto& [letter, plain] : kLikeOurs)
        for (auto at = text.find(letter); at != text.npos; at = text.find(letter, at))
            text.replace(at, std::char_traits<char>::length(letter), plain);
    text = core::lower(text);
    while (!text.empty() && !may_end_a_key(text.back())) text.pop_back();
    const auto begin = std::find_if(text.begin(), text.end(), may_end_a_key);
    text.erase(text.begin(), begin);
    std::erase_if(text, is_between);
    return text;
}

bool is_folded_of(std::string_view folded, std::string_view name) {
    for (const char letter : name) {
        if (is_between(letter)) continue;
        if (folded.empty() || folded.front() != core::lower(letter)) return false;
        folded.remove_prefix(1);
    }
    return folded.empty();
}

// The name among these that a key stands for without being it; empty: none.
std::string_view meant_by(std::string_view key, Names names) {
    if (std::find(names.begin(), names.end(), key) != names.end()) return {};
    const auto text = folded(key);
    const auto meant = std::find_if(names.begin(), names.end(),
                                    [&](auto name) { return is_folded_of(text, name); });
    return meant == names.end() ? std::string_view() : *meant;
}

Error odd(std::string_view where, std::string_view key, const char* what = "is no member of it") {
    return {ErrorCode::Invalid, "the params of " + core::printable(where, 80) + ": \"" +
                                    core::printable(key, 80) + "\" " + what};
}

std::optional<Error> odd_among(std::string_view members, std::string_view where, Names names) {
    std::optional<Error> found;
    std::uint32_t seen = 0;  // one bit for each of the names
    protocol::each_of(members, [&](std::string_view key, std::string_view) {
        if (!meant_by(key, names).empty()) found = odd(where, key);
        const auto known = std::find(names.begin(), names.end(), key);
        const auto bit = known == names.end() ? 0u : 1u << (known - names.begin());
        if (seen & bit) found = odd(where, key, "is there twice");
        seen |= bit;
        return !found;
    });
    return found;
}

// Of an object what stands between its braces; of what is none nothing.
std::string_view inside(std::string_view object) {
    return object.size() < 2 || object.front() != '{' ? std::string_view()
                                                      : object.substr(1, object.size() - 2);
}

}  // namespace

std::optional<Error> odd_member(const Call& call) {
    std::optional<Error> found;
    protocol::each_of(call.members, [&](std::string_view key, std::string_view) {
        // These are not among them even under their own names.
        const bool is_beside = key == "name" || key == "arguments" || key == "_meta";
        if (is_beside || !meant_by(key, kOfParams).empty()) found = odd("tools/call", key);
        return !found;
    });
    return found ? found : odd_among(call.meta, "tools/call, _meta", kOfMeta);
}

std::optional<Error> odd_member(const ServerRequest& request) {
    const auto& method = request.method;
    // Of another one nothing is judged by what it holds.
    if (std::find(kMethods.begin(), kMethods.end(), method) == kMethods.end()) return {};
    std::optional<Error> found;
    protocol::each_of(request.params.members, [&](std::string_view key, std::string_view value) {
        if (!meant_by(key, kOfParams).empty()) found = odd(method, key);
        if (key == "ref") found = odd_among(inside(value), method + ", ref", kOfRef);
        if (key == "argument") found = odd_among(inside(value), method + ", argument", kOfArgument);
        return !found;
    });
    return found ? found : odd_among(request.params.meta, method + ", _meta", kOfMeta);
}

std::string_view method_meant(std::string_view method) {
    return meant_by(method, kMethods);
}

}  // namespace patchbay::router
