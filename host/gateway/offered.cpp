#include "gateway/offered.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"
#include "protocol/uri_template.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

namespace patchbay::gateway {
using service::Kind;
using Which = service::ThingListing::Servers;

namespace {

// Before a URI that several servers have, to say whose is meant: "patchbay+git:file:///x". A scheme may
// have a "+" (RFC 3986 3.1), and an id has no ":".
constexpr std::string_view kScheme = "patchbay+";

std::string prefixed(const std::string& server, const std::string& uri) {
    return std::string(kScheme) + server + ":" + uri;
}

constexpr Kind kKinds[] = {Kind::Resources, Kind::Templates, Kind::Prompts};

std::vector<std::string> texts_of(const service::ThingList& list, const std::string& server) {
    std::vector<std::string> texts;
    for (const auto& thing : list.things)
        if (thing.server == server) texts.push_back(thing.text);
    return texts;
}

std::string name_in(const service::Thing& thing, Kind kind) {
    return std::string(
        core::text_in(&thing.definition, service::words_of(kind).name_key).value_or(""));
}

// All of them are named: a client that has the URI from elsewhere knows them by nothing else.
Error which_of(const std::set<std::string>& servers, const char* what, const char* does,
               const std::string& uri) {
    const auto shown = core::printable(uri, 200);
    std::vector<std::string> names;
    for (const auto& server : servers) names.push_back("\"" + prefixed(server, shown) + "\"");
    return {ErrorCode::Invalid, what + core::join({servers.begin(), servers.end()}, ", ") + does +
                                    "\"" + shown + "\"; say which: " + core::join(names, " or ")};
}

// As its server told it, but for its name and, of a prompt, whose it is before its description.
std::string for_client(const service::Thing& thing, Kind kind, const std::string& name,
                       bool labelled) {
    const auto name_key = service::words_of(kind).name_key;
    const bool described = kind == Kind::Prompts && labelled;
    std::string members;
    bool has_description = false;
    const auto about = core::text_in(&thing.definition, "description").value_or("");
    const auto label = protocol::quoted("[" + thing.server + "]" + (about.empty() ? "" : " ") +
                                        std::string(about));
    protocol::each_member(thing.text, [&](std::string_view key, std::string_view value) {
        const bool is_description = described && key == "description";
        has_description = has_description || is_description;
        protocol::append_member(members, key,
                                key == name_key  ? protocol::quoted(name)
                                : is_description ? label
                                                 : std::string(value));
        return true;
    });
    if (described && !has_description) protocol::append_member(members, "description", label);
    return "{" + members + "}";
}

}  // namespace

// Each question notes what it heard: a client asks for what an answer named, and may do so long after.
service::Operation Offered::ask(Kind kind, std::function<void(const service::ThingList&)> told,
                                router::ServerRequest as) {
    const auto noted = [this, kind, told = std::move(told)](const service::ThingList& list) {
        note(kind, list);
        told(list);
    };
    if (view_.public_names())
        return service::list_things(known_, caller_, kind, {}, Which::AsTheyAre, noted,
                                    std::move(as));
    return service::list_things(known_, caller_, kind, view_.only, Which::Connect, noted,
                                std::move(as));
}

bool Offered::known(Kind kind) const {
    return view_.public_names() &&
           service::things_known(known_, caller_, kind, view_.servers(known_.connections()));
}

service::Operation Offered::items(Kind kind, std::function<void(const Items&)> told,
                                  router::ServerRequest as) {
    const auto listed = [this, kind, told = std::move(told)](const service::ThingList& list) {
        note_given(kind, list);
        Items items{{}, list.caching};
        std::set<std::string> names;  // each once, however often its server lists it
        for (const auto& thing : list.things) {
            const auto known = names_of(kind).known_as.find({thing.server, name_in(thing, kind)});
            if (known != names_of(kind).known_as.end() && names.insert(known->second).second)
                items.all.push_back({thing.server, known->second,
                                     for_client(thing, kind, known->second, view_.public_names())});
        }
        told(items);
    };
    return ask(kind, listed, std::move(as));
}

void Offered::note_given(Kind kind, const service::ThingList& list) {
    auto& given = given_[static_cast<std::size_t>(kind)];
    for (const auto& each : list.heard) {
        if (each.standing.recalled)
            given[each.server] = texts_of(list, each.server);
        else
            given.erase(each.server);
    }
}

void Offered::note_given_before() {
    for (const auto kind : kKinds) {
        const service::ThingListing listing(known_, caller_, kind, {});
        for (const auto& server : view_.servers(known_.connections()))
            if (auto texts = listing.listed_before(server))
                given_[static_cast<std::size_t>(kind)].insert_or_assign(server, std::move(*texts));
    }
}

bool Offered::gave_kept(const std::string& server, std::string_view capability) const {
    return std::any_of(std::begin(kKinds), std::end(kKinds), [&](Kind kind) {
        return service::words_of(kind).capability == capability &&
               given_[static_cast<std::size_t>(kind)].contains(server);
    });
}

// It is ready; what it lists is noted, so that names lead where they should.
void Offered::compare(const std::string& server, std::string_view capability,
                      const std::function<void()>& differs) {
    for (const auto kind : kKinds) {
        auto& given = given_[static_cast<std::size_t>(kind)];
        const auto found = given.find(server);
        if (found == given.end() || service::words_of(kind).capability != capability) continue;
        auto told = std::move(found->second);
        given.erase(found);
        auto& comparison = comparisons_[{kind, server}];
        comparison = service::list_things(
            known_, caller_, kind, server, Which::Connect,
            lifetime_.guard([this, kind, server, told = std::move(told),
                             differs](const service::ThingList& list) {
                const auto ended = comparisons_.extract({kind, server});  // which has called us
                if (!list.errors.empty() || texts_of(list, server) != told) differs();
            }));
    }
}

// A server that did not answer keeps what it listed before.
void Offered::note(Kind kind, const service::ThingList& list) {
    std::set<std::string_view> silent;
    for (const auto& error : list.errors) silent.insert(error.server);
    std::set<Pair> pairs;
    for (const auto& [pair, name] : names_of(kind).known_as)
        if (silent.contains(pair.first)) pairs.insert(pair);
    for (const auto& thing : list.things)
        if (const auto name = name_in(thing, kind); !name.empty())
            pairs.emplace(thing.server, name);

    protocol::NameTable table;
    std::map<std::string, std::size_t> having;  // servers, by URI
    for (const auto& [server, name] : pairs) {
        if (kind == Kind::Prompts) table.add(server, name);
        ++having[name];
    }
    Names names;
    for (const auto& pair : pairs) {
        const auto& [server, name] = pair;
        const bool renamed = view_.public_names() && kind == Kind::Prompts;
        // One that looks like another server's is no way to that one.
        const bool clashes =
            having[name] > 1 || (view_.public_names() && name.starts_with(kScheme));
        auto known_as = renamed   ? table.public_name(server, name)
                        : clashes ? prefixed(server, name)
                                  : name;
        names.owners[known_as] = {server, name};
        names.known_as[pair] = std::move(known_as);
    }
    names_of(kind) = std::move(names);
}

std::string Offered::uri_for_client(const std::string& server, const std::string& uri) const {
    const auto& names = names_of(Kind::Resources).known_as;
    const auto known = names.find({server, uri});
    return known == names.end() ? uri : known->second;
}

// A URI that names its server needs no list: it may have been kept from an earlier session. But what is not
// in view is not there by that way either.
std::optional<Offered::Owner> Offered::owner_of(Kind kind, const std::string& name) const {
    const auto& owners = names_of(kind).owners;
    if (const auto found = owners.find(name); found != owners.end()) return found->second;
    if (kind == Kind::Prompts || !name.starts_with(kScheme)) return {};
    const auto end = name.find(':');
    if (end == std::string::npos) return {};
    auto server = name.substr(kScheme.size(), end - kScheme.size());
    if (server.empty() || !known_.has(server) || !view_.holds(server)) return {};
    return Owner{std::move(server), name.substr(end + 1)};
}

Result<Offered::Owner> Offered::owner_by_template(const std::string& uri) const {
    std::set<std::string> servers;
    for (const auto& [pair, known_as] : names_of(Kind::Templates).known_as)
        if (protocol::may_come_of(uri, pair.second)) servers.insert(pair.first);
    if (servers.size() == 1) return Owner{*servers.begin(), uri};
    if (servers.empty()) return nobody_has(Kind::Resources, uri);
    return which_of(servers, "templates of ", " fit ", uri);
}

Error Offered::not_one_owner(Kind kind, const std::string& name) const {
    std::set<std::string> servers;
    for (const auto& [pair, known_as] : names_of(kind).known_as)
        if (kind != Kind::Prompts && pair.second == name) servers.insert(pair.first);
    return servers.size() > 1 ? which_of(servers, "", " have ", name) : nobody_has(kind, name);
}

Error Offered::nobody_has(Kind kind, const std::string& name) const {
    std::vector<std::string> known;
    for (const auto& [each, owner] : names_of(kind).owners) known.push_back(each);
    return {ErrorCode::NotFound,
            "no server that is ready has the " + std::string(service::words_of(kind).word) + " \"" +
                core::printable(name, 200) + "\"" + core::did_you_mean(name, known)};
}

service::Operation Offered::look(Kind kind, Then then) {
    const std::shared_ptr<Then> waiter(
        new Then(std::move(then)),
        [given_up = lifetime_.guard([this, kind] { on_given_up(kind); })](Then* gone) mutable {
            delete gone;
            given_up();
        });
    look_of(kind).next.push_back(waiter);
    if (!look_of(kind).list) begin_look(kind);
    return waiter;
}

void Offered::begin_look(Kind kind) {
    auto& look = look_of(kind);
    look.now = std::exchange(look.next, {});
    look.list = ask(kind, [this, kind](const service::ThingList&) { on_looked(kind); });
}

// Whoever is told may look for more, let go of others, or end the session.
void Offered::on_looked(Kind kind) {
    auto& look = look_of(kind);
    const auto ended = std::exchange(look.list, nullptr);  // which has called us
    const auto told = std::exchange(look.now, {});
    if (!look.next.empty()) begin_look(kind);
    const auto watch = lifetime_.watch();
    for (const auto& each : told) {
        if (watch.expired()) return;
        if (const auto then = each.lock()) (*then)();
    }
}

// For nobody nothing is asked.
void Offered::on_given_up(Kind kind) {
    const auto is_gone = [](const auto& each) { return each.expired(); };
    auto& look = look_of(kind);
    std::erase_if(look.next, is_gone);
    if (!look.list || !std::all_of(look.now.begin(), look.now.end(), is_gone)) return;
    look.list.reset();
    look.now.clear();
    if (!look.next.empty()) begin_look(kind);
}

// Two questions at most, one after the other; whoever holds the first holds the second.
service::Operation Offered::find(Kind kind, const std::string& name,
                                 std::function<void(Result<Owner>)> found) {
    auto owner = view_.public_names() ? owner_of(kind, name) : Owner{view_.only, name};
    if (owner) {
        found(std::move(*owner));
        return {};
    }
    const auto steps = std::make_shared<service::Operation>();
    *steps = look(kind, [this, kind, name, found = std::move(found), watch = std::weak_ptr(steps)] {
        if (auto listed = owner_of(kind, name)) return found(std::move(*listed));
        auto none = not_one_owner(kind, name);
        // A resource need not be listed: a template may make its URI.
        if (kind != Kind::Resources || none.code != ErrorCode::NotFound)
            return found(std::move(none));
        const auto held = watch.lock();
        if (!held) return;
        *held = look(Kind::Templates, [this, name, found] { found(owner_by_template(name)); });
    });
    return steps;
}

}  // namespace patchbay::gateway
