#include "service/requests.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/uri_template.hpp"

#include <algorithm>

namespace patchbay::service {
namespace json = boost::json;

namespace {

// What a server has declared is all that it takes: a name that is none of these is misspelt, and
// servers pass over it in silence.
Result<void> check_names(const json::object& given, const std::vector<std::string>& known,
                         const std::string& of) {
    for (const auto& member : given) {
        const std::string name(member.key());
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        return Error{ErrorCode::Invalid,
                     core::behind_hint(
                         of + ": unknown argument \"" + core::printable(name, 80) + "\"" +
                             core::did_you_mean(name, known),
                         known.empty() ? "it takes none" : "known: " + core::join(known, ", "))};
    }
    return {};
}

std::vector<std::string> arguments_of(const json::object& prompt) {
    std::vector<std::string> names;
    const auto* declared = prompt.if_contains("arguments");
    if (!declared || !declared->is_array()) return names;
    for (const auto& each : declared->get_array())
        if (const auto* argument = each.if_object())
            names.push_back(core::printable(core::text_in(argument, "name").value_or(""), 500));
    return names;
}

Result<void> check_required(const json::object& given, const json::object& prompt,
                            const std::string& of) {
    std::vector<std::string> missing;
    const auto* declared = core::array_in(&prompt, "arguments");
    for (const auto& each : declared ? *declared : json::array()) {
        const auto* argument = each.if_object();
        const auto name = core::text_in(argument, "name");
        if (name && core::flag_in(argument, "required") == true && !given.contains(*name))
            missing.push_back("\"" + core::printable(*name, 80) + "\"");
    }
    if (missing.empty()) return {};
    return Error{ErrorCode::Invalid, of + ": required and not given: " + core::join(missing, ", ")};
}

std::string called(Kind kind, const std::string& name) {
    return std::string(words_of(kind).word) + " \"" + core::printable(name, 200) + "\"";
}

router::ServerRequest request_of(const std::string& server, const char* method,
                                 std::string members) {
    router::ServerRequest request;
    request.server = server;
    request.method = method;
    request.params.members = std::move(members);
    return request;
}

}  // namespace

router::ServerRequest read_resource(const std::string& server, const std::string& uri) {
    return request_of(server, "resources/read", "\"uri\":" + protocol::quoted(uri));
}

Result<router::ServerRequest> get_prompt(const NamedThing& prompt, const std::string& name,
                                         const json::object& arguments) {
    if (prompt.definition) {
        const auto of = called(Kind::Prompts, name);
        auto checked = check_names(arguments, arguments_of(*prompt.definition), of);
        if (checked) checked = check_required(arguments, *prompt.definition, of);
        if (!checked) return checked.error();
    }
    return request_of(
        prompt.server, "prompts/get",
        "\"name\":" + protocol::quoted(name) + ",\"arguments\":" + json::serialize(arguments));
}

Result<router::ServerRequest> complete(const NamedThing& thing, const Completion& completion) {
    const bool of_prompt = completion.of == Kind::Prompts;
    if (thing.definition) {
        auto given = completion.settled;
        given[completion.argument] = completion.begun;
        const auto known = of_prompt ? arguments_of(*thing.definition)
                                     : protocol::template_variables(completion.name);
        const auto checked = check_names(given, known, called(completion.of, completion.name));
        if (!checked) return checked.error();
    }
    json::object params{
        {"ref", of_prompt ? json::object{{"type", "ref/prompt"}, {"name", completion.name}}
                          : json::object{{"type", "ref/resource"}, {"uri", completion.name}}},
        {"argument", {{"name", completion.argument}, {"value", completion.begun}}}};
    if (!completion.settled.empty()) params["context"] = {{"arguments", completion.settled}};
    return request_of(thing.server, "completion/complete", protocol::members_of(params));
}

Result<const json::array*> listed_in(const json::object& result, const std::string& server,
                                     const std::string& method) {
    const bool completes = method == "completion/complete";
    const char* const path = completes                 ? "completion.values"
                             : method == "prompts/get" ? "messages"
                                                       : "contents";
    const auto* list = completes ? core::array_in(core::object_in(&result, "completion"), "values")
                                 : core::array_in(&result, path);
    if (list) return list;
    return Error{ErrorCode::Protocol, "server \"" + server + "\": answered " + method +
                                          " with a result whose \"" + path + "\" is no array"};
}

}  // namespace patchbay::service
