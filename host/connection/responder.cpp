#include "connection/responder.hpp"

#include "core/text.hpp"
#include "protocol/arguments.hpp"

namespace patchbay::connection {
namespace json = boost::json;

namespace {

json::object action(const char* word) {
    return {{"action", word}};
}

json::object accepted(json::object content) {
    return {{"action", "accept"}, {"content", std::move(content)}};
}

// `file:///a/b` of an absolute path, percent-encoded; what is a URI already stays.
std::string root_uri(const std::string& root) {
    if (root.rfind("file://", 0) == 0) return root;
    std::string uri = "file://";
    for (const unsigned char c : root) {
        const bool plain =
            std::isalnum(c) || std::string_view("/-._~").find(char(c)) != std::string_view::npos;
        if (plain) {
            uri += char(c);
        } else {
            constexpr char kHex[] = "0123456789ABCDEF";
            uri += '%';
            uri += kHex[c >> 4];
            uri += kHex[c & 15];
        }
    }
    return uri;
}

}  // namespace

Responder::Responder(const config::ClientSettings& settings, AskPerson ask)
    : settings_(settings), ask_(std::move(ask)) {}

Question Responder::respond(const std::string& server, const std::string& method,
                            const json::object& params, Caller::Answer answer) const {
    if (method == "elicitation/create" && settings_.elicitation != "refuse")
        return elicit(server, params, std::move(answer));
    if (method == "roots/list" && !settings_.roots.empty())
        answer(roots());
    else if (method == "sampling/createMessage" && settings_.sampling == "fixed")
        answer(sampled());
    else
        answer(
            Error{ErrorCode::Unsupported, method + " is not offered by this client; see [client]"});
    return {};
}

json::object Responder::roots() const {
    json::array list;
    for (const auto& root : settings_.roots) list.push_back(json::object{{"uri", root_uri(root)}});
    return {{"roots", std::move(list)}};
}

json::object Responder::sampled() const {
    return {{"role", "assistant"},
            {"content", {{"type", "text"}, {"text", settings_.sampling_text}}},
            {"model", "patchbay-fixed"},
            {"stopReason", "endTurn"}};
}

Question Responder::elicit(const std::string& server, const json::object& params,
                           Caller::Answer answer) const {
    // A URL is for a person's browser: no fixed answer can have visited it.
    const auto* mode = params.if_contains("mode");
    const bool form = !mode || *mode != "url";
    if (form && settings_.elicitation == "ask" && ask_)
        return ask_(server, params, [answer](std::optional<json::object> content) {
            answer(content ? accepted(std::move(*content)) : action("decline"));
        });
    answer(form ? answered_alone(params) : action("decline"));
    return {};
}

json::object Responder::answered_alone(const json::object& params) const {
    if (settings_.elicitation == "fixed") return accepted(settings_.elicitation_content);
    if (settings_.elicitation == "ask") return action("cancel");  // nobody is there
    const auto* schema = params.if_contains("requestedSchema");
    if (!schema || !schema->is_object()) return accepted({});
    auto defaults = protocol::defaults_for(*schema);
    return defaults ? accepted(std::move(*defaults)) : action("decline");
}

json::object capabilities_of(const config::ClientSettings& settings) {
    json::object offered = settings.capabilities;
    if (!settings.roots.empty()) offered["roots"] = json::object();
    if (settings.elicitation != "refuse") offered["elicitation"] = {{"form", json::object()}};
    if (settings.sampling == "fixed") offered["sampling"] = json::object();
    return offered;
}

}  // namespace patchbay::connection
