#include "app/hello.hpp"

#include "app/visible_json.hpp"
#include "core/error_words.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

#ifndef PATCHBAY_VERSION
#error "PATCHBAY_VERSION comes from CMake"
#endif

namespace patchbay::app {
namespace json = boost::json;

namespace {

std::string told_in(const json::object& object, std::string_view key) {
    return printable_in(object, key, 1000);
}

std::string blank_behind(const std::string& word) {
    return word.empty() ? word : word + " ";
}

constexpr const char* kMember = "patchbay";
constexpr const char* kByOption = "option";  // among "approving"
constexpr const char* kAtTerminal = "terminal";

// What the other side says of itself may come to be printed, so it has been made fit for that before anybody sees it.
// What both sides begin with, once its protocol is ours.
// The protocol is judged before anything else is read: of another one only these two members are known.
Result<json::object> members_of(std::string_view line, const char* whose) {
    const Error no_greeting{
        ErrorCode::Invalid,
        std::string(whose) + " first line is to be like {\"patchbay\":{\"protocol\":1}}"};
    if (line.size() > kHelloBytes) return no_greeting;
    auto value = core::parse_json(line);
    const auto* object = value ? value->if_object() : nullptr;
    const auto* said = core::object_in(object, kMember);
    if (!said) return no_greeting;
    const auto* protocol = said->if_contains("protocol");
    if (!protocol || !protocol->is_int64()) return no_greeting;
    if (protocol->get_int64() != kHostProtocol)
        return Error{ErrorCode::Unsupported,
                     "patchbay " + blank_behind(told_in(*said, "version")) +
                         "there speaks protocol " + std::to_string(protocol->get_int64()) +
                         ", patchbay " PATCHBAY_VERSION " here " + std::to_string(kHostProtocol) +
                         "; end the host and start it anew with one version"};
    return *said;
}

const char* word_of(Guest guest) {
    switch (guest) {
        case Guest::Person:
            return "person";
        case Guest::Batch:
            return "batch";
        case Guest::Client:
            return "client";
    }
    return "";
}

json::object to_json(const Shown& shown) {
    return {{"only", shown.only},
            {"agent", shown.agent},
            {"servers", json::array(shown.servers.begin(), shown.servers.end())},
            {"tools", json::array(shown.tools.begin(), shown.tools.end())},
            {"bundle", shown.bundle}};
}

// What cannot be read would show more than was picked.
Result<std::vector<std::string>> texts_in(const json::object& object, const char* key) {
    std::vector<std::string> texts;
    const auto* value = object.if_contains(key);
    if (!value) return texts;
    const auto* list = value->if_array();
    if (!list)
        return Error{ErrorCode::Invalid, "\"" + std::string(key) + "\" is to be a list of texts"};
    for (const auto& each : *list) {
        const auto text = core::text_of(each);
        if (!text)
            return Error{ErrorCode::Invalid,
                         "\"" + std::string(key) + "\" is to be a list of texts"};
        texts.emplace_back(*text);
    }
    return texts;
}

Result<Shown> shown_in(const json::object& said) {
    const auto* value = said.if_contains("shown");
    if (!value) return Shown{};
    const auto* told = value->if_object();
    if (!told) return Error{ErrorCode::Invalid, "\"shown\" is to be an object"};
    // A member of a later version might narrow what is shown: unread, it would show more than was picked.
    for (const auto& member : *told) {
        const std::string_view key = member.key();
        if (key != "only" && key != "agent" && key != "servers" && key != "tools" &&
            key != "bundle")
            return Error{ErrorCode::Invalid,
                         "\"shown\" has no member \"" + core::printable(key, 80) + "\""};
    }
    for (const char* key : {"only", "agent", "bundle"})
        if (const auto* text = told->if_contains(key); text && !text->is_string())
            return Error{ErrorCode::Invalid, "\"" + std::string(key) + "\" is to be a text"};
    auto servers = texts_in(*told, "servers"), tools = texts_in(*told, "tools");
    if (!servers) return servers.error();
    if (!tools) return tools.error();
    return Shown{told_in(*told, "only"), told_in(*told, "agent"), std::move(*servers),
                 std::move(*tools), told_in(*told, "bundle")};
}

}  // namespace

std::string to_line(const Hello& hello) {
    json::object said{
        {"protocol", kHostProtocol}, {"version", hello.version}, {"as", word_of(hello.as)}};
    // Only a client is shown a part. Of the others a host that knows no "shown" hears nothing of it.
    if (hello.as == Guest::Client) said["shown"] = to_json(hello.shown);
    if (!hello.configuration.empty()) said["configuration"] = hello.configuration;
    json::array approving;
    if (hello.approving.by_option) approving.emplace_back(kByOption);
    if (hello.approving.at_terminal) approving.emplace_back(kAtTerminal);
    if (!approving.empty()) said["approving"] = std::move(approving);
    return json::serialize(json::object{{kMember, std::move(said)}});
}

std::string to_line(const Welcome& welcome) {
    json::object said{{"protocol", kHostProtocol},
                      {"version", welcome.version},
                      {"pid", welcome.pid},
                      {"since", welcome.since},
                      {"guest", welcome.guest},
                      {"fits", welcome.fits},
                      {"configuration", welcome.configuration}};
    // Words of files and of servers: a secret that stands in one is known to the host, and not to who prints this.
    if (!welcome.kept.empty()) said["kept"] = core::log::masked(welcome.kept);
    if (!welcome.next_start.empty()) said["next_start"] = welcome.next_start;
    if (!welcome.looks_because.empty()) said["looks_because"] = welcome.looks_because;
    return json::serialize(json::object{{kMember, std::move(said)}});
}

std::string refusal_line(const Error& error) {
    return json::serialize(json::object{
        {kMember,
         {{"protocol", kHostProtocol},
          {"version", PATCHBAY_VERSION},
          {"error",
           {{"kind", name_of(error.code)}, {"message", core::log::masked(error.message)}}}}}});
}

Result<Hello> parse_hello(std::string_view line) {
    const auto said = members_of(line, "the");
    if (!said) return said.error();
    const auto as = told_in(*said, "as");
    auto guest = Guest::Batch;  // programs of others, which may not know the word
    for (const auto each : {Guest::Person, Guest::Client})
        if (as == word_of(each)) guest = each;
    if (!as.empty() && as != word_of(guest))
        return Error{ErrorCode::Invalid,
                     "\"as\" is \"person\", \"batch\" or \"client\", not \"" + as + "\""};
    auto shown = shown_in(*said);
    if (!shown) return shown.error();
    const auto approving = texts_in(*said, "approving");
    if (!approving) return approving.error();
    const auto has = [&](const char* word) {
        return std::find(approving->begin(), approving->end(), word) != approving->end();
    };
    return Hello{told_in(*said, "version"),
                 guest,
                 told_in(*said, "configuration"),
                 std::move(*shown),
                 {has(kByOption), has(kAtTerminal)}};
}

Result<Welcome> parse_welcome(std::string_view line) {
    const auto said = members_of(line, "the host's");
    if (!said) return said.error();
    if (const auto* error = core::object_in(&*said, "error"))
        return Error{error_code_from(told_in(*error, "kind")).value_or(ErrorCode::Internal),
                     told_in(*error, "message")};
    // A host of another version may leave out what it does not know: all but the protocol has a meaning when missing.
    Welcome welcome;
    welcome.version = told_in(*said, "version");
    if (const auto* pid = said->if_contains("pid"); pid && pid->is_int64())
        welcome.pid = static_cast<int>(pid->get_int64());
    if (const auto guest = core::integer_in(&*said, "guest"); guest && *guest > 0)
        welcome.guest = static_cast<std::size_t>(*guest);
    welcome.since = told_in(*said, "since");
    welcome.fits = core::flag_in(&*said, "fits") == true;
    welcome.kept = told_in(*said, "kept");
    if (const auto number = core::integer_in(&*said, "configuration"); number && *number > 0)
        welcome.configuration = static_cast<std::uint64_t>(*number);
    welcome.looks_because = told_in(*said, "looks_because");
    welcome.next_start = told_in(*said, "next_start");
    return welcome;
}

}  // namespace patchbay::app
