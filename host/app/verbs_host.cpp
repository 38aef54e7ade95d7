#include "app/distant_host.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "connection/sandbox_updates.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::app {

namespace {

// One byte more than counts, so that whoever judges it sees that it is too long.
Result<std::string> read_stdin() {
    std::string text(connection::kMostSandboxStateBytes + 1, '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::cin.gcount()));
    if (std::cin.bad() || std::ferror(stdin))
        return Error{ErrorCode::Io, "stdin cannot be read; is it closed?"};
    return text;
}

// Read here too: what is wrong in it needs no host, and a line of the socket has no line feed in it.
Result<std::string> state_of(const std::string& given) {
    auto text = given == "-" ? read_stdin() : Result<std::string>(given);
    if (!text) return text;
    const auto state = connection::sandbox_state_in(*text);
    if (!state) return state.error();
    return *state ? (*state)->text : std::string("null");
}

using Ask = std::function<int(Session& session, DistantHost& host)>;
int ask_the_host(const GlobalOptions& global, const Ask& ask) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    auto line = look_for_host(session, Guest::Person, Fit::Any);
    if (!line)
        return session.report({ErrorCode::Unavailable,
                               "no host runs for this folder and configuration that could keep a "
                               "sandbox state; `patchbay run` starts one"});
    DistantHost host(session.servers(), std::move(line));
    return ask(session, host);
}

void say_told(std::string_view answer) {
    std::vector<std::string> servers;
    const auto told = core::parse_json_object(answer);
    if (const auto* list = told ? core::array_in(&*told, "servers") : nullptr)
        for (const auto& each : *list) servers.emplace_back(core::text_of(each).value_or(""));
    if (servers.empty())
        say("no server that is connected declares codex/sandbox-state; those that connect later "
            "and do are told");
    else
        say("told: " + core::join(servers, ", "));
}

int set_verb(const GlobalOptions& global, const std::string& given) {
    const auto state = state_of(given);
    if (!state) return report(state.error(), global);
    return ask_the_host(global, [&](Session& session, DistantHost& host) {
        const auto told = host.sandbox_state(*state);
        if (!told) return session.report(told.error());
        if (global.json)
            print_json(*told);
        else if (!global.quiet && *state != "null")
            say_told(*told);
        return int(kOk);
    });
}

int show_verb(const GlobalOptions& global) {
    return ask_the_host(global, [&](Session& session, DistantHost& host) {
        const auto state = host.sandbox_state();
        if (!state) return session.report(state.error());
        print_json(*state);
        return int(kOk);
    });
}

}  // namespace

void add_host_verbs(CLI::App& app, Choice& choice) {
    auto& host = add_verb(app, "host", "The host that runs: sandbox-state",
                          "  patchbay host sandbox-state show");
    host.require_subcommand(1);
    auto& state = add_verb(
        host, "sandbox-state",
        "Under which sandbox programs are run, for servers that want to know: set, show, clear",
        "  patchbay host sandbox-state set '{\"sandboxPolicy\":{\"type\":\"read-only\"}}'\nServers "
        "that "
        "declare the experimental capability codex/sandbox-state are told by\n"
        "codex/sandbox-state/update when they connect and when it changes.");
    state.require_subcommand(1);
    const auto given = std::make_shared<std::string>();
    auto& set = add_verb(
        state, "set", "Tell servers of this state from now on",
        "  patchbay host sandbox-state set '{\"sandboxPolicy\":{\"type\":\"read-only\"},"
        "\"sandboxCwd\":\"/work\"}'\n  patchbay host sandbox-state set - < state.json\nThe host "
        "keeps it "
        "in memory alone, and says which servers are told (`servers` with --json). Exit code 5: no "
        "host runs.");
    set.add_option("JSON", *given, "One JSON object of at most 64 KiB, or - for stdin; null: clear")
        ->required();
    choice.on(set, [given](const auto& global) { return set_verb(global, *given); });
    auto& show = add_verb(state, "show", "Print the state that is set; null: none",
                          "  patchbay host sandbox-state show");
    choice.on(show, show_verb);
    auto& clear = add_verb(state, "clear", "Tell servers that connect from now on nothing",
                           "  patchbay host sandbox-state clear\nServers that were told keep what "
                           "they know until they "
                           "connect anew.");
    choice.on(clear, [](const auto& global) { return set_verb(global, "null"); });
}

}  // namespace patchbay::app
