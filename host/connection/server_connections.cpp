#include "connection/server_connections.hpp"

#include "connection/transport_choice.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace patchbay::connection {

using Use = Tenure::Use;

namespace {

// What a person looks for first: what works, then what is on its way, then why it does not.
std::size_t rank(State state) {
    constexpr std::array kOrder{State::Ready,        State::Connecting, State::Reconnecting,
                                State::AuthRequired, State::Error,      State::Failed,
                                State::Idle};
    return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), state) -
                                    kOrder.begin());
}

std::chrono::milliseconds idle_time(const config::Server& server) {
    return server.idle_timeout.value_or(server.lazy ? core::kLazyIdle
                                                    : std::chrono::milliseconds::zero());
}

}  // namespace

ServerConnections::ServerConnections(const Context& context, registry::ServerSpec spec,
                                     Departures& departures)
    : context_(context), spec_(std::move(spec)), departures_(departures) {}

bool ServerConnections::is_shared() const {
    const auto& mode = spec_.config.mode;
    if (mode == "per_session") return false;
    return !spec_.local() || (mode == "shared" && context_.terms.stdio_sharing);
}

bool ServerConnections::keeps_spare() const {
    return spec_.config.warm > 0 && !is_shared() && context_.terms.long_lived &&
           context_.terms.more_callers && !closing_;
}

Connection* ServerConnections::held_by(CallerNumber caller) const {
    const auto row = leases_.find(caller);
    return row == leases_.end() ? nullptr : row->second->connection.get();
}

Result<std::reference_wrapper<Connection>> ServerConnections::lease(const Caller& who) {
    const auto caller = who.number();
    if (auto* held = held_by(caller)) return std::ref(*held);
    spare_manner_ = manner_for(who);
    auto* slot = find_for(who);
    if (!slot) {
        if (auto why = why_no_more(); why && !take_unused()) return std::move(*why);
        slot = &open(spare_manner_);
    }
    slot->idle.stop();
    slot->tenure.hold();
    leases_.emplace(caller, slot);
    auto& connection = *slot->connection;
    connection.give_to(caller);
    // The next one's spare: not before this caller has got what it waits for, and only of a server
    // that has just shown that it starts.
    if (keeps_spare())
        connection.connect(lifetime_.guard([this, caller] {
            const auto* held = held_by(caller);
            if (held && held->state() == State::Ready) ensure_spare();
        }));
    return std::ref(connection);
}

ServerConnections::Slot* ServerConnections::find(Use use) const {
    const auto found = std::find_if(slots_.begin(), slots_.end(),
                                    [use](const auto& slot) { return slot->tenure.use() == use; });
    return found == slots_.end() ? nullptr : found->get();
}

bool ServerConnections::may_be_leased(const Slot& slot) const {
    const auto use = slot.tenure.use();
    return is_shared() ? use == Use::Shared || use == Use::Unheld : use == Use::Spare;
}

// The oldest that serves, so that one too many comes to an end. An era is a preference: where there is room for
// no more, one that does not serve is better than none, and where the user wants one process for all
// callers, that is what both eras share.
ServerConnections::Slot* ServerConnections::find_for(const Caller& caller) const {
    const auto manner = manner_for(caller);
    Slot* another = nullptr;
    for (const auto& slot : slots_) {
        if (!may_be_leased(*slot)) continue;
        if (serves(*slot, manner)) return slot.get();
        another = slot.get();
    }
    const bool one_for_all = is_shared() && spec_.local();
    return another && (one_for_all || why_no_more()) ? another : nullptr;
}

// Nobody holds it, and nobody would be led to it.
bool ServerConnections::is_one_too_many(const Slot& slot) const {
    const auto era = slot.connection->manner().preferred;
    return std::any_of(slots_.begin(), slots_.end(), [&](const auto& other) {
        return other.get() != &slot && may_be_leased(*other) && serves(*other, era);
    });
}

// What several share is told what holds for all of them.
Manner ServerConnections::manner_for(const Caller& caller) const {
    const auto* declares = is_shared() ? nullptr : caller.declares();
    return {caller.era(), declares ? std::optional(*declares) : std::nullopt};
}

bool ServerConnections::serves(const Slot& slot, const Manner& manner) const {
    return serves(slot, manner.preferred) &&
           (is_shared() || slot.connection->manner().declares == manner.declares);
}

