#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>

namespace patchbay::app {
namespace json = boost::json;

namespace {

std::string expiry_of(const Login& login, const Session& session) {
    if (login.ended) return "ended; patchbay mcp login " + core::shell_word(login.server);
    if (!login.expires) return "unknown";
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(
        *login.expires - session.host().loop().time().date());
    if (left.count() <= 0) return login.renewable ? "expired, renewed when used" : "expired";
    // Each unit from two of it on, so that what is rounded away is less than half.
    if (left.count() < 120) return "in " + std::to_string(left.count()) + " s";
    if (left.count() < 7200) return "in " + std::to_string(left.count() / 60) + " min";
    if (left.count() < 172800) return "in " + std::to_string(left.count() / 3600) + " h";
    return "in " + std::to_string(left.count() / 86400) + " days";
}

std::string printable(const std::string& text) {
    return text.empty() ? "-" : core::printable(text, 200);
}

bool signed_in(const Result<std::vector<Login>>& logins, const std::string& server) {
    return logins && std::any_of(logins->begin(), logins->end(),
                                 [&](const auto& login) { return login.server == server; });
}

// A name that is wrong is explained as every verb does it: also an entry that is out of order.
int report_failed(const Session& session, const std::string& server, const Error& error) {
    const auto& servers = session.host().config().servers;
    const bool known = std::any_of(servers.begin(), servers.end(),
                                   [&](const auto& each) { return each.id == server; });
    return error.code == ErrorCode::NotFound && !known ? session.report_no_server(server)
                                                       : session.report(error);
}

// Runs until `done` was told; what it was told.
Result<void> outcome_of(Session& session, const std::function<void(OneSignIn::Done)>& begin) {
    std::optional<Result<void>> outcome;
    begin([&](Result<void> told) { outcome = std::move(told); });
    // An interruption ends the sign-in and not the wait: a listening port and a browser's page are
    // closed before we leave.
    session.wait([&] { return outcome.has_value(); }, [&] { session.host().sign_ins().cancel(); });
    return outcome ? *outcome : Error{ErrorCode::Cancelled, "interrupted"};
}

// no_browser: shows the address and reads the redirect. scope empty: the method's choice.
// What is in the store; nothing: no login, or none that can be read.
std::optional<Login> kept_login(Session& session, const std::string& server) {
    if (const auto logins = session.host().sign_ins().list())
        for (const auto& each : *logins)
            if (each.server == server) return each;
    return {};
}

int login_verb(const GlobalOptions& global, const std::string& server, bool no_browser,
               const std::string& scope) {
    const auto opened = Session::open(
        global, Session::Life::OneShot,
        no_browser ? auth::Person::Presence::NoBrowser : auth::Person::Presence::Ready);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_those_of({server});
    const auto outcome = outcome_of(session, [&](OneSignIn::Done done) {
        session.host().sign_ins().sign_in(server, scope, std::move(done));
    });
    if (!outcome) return report_failed(session, server, outcome.error());
    if (session.host().sign_ins().was_needless()) {
        if (global.json)
            print_json(json::serialize(json::object{{"server", server}, {"signed_in", false}}));
        else
            print_line("server \"" + server +
                       "\" answers without a sign-in; there is nothing to do");
        return kOk;
    }
    const auto kept = kept_login(session, server);
    // Why was told above. This process ends, and the login with it.
    if (!kept || !session.host().sign_ins().has_stored(server))
        return session.report({ErrorCode::Io, "server \"" + server +
                                                  "\": the sign-in went well, but the login could "
                                                  "not be stored, so nobody is signed in anew"});
    const auto& login = *kept;
    if (global.json)
        print_json(json::serialize(to_json(login)));
    else
        print_line("signed in to \"" + server + "\" at " + printable(login.issuer) + "; scope: " +
                   printable(login.scope) + "; expires: " + expiry_of(login, session) +
                   (login.renewable ? ", then renewed by itself" : ""));
    return kOk;
}

int logout_verb(const GlobalOptions& global, const std::string& server) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_those_of({server});
    const bool was_signed_in = signed_in(session.host().sign_ins().list(), server);
    const auto outcome = outcome_of(session, [&](OneSignIn::Done done) {
        session.host().sign_ins().sign_out(server, std::move(done));
    });
    if (!outcome) return report_failed(session, server, outcome.error());
    if (global.json)
        print_json(json::serialize(json::object{
            {"server", server}, {"signed_in", false}, {"was_signed_in", was_signed_in}}));
    else
        print_line((was_signed_in ? "signed out of \"" : "nobody was signed in to \"") + server +
                   "\"");
    return kOk;
}

int auth_verb(const GlobalOptions& global) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_all();
    const auto logins = session.host().sign_ins().list();
    if (!logins) return session.report(logins.error());
    if (global.json) {
        json::array all;
        for (const auto& login : *logins) all.push_back(to_json(login));
        print_json(json::serialize(all));
        return kOk;
    }
    if (logins->empty()) {
        say("nobody is signed in; patchbay mcp login ID");
        return kOk;
    }
    std::vector<std::vector<Cell>> rows{{{"SERVER"}, {"ISSUER"}, {"WHO"}, {"SCOPE"}, {"EXPIRES"}}};
    for (const auto& login : *logins)
        rows.push_back({{login.server},
                        {printable(login.issuer)},
                        {printable(login.principal)},
                        {printable(login.scope)},
                        {expiry_of(login, session)}});
    print_table(rows);
    return kOk;
}

}  // namespace

void add_auth_verbs(CLI::App& mcp, Choice& choice) {
    struct Words {
        std::string server, scope;
        bool no_browser = false;
    };
    const auto words = std::make_shared<Words>();
    auto& login =
        add_verb(mcp, "login", "Sign in to a server in the browser, and stay signed in",
                 "  patchbay mcp login github\n  patchbay mcp login github --no-browser\n  "
                 "patchbay mcp login github --scope 'repo read:user'\nThe sign-in is waited for "
                 "for 5 minutes; then exit code 8.");
    login.add_option("ID", words->server, "The server")->required();
    login.add_flag("--no-browser", words->no_browser,
                   "Show the address, and read the address that the browser ends at");
    login.add_option("--scope", words->scope, "Ask for these scopes, separated by spaces")
        ->type_name("SCOPES");
    choice.on(login, [words](const auto& global) {
        return login_verb(global, words->server, words->no_browser, words->scope);
    });
    auto& logout =
        add_verb(mcp, "logout",
                 "Forget the sign-in to a server, and tell the server if its definition is in "
                 "force",
                 "  patchbay mcp logout github");
    logout.add_option("ID", words->server, "The server")->required();
    choice.on(logout, [words](const auto& global) { return logout_verb(global, words->server); });
    auto& auth =
        add_verb(mcp, "auth", "Who is signed in where: issuer, scopes, expiry; never a token",
                 "  patchbay mcp auth\n  patchbay mcp auth --json");
    choice.on(auth, auth_verb);
}

}  // namespace patchbay::app
