#include "app/call_arguments.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verbs.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::app {
namespace json = boost::json;

namespace {

struct Kind {
    const char* method;
    const char* capability;
    const char* name_key;  // what identifies one
};
Kind kind_of(const std::string& kind) {
    if (kind == "templates") return {"resources/templates/list", "resources", "uriTemplate"};
    if (kind == "prompts") return {"prompts/list", "prompts", "name"};
    return {"resources/list", "resources", "uri"};
}

struct Listed {
    std::vector<std::pair<std::string, json::object>> things;  // server, definition
    std::vector<Error> errors;
    std::size_t answered = 0;  // servers
};

// From every server that offers them, all at once.
Listed list_things(Session& session, const Kind& kind, const std::string& server) {
    Listed listed;
    session.connect(server.empty() ? std::vector<std::string>{} : std::vector<std::string>{server});
    std::size_t missing = 0;
    for (const auto& id : session.host().connections().ids()) {
        if (!server.empty() && id != server) continue;
        auto& connection = session.host().connections().find(id).value().get();
        if (connection.state() != connection::State::Ready) {
            listed.errors.push_back({ErrorCode::Unavailable, connection.status().last_error});
            continue;
        }
        if (server.empty() && !connection.session()->can(kind.capability)) {
            ++listed.answered;  // it is there and has none
            continue;
        }
        ++missing;
        session.host().router().list_all(id, kind.method, [&, id](Result<json::array> items) {
            --missing;
            if (!items) return listed.errors.push_back(items.error());
            ++listed.answered;
            for (auto& item : *items) {
                if (item.is_object()) listed.things.emplace_back(id, std::move(item.get_object()));
            }
        });
    }
    session.wait([&] { return missing == 0; });
    return listed;
}

std::string text_of(const json::object& object, const char* key) {
    const auto* value = object.if_contains(key);
    return value && value->is_string()
               ? core::printable({value->get_string().data(), value->get_string().size()}, 500)
               : std::string();
}

// The server that lists a thing of this name; the error names what was asked.
Result<std::string> owner_of(Session& session, const Kind& kind, const std::string& name,
                             const char* word) {
    const auto listed = list_things(session, kind, "");
    std::vector<std::string> known;
    std::string owner;
    for (const auto& [server, thing] : listed.things) {
        const auto* value = thing.if_contains(kind.name_key);
        if (!value || !value->is_string()) continue;
        const std::string found(value->get_string());
        if (std::find(known.begin(), known.end(), found) == known.end()) known.push_back(found);
        if (found != name) continue;
        if (!owner.empty() && owner != server) {
            return Error{ErrorCode::Invalid, std::string(word) + " \"" + name +
                                                 "\" is offered by \"" + owner + "\" and \"" +
                                                 server + "\"; say which with --server"};
        }
        owner = server;
    }
    if (!owner.empty()) return owner;
    if (session.was_interrupted()) return Error{ErrorCode::Cancelled, "interrupted"};
    // It may be a server that is not there which has it.
    for (const auto& error : listed.errors) say("error: " + error.message);
    session.tell_troubles();
    return Error{ErrorCode::NotFound, std::string("no server lists the ") + word + " \"" +
                                          core::printable(name, 200) + "\"" +
                                          core::did_you_mean(name, known) +
                                          "; one that is not listed needs --server"};
}

// Arguments of prompts are strings, whatever they look like.
Result<json::object> string_arguments(const std::vector<std::string>& pairs) {
    json::object arguments;
    for (const auto& pair : pairs) {
        const auto cut = key_and_value(pair);
        if (!cut) return cut.error();
        arguments[cut->first] = cut->second;
    }
    return arguments;
}

// Sends one request and hands its result object to `print`.
int ask(Session& session, router::ServerRequest request,
        const std::function<Printed(const json::object&)>& print) {
    std::optional<int> code;
    auto& router = session.host().router();
    const auto id = router.request(std::move(request), [&](Result<connection::Reply> reply) {
        if (!reply) {
            code = session.report(reply.error());
        } else if (!reply->error.empty()) {
            print_rpc_error(reply->error, session.global().json);
            code = kFailure;
        } else {
            const auto value = parse_json(reply->result, "the result");
            code = kOk;
            if (session.global().json || !value || !value->is_object())
                print_json(reply->result);
            else if (print(value->get_object()).failed)
                code = kFailure;
        }
    });
    session.wait([&] { return code.has_value(); },
                 [&] { router.cancel(id, "interrupted by the user"); });
    return code.value_or(kInterrupted);
}

}  // namespace

