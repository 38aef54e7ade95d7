#include "service/things.hpp"

#include "core/json_beside.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/uri_template.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace patchbay::service {
namespace json = boost::json;
using connection::State;

namespace {

// Null: it is none, or no string.
const json::string* name_in(const json::object& definition, Kind kind) {
    const auto* value = definition.if_contains(words_of(kind).name_key);
    return value ? value->if_string() : nullptr;
}

bool is_named(const json::object& definition, Kind kind, const std::string& name) {
    const auto* found = name_in(definition, kind);
    return found && std::string_view(*found) == name;
}

bool is_ready(const Servers& known, const connection::Caller& caller, const std::string& id) {
    const auto* held = known.connections().held(id, caller.number());
    return held && held->state() == State::Ready;
}

// None: such things are not pinned.
std::optional<pins::Part> part_of(Kind kind) {
    if (kind == Kind::Prompts) return pins::Part::Prompts;
    if (kind == Kind::Templates) return pins::Part::Templates;
    return {};
}

constexpr auto by_server = [](const auto& a, const auto& b) { return a.server < b.server; };

// "a", "b" and "c"; of many the first.
std::string all_of(std::vector<std::string> servers) {
    constexpr std::size_t kNamed = 10;
    for (auto& server : servers) server = "\"" + server + "\"";
    if (servers.size() == 1) return servers.front();
    auto last = servers.back();
    servers.pop_back();
    if (servers.size() >= kNamed) {
        last = std::to_string(servers.size() + 1 - kNamed) + " more";
        servers.resize(kNamed);
    }
    return core::join(servers, ", ") + " and " + last;
}

}  // namespace

const KindWords& words_of(Kind kind) {
    static constexpr KindWords kResources{"resources/list", "resources", "resources", "uri",
                                          "resource"};
    static constexpr KindWords kTemplates{"resources/templates/list", "resources",
                                          "resourceTemplates", "uriTemplate", "template"};
    static constexpr KindWords kPrompts{"prompts/list", "prompts", "prompts", "name", "prompt"};
    return kind == Kind::Prompts ? kPrompts : kind == Kind::Templates ? kTemplates : kResources;
}

catalogue::List list_of(Kind kind) {
    return kind == Kind::Prompts     ? catalogue::List::Prompts
           : kind == Kind::Templates ? catalogue::List::Templates
                                     : catalogue::List::Resources;
}

std::string left_out_of(const json::array& items, const std::string& server,
                        const std::string& method, json::kind wanted) {
    const auto others = std::count_if(items.begin(), items.end(),
                                      [&](const auto& item) { return item.kind() != wanted; });
    if (others == 0) return {};
    return "server \"" + server + "\": " + method + ": left out " + std::to_string(others) +
           (others == 1 ? " item that is no " : " items that are no ") +
           json::to_string(wanted).data();
}

json::object to_json(const Thing& thing) {
    auto told = thing.definition;
    told["server"] = thing.server;
    return told;
}

std::string to_json(const ThingList& list, Kind kind) {
    json::array items;
    for (const auto& thing : list.things) {
        auto told = to_json(thing);
        add_standing(told, thing.server, list.heard);
        items.push_back(std::move(told));
    }
    return listed_json(words_of(kind).member, json::serialize(items), list.errors);
}

// Deferred, so that a listing of nothing ends as the others do: after its owner has hold of it.
void ThingListing::list_of_all(Servers servers) {
    of_all_ = true;
    servers_ = servers;
    auto ids = known_.connections().ids();
    if (const auto& sight = caller_.sight())
        std::erase_if(ids, [&](const auto& id) { return !sight->holds_others_of(id); });
    for (const auto& id : ids) missing_[id] = nullptr;  // so that cut_short() names it
    known_.connections().loop().defer([self = weak_from_this(), ids] {
        const auto listing = self.lock();
        if (!listing || !listing->done_) return;  // dropped, or cut short
        if (ids.empty()) return listing->finish();
        for (const auto& id : ids) listing->begin(id);
    });
}

void ThingListing::begin(const std::string& id) {
    if (servers_ == Servers::AsTheyAre) return settled(id);
    if (servers_ != Servers::Known || !take_kept(id)) connect(id);
}

