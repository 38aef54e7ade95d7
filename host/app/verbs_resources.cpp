#include "app/call_arguments.hpp"
#include "app/named_thing.hpp"
#include "app/output.hpp"
#include "app/server_wait.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "app/visible_json.hpp"
#include "core/json.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"
#include "service/requests.hpp"
#include "service/things.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using service::Kind;
using service::NamedThing;
using service::ThingList;

namespace {

struct CompleteOptions {
    std::string prompt, resource;      // one of them: a prompt's name, a template's URI
    std::string server;                // empty: the one that lists it
    std::string pair;                  // ARGUMENT=WHAT IS TYPED SO FAR
    std::vector<std::string> context;  // key=value of arguments that are settled
    bool yes = false;
};

Kind kind_of(const std::string& name) {
    return name == "templates" ? Kind::Templates
           : name == "prompts" ? Kind::Prompts
                               : Kind::Resources;
}

// Whose things a list lacks because rules forbid them: without this it looks as if there were none.
std::string denied_beside(const ThingList& listed) {
    std::vector<std::string> servers;
    for (const auto& each : listed.denied) servers.push_back(each.server);
    if (servers.empty()) return {};
    return servers.size() == 1 ? "; server " + servers.front() + " is denied"
                               : "; " + std::to_string(servers.size()) +
                                     " servers are denied: " + core::join(servers, ", ");
}

// Arguments of prompts are strings, whatever they look like.
Result<json::object> string_arguments(const std::vector<std::string>& pairs) {
    json::object arguments;
    for (const auto& pair : pairs) {
        const auto cut = key_and_value(pair);
        if (!cut) return cut.error();
        if (cut->first.size() > 1 && cut->first.ends_with(':'))
            return Error{
                ErrorCode::Invalid,
                "\"" + core::printable(pair, 80) +
                    "\": := is for the arguments of tools; these are strings, write " +
                    core::shell_word(
                        cut->first.substr(0, cut->first.size() - 1) + "=" + cut->second, 160)};
        if (arguments.contains(cut->first)) return given_twice(cut->first);
        arguments[cut->first] = cut->second;
    }
    return arguments;
}

// As the server has it: a prompt may have been named as clients have it.
std::string own_name(const NamedThing& prompt, const std::string& typed) {
    const auto* definition = prompt.definition ? &*prompt.definition : nullptr;
    return std::string(core::text_in(definition, "name").value_or(typed));
}

// Prints the items of an answer, which are of their kind; what they stand in may say more.
using PrintItems = std::function<Printed(const json::array& items, const json::object& result)>;

int print_answer(const Session& session, std::string_view raw, const std::string& server,
                 const std::string& method, const PrintItems& print) {
    const auto value = core::parse_json(raw);
    if (!value || !value->is_object()) return print_foreign_json(raw), kOk;
    const auto& result = value->get_object();
    const auto listed = service::listed_in(result, server, method);
    if (!listed) return session.report(listed.error());
    auto items = **listed;
    const auto kind = method == "completion/complete" ? json::kind::string : json::kind::object;
    const auto note = service::left_out_of(items, server, method, kind);
    if (!note.empty() && !session.global().quiet) say("warning: " + note);
    if (session.global().json) return print_foreign_json(raw), kOk;
    items.erase(std::remove_if(items.begin(), items.end(),
                               [&](const auto& item) { return item.kind() != kind; }),
                items.end());
    return print(items, result).failed ? kFailure : kOk;
}

// Sends one request and has the items that it is answered with printed.
int ask(Session& session, const router::ServerRequest& request, const PrintItems& print) {
    std::optional<Result<connection::Reply>> reply;
    const auto server = request.server, method = request.method;
    const auto send = [&] {
        reply.reset();
        const auto id = session.asked().request(
            request, [&](Result<connection::Reply> answer) { reply.emplace(std::move(answer)); });
        return session.wait([&] { return reply.has_value(); },
                            [&] { session.asked().cancel(id, "interrupted by the user"); });
    };
    if (!send() || !reply) return kInterrupted;
    if (!*reply && asks_better_alone(reply->error())) {
        session.ask_own();
        if (!send() || !reply) return kInterrupted;
    }
    if (!*reply) return session.report(reply->error());
    if ((*reply)->error.empty())
        return print_answer(session, (*reply)->result, server, method, print);
    print_rpc_error((*reply)->error, session.global().json, server);
    return kFailure;
}

void print_things(const ThingList& listed, Kind kind, bool as_json) {
    if (as_json) {
        json::array list;
        for (const auto& thing : listed.things) {
            auto shown = service::to_json(thing);
            service::add_standing(shown, thing.server, listed.heard);
            list.push_back(std::move(shown));
        }
        return print_json(json::serialize(list));
    }
    std::vector<std::vector<Cell>> rows;
    for (const auto& thing : listed.things) {
        const auto& definition = thing.definition;
        const auto described = printable_in(definition, "description");
        const auto title = described.empty() ? printable_in(definition, "name") : described;
        rows.push_back({{thing.server},
                        {printable_in(definition, service::words_of(kind).name_key)},
                        {core::printable(title.substr(0, title.find('\n')), 100)}});
    }
    print_table(rows);
}

// kind: "resources" or "templates" or "prompts"
int things_verb(const GlobalOptions& global, const std::string& kind_name,
                const std::string& server, Which which) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    if (server.empty())
        session.troubles().tell_all();
    else
        session.troubles().tell_those_of({server});
    if (!session.servers().has(server)) return session.report_no_server(server);
    ask_who_runs(session, server);
    const auto kind = kind_of(kind_name);
    std::set<std::string> shown;  // servers whose things were printed while others were silent
    const auto show = [&](const ThingList& list) {
        ThingList fresh;
        fresh.heard = list.heard;
        std::set<std::string> servers;
        for (const auto& thing : list.things) {
            if (shown.contains(thing.server)) continue;
            fresh.things.push_back(thing);
            servers.insert(thing.server);
        }
        shown.merge(servers);
        print_things(fresh, kind, global.json);
        static_cast<void>(stdout_error());  // whoever reads has it now
    };
    // JSON is one document.
    const auto listed = global.json ? list_things(session, kind, server, which)
                                    : list_things(session, kind, server, which, show);
    // What is there is listed though another server is not: that one is named on stderr, and the
    // exit code says that the list is not whole.
    if (!listed.errors.empty() && listed.answered == 0)
        return session.report(service::nobody_answered(listed.errors));
    tell_when_listed(listed.heard,
                     which == Which::Refreshed ? service::Ask::Anew : service::Ask::IfStale,
                     global);
    show(listed);
    for (const auto& each : listed.errors) say("error: " + each.error.message);
    if (session.was_interrupted()) return kInterrupted;
    const bool none = listed.things.empty() && listed.errors.empty();
    if (none && session.host().connections().ids().empty() && session.servers().misconfigured())
        return kConfigError;
    if (none && session.host().connections().ids().empty())
        say("no " + kind_name + ": " + session.servers().nobody_to_ask().message);
    else if (none)
        say("no " + kind_name + denied_beside(listed));
    else if (!listed.denied.empty() && !global.quiet)
        say("note: " + denied_beside(listed).substr(2));
    return listed.errors.empty() ? kOk : kFailure;
}