// Whether a connection of its own would bring a caller of that era nothing that this one has not.
bool ServerConnections::serves(const Slot& slot, protocol::Era era) const {
    const auto& connection = *slot.connection;
    if (connection.manner().preferred == era || spec_.config.protocol != "auto") return true;
    if (spec_.config.transport == TransportChoice::kOldTransport) return true;  // never modern
    const auto spoken = [&](protocol::Era preferred) -> std::optional<protocol::Era> {
        const auto known = known_era(context_.eras, spec_.definition_key, preferred).version;
        if (known.empty()) return {};
        return protocol::era_of(known);
    };
    const auto* session = connection.session();
    if ((session ? session->era : spoken(connection.manner().preferred)) == era) return true;
    const auto own = spoken(era);
    return own && *own != era;
}

std::optional<Error> ServerConnections::why_no_more() const {
    const auto server = "server \"" + spec_.id() + "\": ";
    if (closing_) return Error{ErrorCode::Unavailable, server + "the host is closing"};
    const auto leaving = departures_.count(spec_.id());
    const auto count = slots_.size() + leaving;
    if (count < context_.terms.limits.connections_per_server) return {};
    return Error{ErrorCode::Limit,
                 server + std::to_string(count) + " connections are open" +
                     (leaving ? ", " + std::to_string(leaving) + " of which are closing" : "") +
                     " (limit connections_per_server)"};
}

// A session has its servers started before it calls anything, and many that are opened never do. The oldest goes.
bool ServerConnections::take_unused() {
    if (closing_ || departures_.count(spec_.id()) >= kMostMakingRoom) return false;
    const auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const auto& each) {
        return each->tenure.use() == Use::Own && each->connection->unused();
    });
    if (slot == slots_.end()) return false;
    const auto row = std::find_if(leases_.begin(), leases_.end(),
                                  [&](const auto& lease) { return lease.second == slot->get(); });
    if (row == leases_.end()) return false;
    release(row->first);
    return true;
}

ServerConnections::Slot& ServerConnections::open(Manner manner) {
    auto slot =
        std::make_unique<Slot>(context_.loop, is_shared() ? Tenure::of_all() : Tenure::of_one());
    slot->connection = std::make_unique<Connection>(context_, spec_, starts_, std::move(manner));
    return *slots_.emplace_back(std::move(slot));
}

// In a turn of its own: a host that is only asked what it is configured with starts nothing.
void ServerConnections::begin() {
    // One that has failed stays so, however often it is told its rules.
    if (keeps_spare() && !spec_.config.lazy && !find(Use::Spare))
        context_.loop.defer(lifetime_.guard([this] { ensure_spare(); }));
}

// One that has failed begins anew, though not at once; one that is on its way goes on.
void ServerConnections::ensure_spare() {
    if (!keeps_spare()) return;
    auto* spare = find(Use::Spare);
    if (spare && !serves(*spare, spare_manner_)) {
        retire(spare->connection.get());
        spare = nullptr;
    }
    if (!spare && !why_no_more()) spare = &open(spare_manner_);
    if (spare) spare->connection->warm_up();
}

void ServerConnections::amend(registry::ServerSpec spec) {
    spec_ = std::move(spec);
    std::vector<const Connection*> unwanted;
    for (const auto& slot : slots_) {
        slot->connection->amend(spec_);
        if (slot->tenure.use() == Use::Spare && !keeps_spare())
            unwanted.push_back(slot->connection.get());
    }
    for (const auto* connection : unwanted) retire(connection);
    std::vector<Slot*> unheld;
    for (const auto& slot : slots_)
        if (slot->tenure.use() == Use::Unheld) unheld.push_back(slot.get());
    for (auto* slot : unheld) begin_idle(*slot);
    begin();
}

void ServerConnections::redefine(registry::ServerSpec spec) {
    std::map<CallerNumber, const Connection*> in_use;
    for (const auto& [caller, slot] : leases_) {
        const auto state = slot->connection->state();
        if (state != State::Idle && state != State::Stopped)
            in_use[caller] = slot->connection.get();
    }
    spec_ = std::move(spec);
    starts_ = std::make_shared<Starts>();
    retire_all();
    // The former ones are there until their end is told, in a later turn.
    for (const auto& [holder, former] : in_use) lease_anew(holder, *former);
    begin();
}

void ServerConnections::release(CallerNumber caller) {
    const auto row = leases_.find(caller);
    if (row == leases_.end()) return;
    auto* const connection = row->second->connection.get();
    leases_.erase(row);
    // What it asked first. Whoever hears of what that ends may end others, or this server.
    const auto watch = lifetime_.watch();
    connection->release(caller);
    if (watch.expired()) return;
    const auto held = std::find_if(slots_.begin(), slots_.end(), [&](const auto& slot) {
        return slot->connection.get() == connection;
    });
    if (held == slots_.end()) return;
    auto& slot = **held;
    slot.tenure.release();
    if (slot.tenure.use() == Use::Leaving) return retire(connection);
    if (slot.tenure.use() == Use::Unheld) begin_idle(slot);
}