void ThingListing::list_of(const std::string& server, Servers servers) {
    servers_ = servers;
    if (servers != Servers::Known) return ask(server);
    missing_[server] = nullptr;
    known_.connections().loop().defer([self = weak_from_this(), server] {
        const auto listing = self.lock();
        if (!listing || !listing->done_) return;
        // Who names one that has none hears of it that it has not.
        if (listing->has_none(server) || !listing->take_kept(server)) listing->ask(server);
    });
}

// What an access token of a client's gets to see may not be for another one, nor what a client's own headers do.
bool ThingListing::may_keep() const {
    const auto& who = caller_.principal();
    const bool of_the_user = who.kind == core::Principal::Kind::Person ||
                             who.kind == core::Principal::Kind::Batch || who.id.empty();
    return known_.catalogue() && of_the_user && !as_.client_headers;
}

bool ThingListing::has_none(const std::string& id) const {
    const auto found = known_.connections().find(id);
    return found && known_.catalogue() &&
           known_.catalogue()->has_none(id, found->get().spec().definition_key,
                                        service::list_of(kind_));
}

std::optional<catalogue::Kept> ThingListing::kept_of(const std::string& id) const {
    const auto found = known_.connections().find(id);
    const auto& sight = caller_.sight();
    if (!found || !may_keep() || (sight && !sight->holds_others_of(id))) return {};
    if (known_.router().certain_denial(caller_, id, words_of(kind_).method)) return {};
    auto& catalogue = *known_.catalogue();
    if (has_none(id))
        return catalogue::Kept{std::make_shared<const catalogue::Items>(), *catalogue.standing(id)};
    const auto* kept =
        catalogue.items(id, known_.origin_of(found->get().spec()), service::list_of(kind_));
    return kept ? std::optional(*kept) : std::nullopt;
}

void ThingListing::keep(const std::string& id, const std::vector<std::string>& texts) {
    const auto found = known_.connections().find(id);
    if (!found || !may_keep()) return;
    auto& connections = known_.connections();
    const auto* held = connections.held(id, caller_.number());
    auto items = catalogue::Items{known_.origin_of(found->get().spec()), texts,
                                  held ? held->declared() : connections.declared()};
    known_.catalogue()->publish(id, service::list_of(kind_),
                                std::make_shared<const catalogue::Items>(std::move(items)));
}

void ThingListing::show(const std::string& id, const catalogue::Kept& kept) {
    list_.heard.push_back({id, kept.standing});
    list_.heard.back().standing.recalled = true;  // it was not asked now
    list_.caching = {};
    for (const auto& text : kept.items->texts)
        if (auto definition = core::read_json_object(text)) add(id, std::move(*definition), text);
}

// Of what is blocked its name alone is shown: what its server says of it now nobody has approved.
void ThingListing::add(const std::string& id, json::object definition, std::string text) {
    const auto* name = name_in(definition, kind_);
    const auto part = part_of(kind_);
    const auto departed = name && part
                              ? known_.router().departed(id, {*part, std::string(*name)}, text)
                              : std::nullopt;
    if (departed && departed->blocked) {
        json::object stub{{words_of(kind_).name_key, *name}};
        if (!stub.contains("name")) stub["name"] = "blocked";
        stub["description"] =
            pins::Pins::blocked_words(id, words_of(kind_).word, departed->mismatch);
        text = json::serialize(stub);
        definition = std::move(stub);
    }
    list_.things.push_back({id, std::move(definition), std::move(text)});
}

// Of one that is ready nothing need be guessed.
bool ThingListing::take_kept(const std::string& id) {
    if (is_ready(known_, caller_, id)) return false;
    const auto kept = kept_of(id);
    if (!kept || (kept->outdated && servers_ == Servers::Known)) return false;
    missing_.erase(id);
    ++list_.answered;
    show(id, *kept);
    if (missing_.empty()) finish();
    return true;
}

bool ThingListing::knows(const std::string& id) const {
    const auto& sight = caller_.sight();
    const bool not_meant =
        (sight && !sight->holds_others_of(id)) ||
        known_.router().certain_denial(caller_, id, words_of(kind_).method).has_value();
    return not_meant || is_ready(known_, caller_, id) || kept_of(id);
}

std::optional<std::vector<std::string>> ThingListing::listed_before(const std::string& id) const {
    const auto kept = has_none(id) ? std::nullopt : kept_of(id);
    return kept ? std::optional(kept->items->texts) : std::nullopt;
}