Printed print_contents(const json::array& contents, const std::string& output_directory) {
    Printed printed;
    for (const auto& each : contents) {
        const json::object block{{"type", "resource"}, {"resource", each}};
        if (print_content(block, output_directory).failed) printed.failed = true;
    }
    return printed;
}

int read_resource_verb(const GlobalOptions& global, const std::string& uri,
                       const std::string& server, const std::string& output_directory) {
    return with_thing(global, Kind::Resources, uri, server, [&](Session& session, const auto& of) {
        return ask(
            session, service::read_resource(of.server, uri),
            [&](const json::array& contents, const json::object&) {
                if (contents.empty() && !global.quiet)
                    say("warning: server \"" + of.server + "\": the resource has no contents");
                return print_contents(contents, output_directory);
            });
    });
}

Printed print_messages(const json::array& messages, const std::string& output_directory) {
    Printed printed;
    for (const auto& each : messages) {
        const auto& message = each.get_object();
        print_foreign(printable_in(message, "role") + ":");
        const auto* content = message.if_contains("content");
        if (content && print_content(*content, output_directory).failed) printed.failed = true;
    }
    return printed;
}

// For whoever has put it before the name.
constexpr const char* kNamesAServer = "; a server is named by --server ID";

int get_prompt_verb(const GlobalOptions& global, const std::string& name, const std::string& server,
                    const std::vector<std::string>& pairs, const std::string& output_directory) {
    const auto arguments = string_arguments(pairs);
    if (!arguments) {
        auto error = arguments.error();
        if (std::any_of(pairs.begin(), pairs.end(),
                        [](const auto& pair) { return pair.find('=') == pair.npos; }))
            error.message += kNamesAServer;
        return report(error, global);
    }
    return with_thing(global, Kind::Prompts, name, server, [&](Session& session, const auto& of) {
        auto request = service::get_prompt(of, own_name(of, name), *arguments);
        if (!request) return session.report(request.error());
        return ask(session, std::move(*request),
                   [&](const json::array& messages, const json::object&) {
                       return print_messages(messages, output_directory);
                   });
    });
}

Printed print_completion(const json::array& values, const json::object& result) {
    for (const auto& value : values) print_foreign(value.get_string());
    const auto* told = core::object_in(&result, "completion");
    if (core::flag_in(told, "hasMore") == true) say("there are more");
    return {};
}

int complete_verb(const GlobalOptions& global, const CompleteOptions& complete) {
    const auto argument = key_and_value(complete.pair);
    if (!argument) return report(argument.error(), global);
    const auto context = string_arguments(complete.context);
    if (!context) return report(context.error(), global);
    const service::Completion completion{
        complete.prompt.empty() ? Kind::Templates : Kind::Prompts,
        complete.prompt.empty() ? complete.resource : complete.prompt, argument->first,
        argument->second, *context};
    return with_thing(global, completion.of, completion.name, complete.server,
                      [&](Session& session, const auto& of) {
                          auto asked = completion;
                          if (asked.of == Kind::Prompts) asked.name = own_name(of, asked.name);
                          auto request = service::complete(of, asked);
                          if (!request) return session.report(request.error());
                          return ask(session, std::move(*request), print_completion);
                      });
}