void ServerConnections::begin_idle(Slot& slot) {
    const auto* connection = slot.connection.get();
    const auto over = [this, &slot, connection] {
        slot.tenure.expire();
        retire(connection);
    };
    slot.idle.stop();
    // Any more, or beside another of its kind: nobody will come for it.
    if (!is_shared() || is_one_too_many(slot)) return over();
    if (const auto time = idle_time(spec_.config); time.count() > 0) slot.idle.start(time, over);
}

// Not when its calls are over: whoever restarts a server mostly does so because it hangs. What is known
// of starts that failed is forgotten, as somebody says that it is worth another one.
Result<void> ServerConnections::restart(const Caller& caller) {
    if (const auto leased = lease(caller); !leased) return leased.error();
    const auto* const old = leases_.at(caller.number());
    const auto now = context_.loop.now();
    if (old->restarted && now - *old->restarted < kRestartPause)
        return Error{ErrorCode::Limit, "server \"" + spec_.id() +
                                           "\" was restarted a moment ago; wait " +
                                           core::duration(kRestartPause)};
    std::vector<CallerNumber> holders;
    for (const auto& [holder, slot] : leases_)
        if (slot == old) holders.push_back(holder);
    std::sort(holders.begin(), holders.end());
    for (const auto holder : holders) leases_.erase(holder);
    const auto found = std::find_if(slots_.begin(), slots_.end(),
                                    [&](const auto& slot) { return slot.get() == old; });
    const auto slot = std::move(*found);
    slots_.erase(found);
    slot->tenure.retire();
    starts_ = std::make_shared<Starts>();
    const auto watch = lifetime_.watch();
    const auto& former = *slot->connection;  // until its end is told, in a later turn
    departures_.take_closing(std::move(slot->connection));
    // Whoever has heard of what that ended may have taken the server, or come for a connection.
    if (watch.expired()) return {};
    for (const auto holder : holders)
        if (lease_anew(holder, former)) leases_.at(holder)->restarted = now;
    return {};
}

// Where there are too many, the caller is told when it comes.
bool ServerConnections::lease_anew(CallerNumber holder, const Connection& former) {
    const auto* const caller = context_.callers.find(holder);
    if (!caller) return false;
    const auto again = lease(*caller);
    if (!again) return false;
    again->get().take_over_wishes(holder, former);
    again->get().connect({});
    return true;
}

// Of those that nobody holds.
void ServerConnections::retire(const Connection* connection) {
    const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const auto& slot) {
        return slot->connection.get() == connection;
    });
    if (found == slots_.end()) return;
    const auto slot = std::move(*found);
    slots_.erase(found);
    slot->tenure.retire();
    departures_.take(std::move(slot->connection));
}

// Out of sight at once, so that a new definition can have the name while old calls go on.
void ServerConnections::retire_all() {
    leases_.clear();
    auto& departures = departures_;
    for (const auto& slot : std::exchange(slots_, {})) {
        slot->tenure.retire();
        departures.take(std::move(slot->connection));
    }
}

const Connection* ServerConnections::listed() const {
    for (const auto& slot : slots_) {
        const auto& connection = *slot->connection;
        if (connection.state() == State::Ready && !connection.tools_error()) return &connection;
    }
    return nullptr;
}

std::vector<Connection*> ServerConnections::all() const {
    std::vector<Connection*> connections;
    for (const auto& slot : slots_) connections.push_back(slot->connection.get());
    return connections;
}

// The best of those that callers have; a spare says least.
// That of which is asked next: a spare is nobody's yet.
const ServerConnections::Slot* ServerConnections::best() const {
    const auto place_of = [](const std::unique_ptr<Slot>& slot) {
        return std::pair(slot->tenure.use() == Use::Spare, rank(slot->connection->state()));
    };
    const auto best =
        std::min_element(slots_.begin(), slots_.end(),
                         [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
    return best == slots_.end() ? nullptr : best->get();
}

State ServerConnections::state() const {
    const auto* const best = this->best();
    return best ? best->connection->state() : Status().state;
}

Status ServerConnections::status() const {
    if (slots_.empty()) {
        Status none;
        none.id = spec_.id();
        none.transport = spec_.config.transport;
        none.place = spec_.config.place;
        departures_.count_in(none);
        return masked(std::move(none));
    }
    const auto* const best = this->best();
    auto status = best->connection->status();
    departures_.count_in(status);
    if (slots_.size() == 1) return status;
    for (const auto& slot : slots_) {
        const auto one = slot->connection->status();
        status.connections.push_back(
            {name_of(slot->tenure.use()), one.state, one.last_error, one.facts});
        if (slot.get() == best) continue;
        add_counts(status, one);
        status.pending += one.pending;
    }
    return status;
}

}  // namespace patchbay::connection