void ThingListing::connect(const std::string& id) {
    if (auto denied = known_.router().certain_denial(caller_, id, words_of(kind_).method))
        return take(id, std::move(*denied));
    const auto connection = known_.connections().lease(id, caller_);
    if (!connection) return take(id, connection.error());
    connection->get().connect([self = weak_from_this(), id] {
        if (const auto still = self.lock()) still->settled(id);
    });
}

void ThingListing::settled(const std::string& id) {
    if (!missing_.contains(id)) return;  // it was cut short
    if (servers_ == Servers::AsTheyAre && take_kept(id)) return;
    const auto* held = known_.connections().held(id, caller_.number());
    if (!held)
        return take(id, Error{ErrorCode::Unavailable, "server \"" + id + "\" is not connected"});
    if (held->state() != State::Ready) return take(id, why_not_ready(held->status()));
    if (held->session()->can(words_of(kind_).capability)) return ask(id);
    router::ListedItems none;  // it is there and has none
    none.caching = protocol::kKeptByAll;
    take(id, std::move(none));
}

void ThingListing::ask(const std::string& id) {
    auto asked = as_;
    asked.server = id;
    asked.method = words_of(kind_).method;
    missing_[id] =
        known_.router().list_all(caller_, std::move(asked),
                                 [self = weak_from_this(), id](Result<router::ListedItems> items) {
                                     if (const auto listing = self.lock())
                                         listing->take(id, std::move(items));
                                 });
}

void ThingListing::take(const std::string& id, Result<router::ListedItems> items) {
    if (missing_.erase(id) == 0) return;
    if (items) {
        ++list_.answered;
        list_.caching = protocol::joined(list_.caching, items->caching);
        list_.heard.push_back({id, {known_.connections().loop().time().date()}});
        if (const auto note = left_out_of(items->values, id, words_of(kind_).method); !note.empty())
            core::log::warn(note);
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < items->values.size(); ++i)
            if (auto* item = items->values[i].if_object()) {
                texts.push_back(items->texts[i]);
                add(id, std::move(*item), std::move(items->texts[i]));
            }
        keep(id, texts);
    } else {
        // Where all are asked, one that the rules forbid is as if it had none.
        const bool skipped = of_all_ && items.error().code == ErrorCode::Denied;
        if (!skipped) list_.caching = {};  // what it has may come at any time
        (skipped ? list_.denied : list_.errors).push_back({id, items.error()});
        const bool shows_last = (servers_ == Servers::Known || servers_ == Servers::Refreshed) &&
                                items.error().code != ErrorCode::Unsupported;
        if (const auto kept = shows_last ? kept_of(id) : std::nullopt) {
            // Who asked all of them anew is answered by who answers.
            list_.answered += servers_ == Servers::Known ? 1 : 0;
            show(id, *kept);
        }
    }
    if (missing_.empty()) finish();
}

void ThingListing::cut_short() {
    for (const auto& [id, list] : std::exchange(missing_, {}))
        list_.errors.push_back(interrupted(id));
    finish();
}

ThingList ThingListing::so_far() const {
    auto list = list_;
    std::stable_sort(list.things.begin(), list.things.end(), by_server);
    return list;
}

std::vector<std::string> ThingListing::silent() const {
    std::vector<std::string> ids;
    for (const auto& [id, list] : missing_) ids.push_back(id);
    return ids;
}

void ThingListing::finish() {
    const auto done = std::exchange(done_, {});
    if (!done) return;
    if (list_.answered == 0) {
        list_.errors.insert(list_.errors.end(), list_.denied.begin(), list_.denied.end());
        list_.denied.clear();
    }
    // Whoever answers first: the order is that of the servers.
    std::stable_sort(list_.things.begin(), list_.things.end(), by_server);
    std::stable_sort(list_.heard.begin(), list_.heard.end(), by_server);
    for (auto* errors : {&list_.errors, &list_.denied})
        std::stable_sort(errors->begin(), errors->end(), by_server);
    done(std::move(list_));
}

