// patchbay secret: what `${secret:NAME}` in configuration files leads to.
#include "app/hidden_line.hpp"
#include "app/host.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/secret_name.hpp"
#include "core/text.hpp"
#include "core/time_source.hpp"
#include "service/statuses.hpp"

#include <boost/json.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;
using auth::NamedSecrets;

namespace {

const char* place_of(bool in_keyring) {
    return in_keyring ? "secret-service" : "file";
}

// What is piped here whole, but for the line break that `echo` puts behind it; else what a person types.
Result<std::string> value_for(const std::string& name) {
    if (::isatty(0)) return hidden_line("value of \"" + name + "\" (it is not shown): ");
    std::string value;
    char part[4096];
    while (value.size() <= NamedSecrets::kValueBytes &&
           (std::cin.read(part, sizeof part) || std::cin.gcount() > 0))
        value.append(part, static_cast<std::size_t>(std::cin.gcount()));
    if (value.ends_with('\n')) value.pop_back();
    if (value.ends_with('\r')) value.pop_back();
    return value;
}

int set(const GlobalOptions& global, const std::string& name) {
    if (const auto fine = core::check_secret_name(name); !fine) return report(fine.error(), global);
    const auto value = value_for(name);
    if (!value) return report(value.error(), global);
    const Host host(host_options(global));
    const auto& secrets = host.named_secrets();
    const bool anew = bool(secrets.check(name));
    const auto kept = secrets.write(name, *value, core::machine_time().date());
    if (!kept) return report(kept.error(), global);
    if (!kept->warning.empty() && !global.quiet) say("warning: " + kept->warning);
    if (global.json) {
        print_line(json::serialize(json::object{{"name", name},
                                                {"state", anew ? "replaced" : "added"},
                                                {"store", place_of(kept->in_keyring)}}));
        return kOk;
    }
    say((anew ? "replaced: " : "added: ") + name +
        "; a configuration file names it ${secret:" + name + "}" +
        (anew ? ", and servers that are up have the old one until they start again" : ""));
    return kOk;
}

int list_secrets(const GlobalOptions& global) {
    const Host host(host_options(global));
    const auto all = host.named_secrets().list();
    if (!all) return report(all.error(), global);
    if (global.json) {
        json::array lines;
        for (const auto& each : *all)
            lines.push_back(json::object{{"name", each.name},
                                         {"store", place_of(each.in_keyring)},
                                         {"written_at", service::time_of(each.written)}});
        print_line(json::serialize(lines));
        return kOk;
    }
    if (all->empty()) {
        say("no secret is kept; patchbay secret set NAME");
        return kOk;
    }
    std::vector<std::vector<Cell>> rows{{{"NAME"}, {"STORE"}, {"WRITTEN"}}};
    for (const auto& each : *all)
        rows.push_back({{core::printable(each.name, 80)},
                        {place_of(each.in_keyring)},
                        {date_text(each.written)}});
    print_table(rows);
    return kOk;
}

int remove_secret(const GlobalOptions& global, const std::string& name) {
    const Host host(host_options(global));
    if (const auto gone = host.named_secrets().erase(name); !gone)
        return report(gone.error(), global);
    if (global.json)
        print_line(json::serialize(json::object{{"name", name}, {"state", "removed"}}));
    else
        say("removed: " + name);
    return kOk;
}

}  // namespace

void add_secret_verbs(CLI::App& app, Choice& choice) {
    const auto name = std::make_shared<std::string>();
    auto& secret =
        add_verb(app, "secret", "Secrets that files name as ${secret:NAME}: set, list, rm",
                 "  patchbay secret set github\n  pass show github | patchbay secret set "
                 "github\n  patchbay secret list");
    secret.require_subcommand(1);
    auto& set_verb = add_verb(
        secret, "set", "Keep a secret by a name",
        "  patchbay secret set github\n  pass show github | patchbay secret set github\nIt is "
        "typed "
        "unseen, or all of stdin but its last line break; never a word of the command, which "
        "others "
        "can read.\nIt is kept where sign-ins are: [secrets] store says file or secret-service.");
    set_verb.add_option("NAME", *name, core::kNamesOfSecrets)->required();
    choice.on(set_verb, [name](const auto& global) { return set(global, *name); });
    auto& list_verb =
        add_verb(secret, "list", "List the secrets that are kept, without what they are",
                 "  patchbay secret list --json");
    choice.on(list_verb, list_secrets);
    auto& rm = add_verb(secret, "rm", "Forget a secret", "  patchbay secret rm github");
    rm.alias("remove");
    rm.add_option("NAME", *name, "As it was set")->required();
    choice.on(rm, [name](const auto& global) { return remove_secret(global, *name); });
}

}  // namespace patchbay::app