int things_verb(const GlobalOptions& global, const std::string& kind_name,
                const std::string& server) {
    Session session(global, Session::Life::OneShot);
    if (!server.empty()) {
        if (auto found = session.host().connections().find(server); !found)
            return session.report_missing(server);
    }
    session.tell_troubles(server);
    const auto kind = kind_of(kind_name);
    const auto listed = list_things(session, kind, server);
    if (session.was_interrupted()) return kInterrupted;
    if (global.json) {
        json::array list;
        for (const auto& [id, thing] : listed.things) {
            json::object entry = thing;
            entry["server"] = id;
            list.push_back(std::move(entry));
        }
        print_json(json::serialize(list));
    } else {
        std::vector<std::vector<Cell>> rows;
        for (const auto& [id, thing] : listed.things) {
            const auto title = text_of(thing, "description").empty()
                                   ? text_of(thing, "name")
                                   : text_of(thing, "description");
            rows.push_back({{id},
                            {text_of(thing, kind.name_key)},
                            {core::printable(title.substr(0, title.find('\n')), 100)}});
        }
        print_table(rows);
    }
    for (const auto& error : listed.errors) say("error: " + error.message);
    if (listed.things.empty() && listed.errors.empty()) say("no " + kind_name);
    // What is there is listed though another server is not: that one is named on stderr.
    return listed.errors.empty() || listed.answered > 0 ? kOk : kUnavailable;
}

int read_resource_verb(const GlobalOptions& global, const std::string& uri,
                       const std::string& server, const std::string& output_directory) {
    Session session(global, Session::Life::OneShot, whoever_is_there());
    Result<std::string> owner = server;
    if (server.empty()) owner = owner_of(session, kind_of("resources"), uri, "resource");
    if (!owner) return session.report(owner.error());
    router::ServerRequest request;
    request.server = *owner;
    request.method = "resources/read";
    request.params.members = "\"uri\":" + protocol::quoted(uri);
    return ask(session, std::move(request), [&](const json::object& result) {
        Printed printed;
        const auto* contents = result.if_contains("contents");
        if (!contents || !contents->is_array()) return printed;
        for (const auto& each : contents->get_array()) {
            const json::object block{{"type", "resource"}, {"resource", each}};
            if (print_content(block, output_directory).failed) printed.failed = true;
        }
        return printed;
    });
}

int get_prompt_verb(const GlobalOptions& global, const std::string& name, const std::string& server,
                    const std::vector<std::string>& pairs, const std::string& output_directory) {
    const auto arguments = string_arguments(pairs);
    if (!arguments) return report(arguments.error(), global);
    Session session(global, Session::Life::OneShot, whoever_is_there());
    Result<std::string> owner = server;
    if (server.empty()) owner = owner_of(session, kind_of("prompts"), name, "prompt");
    if (!owner) return session.report(owner.error());
    router::ServerRequest request;
    request.server = *owner;
    request.method = "prompts/get";
    request.params.members =
        "\"name\":" + protocol::quoted(name) + ",\"arguments\":" + json::serialize(*arguments);
    return ask(session, std::move(request), [&](const json::object& result) {
        Printed printed;
        const auto* messages = result.if_contains("messages");
        if (!messages || !messages->is_array()) return printed;
        for (const auto& each : messages->get_array()) {
            const auto* message = each.if_object();
            if (!message) continue;
            print_foreign(text_of(*message, "role") + ":");
            const auto* content = message->if_contains("content");
            if (content && print_content(*content, output_directory).failed) printed.failed = true;
        }
        return printed;
    });
}

int complete_verb(const GlobalOptions& global, const CompleteOptions& complete) {
    const auto argument = key_and_value(complete.pair);
    if (!argument) return report(argument.error(), global);
    const auto context = string_arguments(complete.context);
    if (!context) return report(context.error(), global);
    Session session(global, Session::Life::OneShot, whoever_is_there());
    const bool of_prompt = !complete.prompt.empty();
    Result<std::string> owner = complete.server;
    if (complete.server.empty()) {
        owner = of_prompt ? owner_of(session, kind_of("prompts"), complete.prompt, "prompt")
                          : owner_of(session, kind_of("templates"), complete.resource, "template");
    }
    if (!owner) return session.report(owner.error());
    json::object params{
        {"ref", of_prompt ? json::object{{"type", "ref/prompt"}, {"name", complete.prompt}}
                          : json::object{{"type", "ref/resource"}, {"uri", complete.resource}}},
        {"argument", {{"name", argument->first}, {"value", argument->second}}}};
    if (!context->empty()) params["context"] = {{"arguments", *context}};
    router::ServerRequest request;
    request.server = *owner;
    request.method = "completion/complete";
    request.params.members = protocol::members_of(params);
    return ask(session, std::move(request), [](const json::object& result) {
        const auto* completion = result.if_contains("completion");
        const auto* found = completion ? completion->if_object() : nullptr;
        const auto* values = found ? found->if_contains("values") : nullptr;
        if (!values || !values->is_array()) return Printed();
        for (const auto& value : values->get_array()) {
            if (value.is_string()) print_foreign(value.get_string());
        }
        const auto* more = found->if_contains("hasMore");
        if (more && more->is_bool() && more->get_bool()) say("there are more");
        return Printed();
    });
}

}  // namespace patchbay::app
