#include "auth/consent.hpp"

#include "auth/query.hpp"
#include "core/text.hpp"

#include <unistd.h>

namespace patchbay::auth {

namespace {

// Shown before the browser opens: where it leads is what a person can judge.
std::string host_of(const std::string& url) {
    const auto from = url.find("//") + 2;
    return core::printable(url.substr(from, url.find_first_of("/?#", from) - from), 200);
}

bool is_yes(const std::string& line) {
    return line.empty() || line == "y" || line == "Y" || line == "yes";
}

}  // namespace

std::optional<std::string> query_of_redirect(std::string_view pasted,
                                             std::string_view redirect_uri) {
    while (!pasted.empty() && static_cast<unsigned char>(pasted.back()) <= ' ')
        pasted.remove_suffix(1);
    while (!pasted.empty() && static_cast<unsigned char>(pasted.front()) <= ' ')
        pasted.remove_prefix(1);
    if (!pasted.starts_with(redirect_uri)) return {};
    // Anything else that is pasted, another page's address say, is no answer to this sign-in.
    pasted.remove_prefix(redirect_uri.size());
    if (!pasted.starts_with('?')) return {};
    return std::string(pasted.substr(1, pasted.find('#') - 1));
}

BrowserConsent::~BrowserConsent() {
    while (!visits_.empty()) withdraw(visits_.begin()->first);
}

Result<plugin::Consent::Reserved> BrowserConsent::reserve(unsigned port) {
    const auto socket = listen_on_loopback(port);
    if (!socket) return socket.error();
    return Reserved{*socket, redirect_uri_of(*socket)};
}

std::uint64_t BrowserConsent::authorize(const std::string& server, Reserved reserved,
                                        const std::string& url, Answer answer) {
    const auto id = ++last_;
    auto& visit = visits_[id];
    visit.server = server;
    visit.url = url;
    visit.redirect_uri = reserved.redirect_uri;
    visit.state = query_value(url, "state");
    visit.answer = std::move(answer);
    visit.listener = std::make_unique<RedirectListener>(
        loop_, reserved.socket, [this, id](const std::string& query) { return fits(id, query); },
        [this, id](std::string query) { end(id, std::move(query)); }, limits_.connection);
    visit.timer = loop_.after(limits_.person, [this, id] {
        visits_.at(id).timer = 0;
        end(id, Error{ErrorCode::Timeout, "nobody signed in within " + patience()});
    });
    switch (person_.presence()) {
        // Later, as every answer: the caller does not know this visit's number yet.
        case Person::Presence::Nobody:
            loop_.defer([this, id, server] {
                end(id,
                    Error{ErrorCode::AuthRequired, "sign in with: patchbay mcp login " + server});
            });
            break;
        case Person::Presence::AskFirst:
            visit.question = person_.ask(
                "server \"" + server + "\" wants you to sign in at " + host_of(url),
                "Open the browser now? [Y/n]", [this, id, server](std::optional<std::string> line) {
                    visits_.at(id).question = 0;
                    if (line && is_yes(*line))
                        show(id);
                    else
                        end(id, Error{ErrorCode::Denied,
                                      "you declined to sign in; do it later with: "
                                      "patchbay mcp login " +
                                          server});
                    return true;
                });
            break;
        default:
            show(id);
    }
    return id;
}

std::string BrowserConsent::patience() const {
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(limits_.person);
    return std::to_string(minutes.count()) + " min";
}

// The method checks the state too; but a redirect that fails there has ended the sign-in.
bool BrowserConsent::fits(std::uint64_t id, const std::string& query) {
    auto& visit = visits_.at(id);
    if (!visit.state || query_value(query, "state") == visit.state) return true;
    if (++visit.strangers == 1)
        person_.tell(
            "a redirect came that does not belong to this sign-in (its state is another or "
            "missing); it is passed over, and the right one is waited for");
    if (visit.strangers >= kMostStrangers) {
        loop_.defer([this, id] {
            end(id, Error{ErrorCode::Denied,
                          std::to_string(kMostStrangers) +
                              " redirects came that do not belong to this sign-in; something on "
                              "this machine disturbs it; sign in again"});
        });
    }
    return false;
}

void BrowserConsent::show(std::uint64_t id) {
    const auto& visit = visits_.at(id);
    if (person_.presence() == Person::Presence::NoBrowser) return ask_for_redirect(id);
    const auto opened = person_.open_browser(visit.url);
    if (!opened) {
        person_.tell("no browser could be opened: " + opened.error().message);
        return ask_for_redirect(id);
    }
    person_.tell("sign in to \"" + visit.server + "\" in the browser that opens, within " +
                 patience() + ". If none does: " + visit.url);
}

// The redirect may still reach us by itself: through a forwarded port, or a browser on this
// machine.
void BrowserConsent::ask_for_redirect(std::uint64_t id) {
    auto& visit = visits_.at(id);
    person_.tell("to sign in to \"" + visit.server + "\", open this address in a browser:\n\n  " +
                 visit.url +
                 "\n\nWhen it ends at an address that cannot be reached and begins with " +
                 visit.redirect_uri + ", copy that address. There are " + patience() + " for it.");
    visit.question = person_.ask("", "Paste it here:", [this, id](std::optional<std::string> line) {
        auto& asked = visits_.at(id);
        if (!line) {  // no terminal, or its end: a redirect may still reach the listener
            asked.question = 0;
            person_.tell(
                "nothing can be pasted any more, the input has ended; a redirect "
                "to " +
                asked.redirect_uri + " is still waited for, " + patience() +
                " from the beginning; Ctrl-C ends the sign-in");
            return true;
        }
        const auto query = query_of_redirect(*line, asked.redirect_uri);
        if (!query || (asked.state && query_value(*query, "state") != asked.state)) {
            person_.tell(query ? "that address is of another sign-in"
                               : "that does not begin with " + asked.redirect_uri + "?");
            return false;
        }
        asked.question = 0;
        end(id, *query);
        return true;
    });
}

void BrowserConsent::withdraw(std::uint64_t id) {
    const auto found = visits_.find(id);
    if (found == visits_.end()) return;
    auto& visit = found->second;
    if (visit.timer) loop_.cancel(visit.timer);
    if (visit.question) person_.withdraw(visit.question);
    visits_.erase(found);
}

void BrowserConsent::end(std::uint64_t id, Result<std::string> query) {
    const auto found = visits_.find(id);
    if (found == visits_.end()) return;
    // The answer may end this room's owner: nothing of ours is touched after it.
    const auto answer = std::move(found->second.answer);
    withdraw(id);
    answer(std::move(query));
}

}  // namespace patchbay::auth
