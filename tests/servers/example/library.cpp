#include "example/library.hpp"

#include "example/server.hpp"
#include "example/wire.hpp"

#include <algorithm>
#include <charconv>

namespace example {
namespace json = boost::json;

namespace {

constexpr std::string_view kItem = "example://item/";
constexpr const char* kCaching = R"(,"ttlMs":60000,"cacheScope":"public")";

const std::vector<std::string_view> kResources{
    R"({"uri":"example://text","name":"text","mimeType":"text/plain","description":"A line of text."})",
    R"({"uri":"example://blob","name":"blob","mimeType":"application/octet-stream"})"};
const std::vector<std::string_view> kTemplates{
    R"({"uriTemplate":"example://item/{n}","name":"item","mimeType":"text/plain"})"};
const std::vector<std::string_view> kPrompts{
    R"({"name":"simple","description":"Takes nothing."})",
    R"({"name":"greet","description":"Greets somebody.","arguments":[{"name":"who","required":true},{"name":"style","description":"plain or formal"}]})"};

std::string text_of(const json::object& object, std::string_view key) {
    const auto* text = string_in(object, key);
    return text ? std::string(text->data(), text->size()) : std::string();
}

void answer_caching(Session& session, const Request& request, std::string members) {
    if (request.era == Era::Modern) members += kCaching;
    session.answer({request.id, request.era}, members);
}

void read_resource(Session& session, const Request& request) {
    const std::string uri = text_of(request.params, "uri");
    std::string body;
    if (uri == "example://text")
        body = R"("mimeType":"text/plain","text":"The text of a resource.\n")";
    else if (uri == "example://blob")
        body = R"("mimeType":"application/octet-stream","blob":"AAECA/8=")";
    else if (uri.size() > kItem.size() && uri.compare(0, kItem.size(), kItem) == 0) {
        body = "\"mimeType\":\"text/plain\",\"text\":" + quoted("item " + uri.substr(kItem.size()));
    } else {
        return session.fail(request.id, request.era == Era::Modern ? -32602 : -32002,
                            "Resource not found", "{\"uri\":" + quoted(uri) + "}");
    }
    answer_caching(session, request, "\"contents\":[{\"uri\":" + quoted(uri) + "," + body + "}]");
}

void get_prompt(Session& session, const Request& request) {
    static const json::object none;
    const std::string name = text_of(request.params, "name");
    const auto* given = object_in(request.params, "arguments");
    const auto& arguments = given ? *given : none;
    std::string text;
    if (name == "simple")
        text = "This is a simple prompt.";
    else if (name == "greet") {
        const std::string who = text_of(arguments, "who");
        if (who.empty())
            return session.fail(request.id, -32602, "prompt \"greet\" needs the argument \"who\"");
        text = (text_of(arguments, "style") == "formal" ? "Good day, " : "Hello, ") + who + ".";
    } else {
        return session.fail(request.id, -32602, "Unknown prompt: " + name);
    }
    session.answer({request.id, request.era},
                   "\"description\":\"A prompt.\",\"messages\":[{\"role\":\"user\",\"content\":"
                   "{\"type\":\"text\",\"text\":" +
                       quoted(text) + "}}]");
}

void complete(Session& session, const Request& request) {
    const auto* argument = object_in(request.params, "argument");
    if (!argument) return session.fail(request.id, -32602, "completion/complete needs an argument");
    const std::string name = text_of(*argument, "name"), start = text_of(*argument, "value");
    static const std::vector<std::string_view> kPeople{"Ada", "Alan", "Barbara", "Edsger", "Grace"};
    static const std::vector<std::string_view> kStyles{"formal", "plain"};
    static const std::vector<std::string_view> kItems{"1", "10", "2", "3"};
    static const std::vector<std::string_view> kNothing;
    const auto& words = name == "who"     ? kPeople
                        : name == "style" ? kStyles
                        : name == "n"     ? kItems
                                          : kNothing;
    std::string list;
    int found = 0;
    for (const auto word : words) {
        if (word.substr(0, start.size()) != start) continue;
        (list += found++ ? "," : "") += quoted(word);
    }
    session.answer({request.id, request.era}, "\"completion\":{\"values\":[" + list +
                                                  "],\"total\":" + std::to_string(found) +
                                                  ",\"hasMore\":false}");
}

}  // namespace

void answer_page(Session& session, const Request& request, std::string_view key,
                 const std::vector<std::string_view>& entries) {
    const auto& options = session.server().options();
    std::size_t from = 0;
    const std::string cursor = text_of(request.params, "cursor");
    if (!cursor.empty() && !options.repeat_cursor) {
        const auto [end, wrong] =
            std::from_chars(cursor.data(), cursor.data() + cursor.size(), from);
        if (wrong != std::errc() || *end != '\0' || from > entries.size()) {
            return session.fail(request.id, -32602, "Invalid cursor");
        }
    }
    const std::size_t size =
        options.page_size > 0 ? static_cast<std::size_t>(options.page_size) : entries.size();
    const std::size_t to = std::min(entries.size(), from + size);
    std::string members;
    members.append("\"").append(key).append("\":[");
    for (std::size_t i = from; i < to; ++i) (members += i == from ? "" : ",") += entries[i];
    members += ']';
    if (options.repeat_cursor)
        members += ",\"nextCursor\":\"again\"";
    else if (to < entries.size())
        members += ",\"nextCursor\":\"" + std::to_string(to) + "\"";
    answer_caching(session, request, std::move(members));
}

bool serve_library(Session& session, const Request& request) {
    const auto method = request.method;
    if (method == "resources/list")
        answer_page(session, request, "resources", kResources);
    else if (method == "resources/templates/list")
        answer_page(session, request, "resourceTemplates", kTemplates);
    else if (method == "resources/read")
        read_resource(session, request);
    else if (method == "prompts/list")
        answer_page(session, request, "prompts", kPrompts);
    else if (method == "prompts/get")
        get_prompt(session, request);
    else if (method == "completion/complete")
        complete(session, request);
    else
        return false;
    return true;
}

}  // namespace example
