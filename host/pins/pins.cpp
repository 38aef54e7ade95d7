#include "pins/pins.hpp"

#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <ctime>
#include <iterator>
#include <utility>

namespace patchbay::pins {
using policy::PinMismatch;

namespace {

std::string day_of(std::int64_t at) {
    const auto seconds = static_cast<std::time_t>(at);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text;
}

std::string since(const Pin& pin) {
    const auto day = day_of(pin.at);
    switch (pin.basis) {
        case Basis::Approved:
            return "it was approved (" + day + ")";
        case Basis::Used:
            return "it was first used (" + day + ")";
        case Basis::Seen:
            break;
    }
    return "its server was first used (" + day + ")";
}

PinMismatch::Kind kind_of(Difference::Kind kind) {
    switch (kind) {
        case Difference::Kind::New:
            return PinMismatch::Kind::New;
        case Difference::Kind::Renamed:
            return PinMismatch::Kind::Renamed;
        default:
            return PinMismatch::Kind::Changed;
    }
}

std::string why(Difference::Kind kind, const Pin* pin) {
    if (kind == Difference::Kind::New) return "was not there when its server was approved";
    if (kind == Difference::Kind::Renamed)
        return "was called " + core::printable(pin->known_as, 80) + " when " + since(*pin);
    return "is not what it was when " + since(*pin);
}

}  // namespace

std::string Pins::blocked_words(const std::string& server, const std::string& what,
                                const PinMismatch& why) {
    return "BLOCKED by Patchbay: this " + what + " " + why.why +
           ", so it cannot be used, and what its server says of it is not shown. A person can "
           "look at it with `patchbay mcp diff " +
           server + "` and approve it with `patchbay trust " + server + " --tools`.";
}

Pins::Server* Pins::server_of(const std::string& id) {
    const auto [place, unknown] = servers_.try_emplace(id);
    if (unknown) {
        if (auto key = key_of_(id)) {
            place->second = std::make_unique<Server>();
            place->second->key = std::move(*key);
            read(*place->second);
        }
    }
    auto* const server = place->second.get();
    if (!server) return nullptr;
    const auto found = catalogue_.listings().find(id);
    const auto* now = found == catalogue_.listings().end() ? nullptr : found->second.get();
    if (server->listing.get() != now) {
        // Another list: what was approved by another process counts as well.
        if (server->listing && store_.is_other(server->key)) read_again(*server);
        server->listing = now ? found->second : nullptr;
        server->tools.clear();
        server->stubs.clear();
        server->given_up.reset();
        ++generation_;
    }
    return server;
}

void Pins::read(Server& server) {
    auto read = store_.read(server.key, Texts::LeftOut);
    server.trouble = read ? std::nullopt : std::optional(read.error());
    server.record = read ? std::move(*read) : std::nullopt;
    // Where it blocks nothing it would pass in silence.
    if (server.trouble)
        core::log::warn("server \"" + server.key.server +
                        "\": what was approved of it cannot be read: " + server.trouble->message);
    server.tools.clear();
    ++generation_;
}

void Pins::read_again(Server& server) {
    const bool unknown = server.trouble.has_value();
    const auto before = std::exchange(server.record, {});
    read(server);
    tell_otherwise(server, before, unknown);
}

// `unknown`: it could not be read before.
void Pins::tell_otherwise(const Server& server, const std::optional<Record>& before, bool unknown) {
    auto parts =
        judged_otherwise(before ? &*before : nullptr, server.record ? &*server.record : nullptr);
    if (unknown != server.trouble.has_value()) parts.insert(std::begin(kParts), std::end(kParts));
    if (parts.empty()) return;
    for (auto* watcher : watchers_) watcher->on_approved_otherwise(server.key.server, parts);
}

Judged Pins::judge(Server& server, const Name& name, std::string_view digest,
                   std::string_view known_as) const {
    Judged judged;
    if (server.trouble) {
        judged.settled = true;
        judged.mismatch =
            // That there is a record says that somebody has approved something.
            PinMismatch{PinMismatch::Kind::Unknown, true,
                        "cannot be compared with what was approved: " + server.trouble->message};
        return judged;
    }
    judged.settled = server.given_up.has_value();
    if (!server.record) return judged;
    const auto* pin = server.record->find(name);
    const bool approved = pin && pin->basis != Basis::Seen;
    if (const auto kind = departs(*server.record, name, digest, known_as)) {
        // None were approved as well, and who adds some speaks to all who use the server.
        const bool silent = *kind == Difference::Kind::New && name.first == Part::Instructions;
        judged.mismatch = PinMismatch{kind_of(*kind), approved || silent, why(*kind, pin)};
    }
    // What somebody stands behind is taken back by nobody's use.
    judged.settled = judged.settled || approved;
    return judged;
}

const Judged& Pins::of_tool(const std::string& id, const protocol::Tool& tool,
                            const std::string& public_name) {
    static const Judged nothing{{}, true, nullptr};
    auto* const server = server_of(id);
    if (!server) return nothing;
    const auto [place, unknown] = server->tools.try_emplace(tool.name);
    auto& [judged, known_as] = place->second;
    if (!unknown && known_as == public_name) return judged;
    known_as = public_name;
    // Where nothing was approved there is nothing to compare with.
    const auto digest = server->record ? digest_of(canonical_form(tool)) : std::string();
    judged = judge(*server, {Part::Tools, tool.name}, digest, public_name);
    if (!judged.mismatch) return judged;
    auto& stub = server->stubs[tool.name];
    stub.name = tool.name;
    stub.known = R"("inputSchema":{"type":"object","additionalProperties":true},"description":)" +
                 protocol::quoted(blocked_words(id, "tool", *judged.mismatch));
    judged.stub = &stub;
    return judged;
}

std::optional<PinMismatch> Pins::of_unlisted(const std::string& id, const protocol::Tool& tool,
                                             const std::string& public_name) {
    auto* const server = server_of(id);
    if (!server) return {};
    return judge(*server, {Part::Tools, tool.name}, digest_of(canonical_form(tool)), public_name)
        .mismatch;
}

const catalogue::Items* Pins::items(const std::string& server, catalogue::List list) {
    if (const auto origin = origin_of_ ? origin_of_(server) : std::nullopt) {
        const auto* kept = catalogue_.items(server, *origin, list);
        return kept ? kept->items.get() : nullptr;
    }
    const auto found = catalogue_.all_items().find({server, list});
    return found == catalogue_.all_items().end() ? nullptr : found->second.items.get();
}

Judged Pins::of_item(const std::string& id, const Name& name) {
    Judged nothing;
    nothing.settled = true;
    auto* const server = server_of(id);
    if (!server) return nothing;
    if (name.first == Part::Instructions) {
        if (!server->listing || server->listing->instructions.empty()) return nothing;
        const auto digest = digest_of(protocol::quoted(server->listing->instructions));
        return judge(*server, name, digest, {});
    }
    const auto list = list_of(name.first);
    const auto* all = list ? items(id, *list) : nullptr;
    if (!all) return nothing;
    // The first of a name counts, as in the record.
    for (const auto& text : all->texts)
        if (name_in(*list, text) == name.second)
            return judge(*server, name,
                         server->record ? digest_of(canonical_form(text)) : std::string(), {});
    return nothing;
}

std::optional<PinMismatch> Pins::of_text(const std::string& id, const Name& name,
                                         std::string_view text) {
    auto* const server = server_of(id);
    if (!server) return {};
    return judge(*server, name, digest_of(canonical_form(text)), {}).mismatch;
}

std::vector<std::string> Pins::templates(const std::string& server) {
    std::vector<std::string> names;
    const auto* all = items(server, catalogue::List::Templates);
    if (!all) return names;
    for (const auto& text : all->texts)
        if (auto name = name_in(catalogue::List::Templates, text); !name.empty())
            names.push_back(std::move(name));
    return names;
}

bool Pins::any(const std::string& id) {
    const auto* server = server_of(id);
    return server && (server->record || server->trouble);
}

std::vector<Departed> Pins::departed(const std::string& id, const PublicName& public_name) {
    std::vector<Departed> all;
    const auto& others = catalogue_.all_items();
    const bool is_listed = catalogue_.listings().contains(id) ||
                           others.contains({id, catalogue::List::Prompts}) ||
                           others.contains({id, catalogue::List::Templates});
    auto* const server = is_listed ? server_of(id) : nullptr;
    if (!server || (!server->record && !server->trouble)) return all;
    if (server->listing)
        for (const auto& tool : server->listing->tools)
            if (const auto& judged = of_tool(id, tool, public_name(tool.name)); judged.mismatch)
                all.push_back({{Part::Tools, tool.name}, *judged.mismatch});
    for (const auto part : {Part::Prompts, Part::Templates}) {
        const auto* listed = items(id, *list_of(part));
        if (!listed) continue;
        std::set<std::string> names;
        for (const auto& text : listed->texts) {
            auto name = name_in(*list_of(part), text);
            if (name.empty() || !names.insert(name).second) continue;
            const auto judged =
                judge(*server, {part, name},
                      server->record ? digest_of(canonical_form(text)) : std::string(), {});
            if (judged.mismatch) all.push_back({{part, std::move(name)}, *judged.mismatch});
        }
    }
    if (const auto judged = of_item(id, {Part::Instructions, {}}); judged.mismatch)
        all.push_back({{Part::Instructions, {}}, *judged.mismatch});
    return all;
}

bool Pins::refresh(const std::string& id) {
    auto* const server = server_of(id);
    if (!server || !store_.is_other(server->key)) return false;
    read_again(*server);
    return true;
}

void Pins::refresh() {
    for (const auto& [id, server] : servers_)
        if (server && store_.is_other(server->key)) read_again(*server);
}

// Stubs may be shown in this turn yet.
void Pins::forget() {
    retired_ = std::exchange(servers_, {});
    ++generation_;
}

Listed Pins::listed(const std::string& id, const PublicName& public_name) {
    const auto listing = catalogue_.listings().find(id);
    std::map<catalogue::List, const catalogue::Items*> known;
    for (const auto part : {Part::Prompts, Part::Templates})
        if (const auto* all = items(id, *list_of(part))) known[*list_of(part)] = all;
    return listed_of(listing == catalogue_.listings().end() ? nullptr : listing->second.get(),
                     known, public_name);
}

void Pins::change(Server& server, Store::Change change, Done done) {
    store_.change(server.key, std::move(change),
                  [this, watch = std::weak_ptr(alive_), key = server.key,
                   done = std::move(done)](Result<Record> kept) {
                      if (watch.expired()) return;
                      auto* const changed = server_of(key.server);
                      if (kept && changed && changed->key == key) {
                          const bool unknown = changed->trouble.has_value();
                          changed->trouble.reset();
                          const auto before = std::exchange(changed->record, std::move(*kept));
                          changed->tools.clear();
                          ++generation_;
                          tell_otherwise(*changed, before, unknown);
                      }
                      done(kept ? Result<void>() : Result<void>(kept.error()));
                  });
}

void Pins::pin(const std::string& id, std::vector<Name> names, Basis basis,
               const PublicName& public_name, std::int64_t at, Done done) {
    auto* const server = server_of(id);
    if (!server) return done({});
    change(
        *server,
        [now = std::make_shared<const Listed>(listed(id, public_name)), id,
         names = std::move(names), basis, at](Record record) {
            record.server = id;
            return with_items(std::move(record), *now, names, basis, at);
        },
        std::move(done));
}

Result<std::vector<Difference>> Pins::differences(const std::string& id, const Listed& now) {
    auto* const server = server_of(id);
    if (!server) return Error{ErrorCode::NotFound, "nothing is kept of server \"" + id + "\""};
    auto record = store_.read(server->key, Texts::Read);
    if (!record) return record.error();
    return pins::differences(record->value_or(Record()), now);
}

void Pins::approve(const std::string& id, Listed now, std::int64_t at, Done done) {
    auto* const server = server_of(id);
    if (!server)
        return done(Error{ErrorCode::NotFound, "nothing is kept of server \"" + id + "\""});
    change(
        *server,
        [now = std::make_shared<const Listed>(std::move(now)), id, at](Record record) {
            record.server = id;
            return with_all(std::move(record), *now, at);
        },
        std::move(done));
}

void Pins::give_up(const std::string& id, const Error& why) {
    auto* const server = server_of(id);
    if (!server) return;
    server->given_up = why;
    server->tools.clear();
    ++generation_;
}

}  // namespace patchbay::pins
