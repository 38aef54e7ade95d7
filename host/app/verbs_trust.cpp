#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "app/visible_json.hpp"
#include "config/approval.hpp"
#include "core/text.hpp"
#include "service/servers.hpp"
#include "service/trust.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace patchbay::app {
namespace json = boost::json;
using config::Proposal;
using service::Stage;
using service::TrustFile;

namespace {

struct TrustOptions {
    std::vector<std::string> ids;
    bool yes = false;  // nobody is asked
    bool revoke = false;
    bool tools = false;    // not the servers, but what they list
    bool refresh = false;  // what they list now
};

constexpr const char* kUnbound =
    "no file is bound: ${...} decides which program runs, and only its text is approved";

// One line for each thing that is approved, the members of the entry itself first.
void show(const Proposal& proposal, const std::vector<Proposal>& shown, const TrustFile& trust,
          const config::Config& config) {
    const auto stage = service::stage_of(proposal, trust);
    const auto changed = core::printable(core::join(trust.changed(proposal), ", "), 1000);
    print_line(visible(json::value(proposal.id)) +
               (stage == Stage::New ? "  not approved"
                : stage == Stage::Changed
                    ? "  changed since it was approved" + (changed.empty() ? "" : ": " + changed)
                    : "  approved"));
    print_line("  written in: " + visible(json::value(config::to_string(proposal.place))));
    print_line("  project: " + visible(json::value(proposal.directory)));
    for (const auto& member : service::definition_of(proposal, shown, config)) {
        const auto* table = member.value().if_object();
        if (!table || table->empty()) {
            print_line("  " + std::string(member.key()) + ": " + visible(member.value()));
            continue;
        }
        print_line("  " + std::string(member.key()) + ":");
        for (const auto& inner : *table)
            print_line("    " + visible(json::value(inner.key())) + ": " + visible(inner.value()));
    }
    if (proposal.unbound) print_line("  " + std::string(kUnbound));
    for (const auto& fault : proposal.faults)
        print_line("  would not work: " + visible(json::value(config::sentence_of(fault))));
    if (!proposal.waits_for.empty())
        print_line("  needs an approval of " + visible(json::value(proposal.waits_for)) + " too");
}

int list(const config::Config& config, const TrustFile& trust, bool as_json) {
    const auto& waiting = config.untrusted;
    if (as_json) {
        json::array all;
        for (const auto& proposal : waiting)
            all.push_back(service::to_json(proposal, trust, config));
        print_line(escaped(all));
        return kOk;
    }
    if (waiting.empty()) print_line("nothing waits for an approval");
    for (const auto& proposal : waiting) show(proposal, waiting, trust, config);
    if (!waiting.empty()) say("to approve one: patchbay trust ID");
    return kOk;
}

// Anything but yes is no.
bool agreed(const Proposal& proposal) {
    std::fflush(stdout);
    std::fprintf(stderr, "approve %s? [y/N] ", visible(json::value(proposal.id)).c_str());
    std::string line;
    if (!std::getline(std::cin, line)) std::fputc('\n', stderr);
    return line == "y" || line == "Y" || line == "yes";
}

// Those of `approved` that no file of the project defines any more: an approval outlives its server, which may come back.
std::string undefined_of(const std::vector<std::string>& approved, const Host& host) {
    std::vector<std::string> gone;
    for (const auto& id : approved) {
        const auto& config = host.config();
        const bool waits = std::any_of(config.untrusted.begin(), config.untrusted.end(),
                                       [&](const Proposal& proposal) { return proposal.id == id; });
        if (!waits && !service::is_approved(id, config)) gone.push_back(core::printable(id, 80));
    }
    return gone.empty() ? "" : "; no file defines any more: " + core::join(gone, ", ");
}

int revoke(Host& host, const TrustOptions& options, const GlobalOptions& global) {
    if (options.ids.empty())
        return report({ErrorCode::Invalid, "--revoke needs the ids to revoke"}, global);
    const auto kept = host.trust().ids(host.project());
    for (const auto& id : options.ids) {
        // What stands in the record goes, though another server may be called so by now.
        if (std::find(kept.begin(), kept.end(), id) != kept.end()) continue;
        if (const auto otherwise = service::called_otherwise(host.config(), id))
            return report(*otherwise, global);
    }
    const auto done = host.trust().revoke(host.project(), options.ids);
    if (!done)
        return report({done.error().code, done.error().message + undefined_of(kept, host)}, global);
    json::array revoked;
    for (const auto& id : options.ids) {
        say("revoked: " + core::printable(id, 80));
        revoked.push_back({{"id", id}, {"state", "revoked"}});
    }
    if (global.json) print_line(escaped(revoked));
    return kOk;
}

int show_waiting(Host& host, const TrustOptions& options, const GlobalOptions& global) {
    if (options.yes)
        return report({ErrorCode::Invalid,
                       "--yes needs the ids to approve; `patchbay trust` lists what waits"},
                      global);
    // A file that cannot be used proposes nothing, which is not the same as nothing to approve.
    const auto& config = host.config();
    auto told = config.diagnostics;  // but for what the list says better
    std::erase_if(told, [&](const config::Diagnostic& each) {
        return each.severity == config::Severity::Warning &&
               std::any_of(config.untrusted.begin(), config.untrusted.end(),
                           [&](const Proposal& proposal) { return proposal.place == each.place; });
    });
    print_diagnostics(told, global.quiet);
    const bool unusable = std::any_of(
        config.diagnostics.begin(), config.diagnostics.end(), [](const auto& diagnostic) {
            return diagnostic.severity == config::Severity::Error && diagnostic.server.empty();
        });
    const int code = list(config, host.trust(), global.json);
    return unusable ? int(kConfigError) : code;
}

// What was approved, and what still is in the way of it.
void tell_approved(const std::vector<Proposal>& picked) {
    for (const auto& proposal : picked) {
        say("approved: " + core::printable(proposal.id, 80));
        if (proposal.unbound) say(kUnbound);
        for (const auto& fault : proposal.faults)
            say("it would not work: " + core::printable(config::sentence_of(fault), 1000));
        const bool alone = !proposal.waits_for.empty() &&
                           std::none_of(picked.begin(), picked.end(), [&](const auto& other) {
                               return other.id == proposal.waits_for;
                           });
        if (alone) say("it still waits for: " + config::trust_command(proposal.waits_for));
    }
}

int approve(Host& host, const TrustOptions& options, const GlobalOptions& global) {
    auto& trust = host.trust();
    json::array told;  // an entry for each id, for --json
    std::vector<std::string> wanted;
    for (const auto& id : options.ids) {
        if (service::is_approved(id, host.config())) {
            say("already approved: " + core::printable(id, 80));
            told.push_back({{"id", id}, {"state", "approved"}});
        } else {
            wanted.push_back(id);
        }
    }
    auto picked = service::chosen(wanted, host.config());
    if (!picked) return report(picked.error(), global);
    if (!options.yes && global.json && !picked->empty())
        return report(
            {ErrorCode::Invalid, "--json asks nobody; look at `patchbay trust`, then say --yes"},
            global);
    if (!options.yes && !somebody_is_there() && !picked->empty())
        return report({ErrorCode::Invalid,
                       "there is no terminal to ask on; look at `patchbay trust`, then say --yes"},
                      global);
    int code = kOk;
    if (!options.yes) {
        const auto asked = *picked;
        std::erase_if(*picked, [&](const Proposal& proposal) {
            show(proposal, asked, trust, host.config());
            if (agreed(proposal)) return false;
            say("not approved: " + core::printable(proposal.id, 80));
            code = kDenied;
            return true;
        });
    }
    const auto done = picked->empty() ? Result<void>() : trust.approve(*picked);
    if (!done) return report(done.error(), global);
    tell_approved(*picked);
    for (const auto& proposal : *picked) {
        auto approved = service::to_json(proposal, trust, host.config());
        approved["state"] = "approved";
        told.push_back(std::move(approved));
    }
    if (global.json) print_line(escaped(told));
    return code;
}

int trust_verb(const GlobalOptions& global, const TrustOptions& options) {
    if (options.tools)
        return options.revoke ? forget_tools(global, options.ids)
                              : trust_tools(global, options.ids, {options.yes, options.refresh});
    Host host(host_options(global));
    if (!host.config().stop.empty()) return report_stop(host.config(), global);
    if (options.revoke) return revoke(host, options, global);
    if (const auto trouble = host.trust().trouble(); !trouble)
        return report(trouble.error(), global);
    return options.ids.empty() ? show_waiting(host, options, global)
                               : approve(host, options, global);
}

}  // namespace