constexpr const char* kSaved = "Where binary content is saved";

void add_list_verb(CLI::App& parent, Choice& choice, const char* name, const char* kind,
                   const std::string& examples) {
    struct Words {
        std::string server;
        bool refresh = false;
    };
    const auto words = std::make_shared<Words>();
    const bool templates = kind_of(kind) == Kind::Templates;
    auto& list =
        add_verb(parent, name, std::string("List ") + (templates ? "resource templates" : kind),
                 examples +
                     "\nWhat a server listed before is shown without starting it (-v tells of when "
                     "that is).");
    take_server(list, words->server);
    list.add_flag("--refresh", words->refresh,
                  "Ask the servers, also those that have listed theirs before");
    choice.on(list, [words, kind](const auto& global) {
        return things_verb(global, kind, words->server,
                           words->refresh ? Which::Refreshed : Which::Known);
    });
}

void add_resource_verbs(CLI::App& app, Choice& choice) {
    auto& resources = add_verb(
        app, "resources", "Resources: list, templates, read",
        "  patchbay resources list\n  patchbay resources read file:///tmp/a.txt --server files");
    resources.require_subcommand(1);
    add_list_verb(resources, choice, "list", "resources",
                  "  patchbay resources list --server files");
    add_list_verb(resources, choice, "templates", "templates", "  patchbay resources templates");
    struct Words {
        std::string server, uri, output_directory = ".";
        bool yes = false;
    };
    const auto words = std::make_shared<Words>();
    auto& read = add_verb(resources, "read", "Read one resource",
                          "  patchbay resources read demo://one --server everything");
    read.add_option("URI", words->uri, "The resource")->required();
    take_server(read, words->server, "The server; else the one that lists the URI");
    take_output_directory(read, words->output_directory, kSaved);
    take_yes(read, words->yes);
    choice.on(read, [words](const auto& global) {
        return read_resource_verb(with_yes(global, words->yes), words->uri, words->server,
                                  words->output_directory);
    });
}

void add_prompt_verbs(CLI::App& app, Choice& choice) {
    auto& prompts = add_verb(
        app, "prompts", "Prompts: list, get",
        "  patchbay prompts list\n  patchbay prompts get review code=@x --server everything");
    prompts.require_subcommand(1);
    add_list_verb(prompts, choice, "list", "prompts", "  patchbay prompts list");
    struct Words {
        std::string server, name, output_directory = ".";
        std::vector<std::string> pairs;
        bool yes = false;
    };
    const auto words = std::make_shared<Words>();
    auto& get = add_verb(prompts, "get", "Get one prompt",
                         "  patchbay prompts get simple-prompt --server everything");
    get.add_option("NAME", words->name,
                   "The prompt, by its server's name or as mcp__SERVER__PROMPT")
        ->required();
    get.add_option("KEY=VALUE", words->pairs, "Arguments, all strings");
    take_server(get, words->server, "The server; else the one that lists the prompt");
    take_output_directory(get, words->output_directory, kSaved);
    take_yes(get, words->yes);
    choice.on(get, [words](const auto& global) {
        return get_prompt_verb(with_yes(global, words->yes), words->name, words->server,
                               words->pairs, words->output_directory);
    });
}

void add_complete_verb(CLI::App& app, Choice& choice) {
    const auto complete = std::make_shared<CompleteOptions>();
    auto& verb = add_verb(
        app, "complete", "Ask a server how an argument of a prompt or resource template may go on",
        "  patchbay complete --prompt greet style=fo --server example\n  patchbay complete "
        "--resource 'repo://{owner}/{name}' name=pa --context owner=me");
    auto* of_prompt = verb.add_option("--prompt", complete->prompt, "The prompt");
    auto* of_resource =
        verb.add_option("--resource", complete->resource, "The resource template's URI");
    of_prompt->excludes(of_resource);
    verb.add_option("KEY=VALUE", complete->pair, "The argument and what is typed of it")
        ->required();
    take_server(verb, complete->server, "The server; else the one that lists it");
    take_each(verb, "--context", complete->context, "KEY=VALUE",
              "An argument that is settled (repeatable)");
    take_yes(verb, complete->yes);
    verb.callback([complete, &choice] {
        if (complete->prompt.empty() && complete->resource.empty())
            throw CLI::RequiredError("--prompt or --resource");
        choice.pick([complete](const auto& global) {
            return complete_verb(with_yes(global, complete->yes), *complete);
        });
    });
}

}  // namespace

void add_thing_verbs(CLI::App& app, Choice& choice) {
    add_resource_verbs(app, choice);
    add_prompt_verbs(app, choice);
    add_complete_verb(app, choice);
}

}  // namespace patchbay::app
