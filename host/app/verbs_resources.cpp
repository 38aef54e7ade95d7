#include "app/call_arguments.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/uri_template.hpp"
#include "app/verbs.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

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
    std::vector<Error> denied;  // no error beside others that are not
    std::vector<std::string> denied_servers;
    std::size_t answered = 0;  // servers
};

// From every server that is connected and offers them, all at once.
Listed list_connected(Session& session, const Kind& kind, const std::string& server) {
    Listed listed;
    // Of servers. Whoever is not waited for any longer may still answer when we are gone.
    const auto missing = std::make_shared<std::set<std::string>>();
    for (const auto& id : session.host().connections().ids()) {
        if (!server.empty() && id != server) continue;
        auto& connection = session.host().connections().find(id).value().get();
        const auto status = connection.status();
        const bool ready = status.state == connection::State::Ready;
        if (!ready || session.was_interrupted()) {
            listed.errors.push_back(ready || session.cut_short(status)
                                        ? interrupted(id)
                                        : Error{ErrorCode::Unavailable, status.last_error});
            continue;
        }
        if (server.empty() && !connection.session()->can(kind.capability)) {
            ++listed.answered;  // it is there and has none
            continue;
        }
        missing->insert(id);
        const bool of_all = server.empty();
        session.host().router().list_all(
            id, kind.method, [&listed, missing, id, of_all](Result<json::array> items) {
                if (missing->erase(id) == 0) return;
                if (!items) {
                    // Where all are asked, one that the rules forbid is as if it had none.
                    const bool skipped = of_all && items.error().code == ErrorCode::Denied;
                    if (skipped) listed.denied_servers.push_back(id);
                    return (skipped ? listed.denied : listed.errors).push_back(items.error());
                }
                ++listed.answered;
                for (auto& item : *items) {
                    if (item.is_object())
                        listed.things.emplace_back(id, std::move(item.get_object()));
                }
            });
    }
    session.wait([&] { return missing->empty(); },
                 [&] {
                     for (const auto& id : std::exchange(*missing, {}))
                         listed.errors.push_back(interrupted(id));
                 });
    if (listed.answered == 0) {
        listed.errors.insert(listed.errors.end(), listed.denied.begin(), listed.denied.end());
        listed.denied.clear();
    }
    // Whoever answers first: the order is that of the servers, and each one's own.
    std::stable_sort(listed.things.begin(), listed.things.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return listed;
}

// Whose things a list lacks because rules forbid them: without this it looks as if there were none.
std::string denied_beside(const Listed& listed) {
    const auto& servers = listed.denied_servers;
    if (servers.empty()) return {};
    return servers.size() == 1 ? "; server " + servers.front() + " is denied"
                               : "; " + std::to_string(servers.size()) +
                                     " servers are denied: " + core::join(servers, ", ");
}

Listed list_things(Session& session, const Kind& kind, const std::string& server) {
    session.connect(server.empty() ? std::vector<std::string>{} : std::vector<std::string>{server});
    return list_connected(session, kind, server);
}

std::string text_of(const json::object& object, const char* key) {
    const auto* value = object.if_contains(key);
    return value && value->is_string()
               ? core::printable({value->get_string().data(), value->get_string().size()}, 500)
               : std::string();
}

// A thing that was named: whose it is, and what its server says of it.
struct Thing {
    std::string server;
    std::optional<json::object> definition;  // none: its server does not list it
};

// Of an URI that no server lists: the template that it may have come of, or is.
std::optional<Error> explained_by_template(Session& session, const std::string& uri) {
    const auto kind = kind_of("templates");
    for (const auto& [server, thing] : list_connected(session, kind, "").things) {
        const auto found = text_of(thing, kind.name_key);
        if (!may_come_of(uri, found)) continue;
        const auto of = " \"" + found + "\" of server \"" + server + "\"";
        const auto variables = template_variables(found);
        if (uri != found || variables.empty())
            return Error{ErrorCode::NotFound, "no server lists the resource \"" +
                                                  core::printable(uri, 200) +
                                                  "\", but it fits the template" + of +
                                                  "; to read it, add --server " + server};
        return Error{ErrorCode::Invalid, "there is the template" + of +
                                             ", and no such resource; write a value in place of " +
                                             core::join(variables, ", ")};
    }
    return {};
}

// "a", "b" and "c"; of many the first.
std::string all_of(std::vector<std::string> servers) {
    constexpr std::size_t kNamed = 10;
    for (auto& server : servers) server = "\"" + server + "\"";
    auto last = servers.back();
    servers.pop_back();
    if (servers.size() >= kNamed) {
        last = std::to_string(servers.size() + 1 - kNamed) + " more";
        servers.resize(kNamed);
    }
    return core::join(servers, ", ") + " and " + last;
}

// The thing of this name, from the one server that lists it; the error names what was asked.
Result<Thing> find_thing(Session& session, const Kind& kind, const std::string& name,
                         const char* word) {
    const auto listed = list_things(session, kind, "");
    std::vector<std::string> known;
    std::optional<Thing> only;
    std::vector<std::string> offering;
    for (const auto& [server, thing] : listed.things) {
        const auto* value = thing.if_contains(kind.name_key);
        if (!value || !value->is_string()) continue;
        const std::string found(value->get_string());
        if (std::find(known.begin(), known.end(), found) == known.end()) known.push_back(found);
        if (found != name) continue;
        if (offering.empty() || offering.back() != server) offering.push_back(server);
        only = Thing{server, thing};
    }
    if (offering.size() > 1)
        return Error{ErrorCode::Invalid, std::string(word) + " \"" + core::printable(name, 200) +
                                             "\" is offered by " + all_of(offering) +
                                             "; say which with --server"};
    if (only) return *only;
    if (session.was_interrupted()) return Error{ErrorCode::Cancelled, "interrupted"};
    // It may be a server that is not there which has it, or one that may not be asked.
    for (const auto* errors : {&listed.errors, &listed.denied})
        for (const auto& error : *errors) say("error: " + error.message);
    session.tell_troubles();
    if (std::string_view(kind.name_key) == "uri")
        if (auto explained = explained_by_template(session, name)) return *explained;
    return Error{ErrorCode::NotFound, std::string("no server lists the ") + word + " \"" +
                                          core::printable(name, 200) + "\"" +
                                          core::did_you_mean(name, known) +
                                          "; one that is not listed needs --server"};
}

// The same of a server that was named, which may have things that it does not list.
Result<Thing> find_thing_of(Session& session, const Kind& kind, const std::string& name,
                            const std::string& server) {
    std::optional<Result<json::array>> items;
    session.host().router().list_all(server, kind.method,
                                     [&](Result<json::array> told) { items = std::move(told); });
    session.wait([&] { return items.has_value(); });
    if (!items || session.was_interrupted()) return Error{ErrorCode::Cancelled, "interrupted"};
    Thing thing{server, {}};
    if (!*items) {
        const auto code = items->error().code;
        const bool lists_none = code == ErrorCode::Protocol || code == ErrorCode::Unsupported ||
                                code == ErrorCode::Limit;
        return lists_none ? Result<Thing>(thing) : Result<Thing>(items->error());
    }
    for (auto& item : **items) {
        const auto* object = item.if_object();
        const auto* value = object ? object->if_contains(kind.name_key) : nullptr;
        if (value && value->is_string() && std::string_view(value->get_string()) == name)
            thing.definition = std::move(item.get_object());
    }
    return thing;
}

Result<Thing> thing_of(Session& session, const Kind& kind, const std::string& name,
                       const char* word, const std::string& server) {
    if (server.empty()) return find_thing(session, kind, name, word);
    return find_thing_of(session, kind, name, server);
}

// What a server has declared is all that it takes: a name that is none of these is misspelt, and
// servers pass over it in silence.
Result<void> check_names(const json::object& given, const std::vector<std::string>& known,
                         const std::string& of) {
    for (const auto& member : given) {
        const std::string name(member.key());
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        return Error{
            ErrorCode::Invalid,
            of + ": unknown argument \"" + core::printable(name, 80) + "\"" +
                core::did_you_mean(name, known) +
                (known.empty() ? "; it takes none" : "; known: " + core::join(known, ", "))};
    }
    return {};
}

std::vector<std::string> arguments_of(const json::object& prompt) {
    std::vector<std::string> names;
    const auto* declared = prompt.if_contains("arguments");
    if (!declared || !declared->is_array()) return names;
    for (const auto& each : declared->get_array())
        if (const auto* argument = each.if_object()) names.push_back(text_of(*argument, "name"));
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

// Arguments of prompts are strings, whatever they look like.
Result<json::object> string_arguments(const std::vector<std::string>& pairs) {
    json::object arguments;
    for (const auto& pair : pairs) {
        const auto cut = key_and_value(pair);
        if (!cut) return cut.error();
        if (arguments.contains(cut->first)) return given_twice(cut->first);
        arguments[cut->first] = cut->second;
    }
    return arguments;
}

// Sends one request and hands its result object to `print`.
int ask(Session& session, router::ServerRequest request,
        const std::function<Printed(const json::object&)>& print) {
    std::optional<int> code;
    auto& router = session.host().router();
    const auto server = request.server;
    const auto id = router.request(std::move(request), [&](Result<connection::Reply> reply) {
        if (!reply) {
            code = session.report(reply.error());
        } else if (!reply->error.empty()) {
            print_rpc_error(reply->error, session.global().json, server);
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
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    if (server.empty())
        session.tell_troubles();
    else
        session.tell_troubles_of({server});
    if (!session.has(server)) return session.report_missing(session.no_such_server(server));
    const auto kind = kind_of(kind_name);
    const auto listed = list_things(session, kind, server);
    // What is there is listed though another server is not: that one is named on stderr, and the
    // exit code says that the list is not whole.
    if (!listed.errors.empty() && listed.answered == 0)
        return session.report(nobody_answered(listed.errors));
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
    if (session.was_interrupted()) return kInterrupted;
    const bool none = listed.things.empty() && listed.errors.empty();
    if (none && session.host().connections().ids().empty() && session.misconfigured())
        return kConfigError;
    if (none)
        say("no " + kind_name + denied_beside(listed));
    else if (!listed.denied_servers.empty() && !global.quiet)
        say("note: " + denied_beside(listed).substr(2));
    return listed.errors.empty() ? kOk : kFailure;
}

int read_resource_verb(const GlobalOptions& global, const std::string& uri,
                       const std::string& server, const std::string& output_directory) {
    const auto opened = Session::open(global, Session::Life::OneShot, whoever_is_there());
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.tell_troubles_of({server});
    if (!session.has(server)) return session.report_missing(session.no_such_server(server));
    const auto thing = server.empty() ? find_thing(session, kind_of("resources"), uri, "resource")
                                      : Result<Thing>(Thing{server, {}});
    if (!thing) return session.report(thing.error());
    router::ServerRequest request;
    request.server = thing->server;
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
    const auto opened = Session::open(global, Session::Life::OneShot, whoever_is_there());
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.tell_troubles_of({server});
    if (!session.has(server)) return session.report_missing(session.no_such_server(server));
    const auto thing = thing_of(session, kind_of("prompts"), name, "prompt", server);
    if (!thing) return session.report(thing.error());
    if (thing->definition) {
        const auto of = "prompt \"" + core::printable(name, 200) + "\"";
        auto checked = check_names(*arguments, arguments_of(*thing->definition), of);
        if (checked) checked = check_required(*arguments, *thing->definition, of);
        if (!checked) return session.report(checked.error());
    }
    router::ServerRequest request;
    request.server = thing->server;
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
    const auto opened = Session::open(global, Session::Life::OneShot, whoever_is_there());
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.tell_troubles_of({complete.server});
    const bool of_prompt = !complete.prompt.empty();
    const auto& name = of_prompt ? complete.prompt : complete.resource;
    const char* word = of_prompt ? "prompt" : "template";
    if (!session.has(complete.server))
        return session.report_missing(session.no_such_server(complete.server));
    const auto thing = thing_of(session, kind_of(of_prompt ? "prompts" : "templates"), name, word,
                                complete.server);
    if (!thing) return session.report(thing.error());
    if (thing->definition) {
        const auto known = of_prompt ? arguments_of(*thing->definition) : template_variables(name);
        auto given = *context;
        given[argument->first] = argument->second;
        const auto checked = check_names(
            given, known, std::string(word) + " \"" + core::printable(name, 200) + "\"");
        if (!checked) return session.report(checked.error());
    }
    json::object params{
        {"ref", of_prompt ? json::object{{"type", "ref/prompt"}, {"name", complete.prompt}}
                          : json::object{{"type", "ref/resource"}, {"uri", complete.resource}}},
        {"argument", {{"name", argument->first}, {"value", argument->second}}}};
    if (!context->empty()) params["context"] = {{"arguments", *context}};
    router::ServerRequest request;
    request.server = thing->server;
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