std::shared_ptr<ThingListing> list_things(const Servers& known, connection::Caller& caller,
                                          Kind kind, const std::string& server,
                                          ThingListing::Servers which, ThingListing::Done done,
                                          router::ServerRequest as) {
    auto listing =
        std::make_shared<ThingListing>(known, caller, kind, std::move(done), std::move(as));
    if (server.empty())
        listing->list_of_all(which);
    else
        listing->list_of(server, which);
    return listing;
}

bool things_known(const Servers& known, connection::Caller& caller, Kind kind,
                  const std::vector<std::string>& servers) {
    const ThingListing listing(known, caller, kind, {});
    return std::all_of(servers.begin(), servers.end(),
                       [&](const auto& id) { return listing.knows(id); });
}

std::vector<std::string> offering(const ThingList& list, Kind kind, const std::string& name) {
    std::vector<std::string> servers;
    for (const auto& thing : list.things) {
        if (!is_named(thing.definition, kind, name)) continue;
        if (servers.empty() || servers.back() != thing.server) servers.push_back(thing.server);
    }
    return servers;
}

// One server offers it and another could not be asked: the name may be meant for that one, and what
// is sent along with it is for its eyes alone.
std::optional<Result<NamedThing>> find_thing(const ThingList& list, Kind kind,
                                             const std::string& name) {
    const auto servers = offering(list, kind, name);
    if (servers.empty()) return {};
    const auto thing =
        std::string(words_of(kind).word) + " \"" + core::printable(name, 200) + "\" is offered by ";
    if (servers.size() > 1)
        return Error{ErrorCode::Invalid, thing + all_of(servers) + "; say which with --server"};
    const auto& only = servers.front();
    if (!list.errors.empty()) {
        std::vector<std::string> unasked;
        for (const auto& each : list.errors) unasked.push_back(each.server);
        return Error{ErrorCode::Unavailable,
                     thing + "\"" + only + "\", and " + all_of(unasked) +
                         " could not be asked for it; if that one is meant, add --server " + only};
    }
    NamedThing found{only, {}};
    for (const auto& each : list.things)
        if (is_named(each.definition, kind, name)) found.definition = each.definition;
    return found;
}

Result<NamedThing> find_thing_of(const ThingList& list, Kind kind, const std::string& name,
                                 const std::string& server) {
    if (!list.errors.empty()) {
        // A server that is there, but whose list is of no use, may be asked for what it does not list.
        const auto& error = list.errors.front().error;
        const bool lists_none = error.code == ErrorCode::Protocol ||
                                error.code == ErrorCode::Unsupported ||
                                error.code == ErrorCode::Limit;
        if (!lists_none) return error;
    }
    NamedThing found{server, {}};
    for (const auto& thing : list.things)
        if (is_named(thing.definition, kind, name)) found.definition = thing.definition;
    return found;
}

Error not_listed(const ThingList& list, Kind kind, const std::string& name) {
    if (list.answered == 0 && !list.errors.empty()) return nobody_answered(list.errors);
    std::vector<std::string> known;
    for (const auto& thing : list.things) {
        const auto* found = name_in(thing.definition, kind);
        if (found && std::find(known.begin(), known.end(), std::string_view(*found)) == known.end())
            known.emplace_back(*found);
    }
    const std::string server = list.errors.empty() ? "server" : "server that answered";
    return {
        ErrorCode::NotFound,
        core::behind_hint("no " + server + " lists the " + words_of(kind).word + " \"" +
                              core::printable(name, 200) + "\"" + core::did_you_mean(name, known),
                          "one that is not listed needs --server")};
}

std::optional<Error> explained_by_template(const ThingList& templates, const std::string& uri) {
    for (const auto& thing : templates.things) {
        const auto* named = name_in(thing.definition, Kind::Templates);
        const auto found = named ? core::printable(std::string_view(*named), 500) : std::string();
        if (!protocol::may_come_of(uri, found)) continue;
        const auto of = " \"" + found + "\" of server \"" + thing.server + "\"";
        const auto variables = protocol::template_variables(found);
        if (uri != found || variables.empty())
            return Error{ErrorCode::NotFound, "no server lists the resource \"" +
                                                  core::printable(uri, 200) +
                                                  "\", but it fits the template" + of +
                                                  "; to read it, add --server " + thing.server};
        return Error{ErrorCode::Invalid, "there is the template" + of +
                                             ", and no such resource; write a value in place of " +
                                             core::join(variables, ", ")};
    }
    return {};
}

}  // namespace patchbay::service