void add_trust_verb(CLI::App& app, Choice& choice) {
    const auto trust = std::make_shared<TrustOptions>();
    auto& verb = add_verb(
        app, "trust",
        "Approve servers and [auth.*] tables that a checkout brings: nothing of "
        "them runs before",
        "  patchbay trust                  what waits, and all it says\n  patchbay "
        "trust files           show it and ask\n  patchbay trust files --yes     "
        "approve it as it stands now\n  patchbay trust --revoke files\n  patchbay trust files "
        "--tools   what its server lists now (see patchbay mcp diff)\nAny change "
        "of a definition withdraws its approval, also another path of its program; "
        "a new file at the\nsame path is not noticed.");
    verb.add_option("ID", trust->ids, "A server, or auth.NAME");
    auto* yes = verb.add_flag("-y,--yes", trust->yes, "Approve the ids without asking");
    auto* revoke =
        verb.add_flag("--revoke", trust->revoke, "Withdraw the approval of the ids")->excludes(yes);
    auto* tools = verb.add_flag(
        "--tools", trust->tools,
        "Of servers of whatever file: approve the tools, prompts and templates that they listed "
        "last, which patchbay mcp diff shows; with --revoke forget what was approved of them");
    verb.add_flag("--refresh", trust->refresh, "With --tools: ask the servers what they have now")
        ->needs(tools)
        ->excludes(revoke);
    choice.on(verb, [trust](const auto& global) { return trust_verb(global, *trust); });
}

}  // namespace patchbay::app
