// The host side of a channel is a patchbay_link. Plugin events are queued in it on whatever thread
// they come, and delivered by the loop; all judgement of the contract happens at delivery.
#include "plugin/channel.hpp"

#include "core/log.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"
#include "plugin/exchange_set.hpp"
#include "plugin/open_channel.hpp"
#include "plugin/signer.hpp"
#include "plugin/slow_call.hpp"
#include "plugin/tables.hpp"

#include <atomic>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>

namespace patchbay::plugin {
namespace {

// Queued, then message() answers PAUSE: by bytes, and by events because small ones cost more than
// their bytes.
constexpr std::size_t kPauseBytes = 1u << 20;
constexpr std::size_t kPauseEvents = 1'000;
// Queued, then the channel ends. What a peer sends in one piece is handed over in one piece, so
// this says nothing of the plugin; its other channels go on.
constexpr std::size_t kMostQueuedBytes = 64u << 20;
constexpr std::size_t kMostQueuedEvents = 100'000;
constexpr std::size_t kMostQueuedOutputs = 10'000;  // lines for people beyond are dropped
constexpr std::size_t kOutputBytes = 8u << 10, kFactBytes = 1u << 10;
// Delivered in one turn of the loop; then the other servers have theirs.
constexpr std::size_t kEventsPerRound = 64;
constexpr std::size_t kBytesPerRound = 256u << 10;

enum class Kind {
    Opened,
    Message,
    Done,
    Writable,
    Challenge,
    Output,
    Fact,
    Closed,
    Fault,  // the plugin broke the contract
    Spent,  // a limit of this channel is reached, or an event of it was lost
};

struct Detail {
    Problem problem;
    std::string name, text;
    unsigned stream = 0;
};

struct Event {
    Kind kind;
    patchbay_status status = PATCHBAY_OK;
    ExchangeId exchange = 0;
    core::Buffer body{};
    std::unique_ptr<Detail> detail{};

    std::size_t bytes() const { return body.size() + (detail ? detail->text.size() : 0); }
};

core::Buffer copy_of(const patchbay_buf& body) {
    auto* bytes = static_cast<char*>(std::malloc(body.size ? body.size : 1));
    if (!bytes) throw std::bad_alloc();
    std::memcpy(bytes, body.data, body.size);
    return {bytes, body.size, [](void* owner) { std::free(owner); }, bytes};
}

}  // namespace
}  // namespace patchbay::plugin

using namespace patchbay;  // the link's name is fixed by the C header: it lives outside
using namespace patchbay::plugin;

struct patchbay_link : std::enable_shared_from_this<patchbay_link> {
    patchbay_link(core::Loop& its_loop, HostServices& its_services,
                  const patchbay_transport& its_table, std::string its_server,
                  std::size_t message_bytes, std::shared_ptr<Signer> its_signer,
                  ChannelEvents& its_events)
        : loop(its_loop),
          services(its_services),
          table(its_table),
          server(std::move(its_server)),
          most_queued_bytes(std::max(kMostQueuedBytes, 2 * message_bytes)),
          signer(std::move(its_signer)),
          events(&its_events) {}

    void mask(const std::vector<Header>& given) {
        for (const auto& header : given)
            if (header.secret) secrets.add_header(header.value);
    }

    // ---- [any]: called by the plugin

    // The one door from plugin threads. Bodies are released by the caller, outside the lock.
    patchbay_status push(Event& event) {
        const std::scoped_lock lock(mutex);
        if (dropping) return PATCHBAY_OK;
        const auto bytes = event.body.size();
        if (event.kind == Kind::Output && waiting >= kMostQueuedOutputs) return PATCHBAY_OK;
        if (event.kind != Kind::Closed &&
            (queued_bytes + bytes > most_queued_bytes || waiting >= kMostQueuedEvents)) {
            if (overflowed) return PATCHBAY_PAUSE;
            overflowed = true;
            const bool many = waiting >= kMostQueuedEvents;
            event = special_event(Kind::Spent, std::to_string(queued_bytes) + " bytes in " +
                                                   std::to_string(waiting) +
                                                   " events of the server were waiting (limit " +
                                                   (many ? "channel_events)" : "channel_bytes)"));
        }
        queued_bytes += event.body.size();
        ++waiting;
        const bool is_message = event.kind == Kind::Message;
        queue.push_back(std::move(event));
        schedule();
        if (!is_message || (!paused && queued_bytes <= kPauseBytes && waiting <= kPauseEvents))
            return PATCHBAY_OK;
        answered_pause = true;
        return PATCHBAY_PAUSE;
    }

    static Event special_event(Kind kind, std::string what) {
        Event event{kind};
        event.detail = std::make_unique<Detail>();
        event.detail->text = std::move(what);
        return event;
    }

    // ---- [loop]

    // One round. When an event pumps the loop, the next goes on where the outer one is.
    void deliver() {
        const auto keep = shared_from_this();
        {
            const std::scoped_lock lock(mutex);
            self = nullptr;
            scheduled = false;
            if (!left()) {
                batch.clear();
                next = 0;
                batch.swap(queue);
            }
        }
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < kEventsPerRound && bytes < kBytesPerRound && left(); ++i)
            bytes += deliver_next();
        resume_if_drained();
        const std::scoped_lock lock(mutex);
        if (left() || !queue.empty()) schedule();
    }

    std::size_t deliver_next() {
        Event event{Kind::Message};
        if (!parts.empty()) {
            event.body = std::move(parts.front());
            parts.pop_front();
        } else {
            event = std::move(batch[next++]);
            const std::scoped_lock lock(mutex);
            queued_bytes -= event.body.size();
            --waiting;
        }
        const auto bytes = event.bytes();
        try {
            dispatch(event);
        } catch (const std::exception& error) {
            failed_at(event.kind, error.what());
        } catch (...) {
            failed_at(event.kind, "no std::exception");
        }
        return bytes;
    }

    // Taken from the queue, and not delivered yet.
    bool left() const { return !parts.empty() || next < batch.size(); }

    void resume_if_drained() {
        bool resume = false;
        {
            const std::scoped_lock lock(mutex);
            resume = answered_pause && !paused && !left();
            if (resume) answered_pause = false;
        }
        if (resume && channel && !ended) call("resume", [&] { table.resume(channel); });
    }

    void dispatch(Event& event) {
        if (faulted) {
            if (event.kind == Kind::Closed) destroy();
            return;
        }
        if (event.kind == Kind::Fault) return fault(event.detail->text);
        if (event.kind == Kind::Spent) return give_up(ErrorCode::Limit, event.detail->text);
        if (closed) return fault(std::string(name_of_kind(event.kind)) + " after closed");
        if (!events) return;
        switch (event.kind) {
            case Kind::Opened:
                if (std::exchange(opened, true)) return fault("opened twice");
                return events->on_opened();
            case Kind::Message:
                if (event.exchange != 0 && !exchanges.contains(event.exchange))
                    return fault("a message for exchange " + std::to_string(event.exchange) +
                                 ", which is not open");
                return events->on_message(event.exchange, std::move(event.body));
            case Kind::Done:
                if (!exchanges.erase(event.exchange))
                    return fault("done for exchange " + std::to_string(event.exchange) +
                                 ", which has ended or never was");
                return events->on_done(event.exchange,
                                       event.detail ? &event.detail->problem : nullptr);
            case Kind::Writable:
                return events->on_writable();
            case Kind::Challenge:
                return events->on_challenge(event.detail->problem);
            case Kind::Output:
                return events->on_output(event.detail->stream, event.detail->text);
            case Kind::Fact:
                return events->on_fact(event.detail->name, event.detail->text);
            case Kind::Closed:
                return finish(event);
            case Kind::Fault:
            case Kind::Spent:
                return;
        }
    }

    void finish(Event& event) {
        closed = true;
        destroy();
        if (exchanges.size() != 0)
            return fault("closed while " + std::to_string(exchanges.size()) +
                         " exchanges were not done");
        ended = true;
        std::exchange(events, nullptr)->on_closed(event.detail ? &event.detail->problem : nullptr);
    }

    // The plugin may not be called for this channel any more, except to let it stop.
    void fault(const std::string& what) {
        services.misbehaved("server \"" + server + "\": " + what);
        give_up(ErrorCode::Internal,
                "plugin \"" + services.plugin() + "\" broke the plugin contract: " + what);
    }

    // Ends this channel alone: nothing of it is heard any more, and it is closed.
    void give_up(ErrorCode code, const std::string& why) {
        faulted = true;
        if (channel && !std::exchange(closing, true)) call("close", [&] { table.close(channel); });
        if (std::exchange(ended, true) || !events) return;
        Problem problem;
        problem.error = {code, "server \"" + server + "\": " + why};
        events->on_closed(&problem);
    }

    // Whoever hears the events threw: a bug of the host that one server has brought to light.
    [[gnu::cold]] void failed_at(Kind kind, const char* what) {
        const auto why = std::string("internal error at ") + name_of_kind(kind) + ": " + what;
        core::log::error("server \"" + server + "\": " + why);
        give_up(ErrorCode::Internal, why);
    }

    void destroy() {
        if (!channel) return;
        auto* const gone = std::exchange(channel, nullptr);
        --services.channels;
        call("destroy", [&] { table.destroy(gone); });
    }

    // A channel that is not closed is left to itself, for good.
    void abandon() {
        events = nullptr;
        {
            const std::scoped_lock lock(mutex);
            dropping = true;
        }
        if (!channel) return;
        core::log::warn("server \"" + server + "\": plugin \"" + services.plugin() +
                        "\" has not closed its channel; it is left behind");
        static auto& left_behind = *new std::vector<std::shared_ptr<patchbay_link>>;
        left_behind.push_back(shared_from_this());
    }

    // Calls a slot; false: it threw, and that is queued as a fault.
    template <class Call>
    bool call(const char* slot, Call&& work) {
        const SlowCall slow(services.plugin(), slot, server.c_str());
        std::string thrown;
        if (guarded(thrown, std::forward<Call>(work))) return true;
        queue_fault(std::string(slot) + " threw: " + thrown);
        return false;
    }

    void queue_fault(std::string what) {
        auto event = special_event(Kind::Fault, std::move(what));
        push(event);
    }

    // An event could not be taken in: without it the rest makes no sense. [any]
    void lose_event() {
        auto event = special_event(Kind::Spent, "the host had no memory for an event");
        push(event);
    }

    static const char* name_of_kind(Kind kind) {
        static constexpr const char* names[] = {"opened",    "message", "done", "writable",
                                                "challenge", "output",  "fact", "closed",
                                                "fault",     "spent"};
        return names[static_cast<int>(kind)];
    }

    core::Loop& loop;
    HostServices& services;
    const patchbay_transport& table;
    const std::string server;
    const std::size_t most_queued_bytes;
    const std::shared_ptr<Signer> signer;  // may be null
    core::Secrets secrets;                 // the credentials given to it, the former ones too

    // [loop]
    ChannelEvents* events;  // null: nobody listens
    patchbay_channel* channel = nullptr;
    ExchangeSet exchanges;
    std::vector<Event> batch;  // from `next` on: to be delivered
    std::size_t next = 0;
    std::deque<core::Buffer> parts;  // messages that come before those
    std::vector<patchbay_kv> headers;
    bool opened = false, closing = false, closed = false, ended = false, faulted = false;

    std::atomic<bool> paused{false};

    std::mutex mutex;  // guards what follows
    std::vector<Event> queue;
    std::size_t queued_bytes = 0, waiting = 0;  // bytes and events, those in `batch` too
    bool scheduled = false, answered_pause = false, overflowed = false, dropping = false;
    std::shared_ptr<patchbay_link> self;  // while a delivery is scheduled

private:
    // With the mutex held, also across post(): who delivers `closed` must wait until the thread
    // that said it has left this object.
    void schedule() {
        if (std::exchange(scheduled, true)) return;
        if (!self) self = shared_from_this();
        auto run = [this] { deliver(); };  // small enough for std::function to hold in place
        // What is left of a round waits for the others' turn as well, which post() gives them.
        if (loop.on_loop_thread() && !left())
            loop.defer(run);
        else
            loop.post(run);
    }
};

namespace patchbay::plugin {
namespace {

std::unique_ptr<Detail> detail_of(patchbay_status status, const patchbay_problem* problem) {
    auto detail = std::make_unique<Detail>();
    detail->problem = problem_of(status, problem);
    return detail;
}

bool too_small(const patchbay_problem* problem) {
    return problem && problem->struct_size < kProblemFloor;
}

// The body of a sink's function: what it throws loses the event, and with it the channel.
template <class Body>
patchbay_status heard(patchbay_link* link, Body&& body) noexcept {
    try {
        return body();
    } catch (...) {
        thrown_at_entry("an event");
        void_entry("an event", [&] { link->lose_event(); });
        return PATCHBAY_OK;
    }
}

void sink_opened(patchbay_link* link) noexcept {
    heard(link, [&]() -> patchbay_status {
        Event event{Kind::Opened};
        link->push(event);
        return PATCHBAY_OK;
    });
}

patchbay_status sink_message(patchbay_link* link, std::uint64_t exchange,
                             const patchbay_buf* body) noexcept {
    return heard(link, [&]() -> patchbay_status {
        if (!body || (!body->data && body->size)) {
            link->queue_fault("message without a body");
            return PATCHBAY_OK;
        }
        Event event{Kind::Message, PATCHBAY_OK, exchange, {}, nullptr};
        event.body = body->release ? core::Buffer(reinterpret_cast<const char*>(body->data),
                                                  body->size, body->release, body->owner)
                                   : copy_of(*body);
        return link->push(event);
    });
}

void sink_done(patchbay_link* link, std::uint64_t exchange, patchbay_status status,
               const patchbay_problem* problem) noexcept {
    heard(link, [&]() -> patchbay_status {
        if (too_small(problem)) {
            link->queue_fault("done with a problem of an unknown size");
            return PATCHBAY_OK;
        }
        Event event{Kind::Done, status, exchange, {}, nullptr};
        if (status != PATCHBAY_OK) event.detail = detail_of(status, problem);
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_writable(patchbay_link* link) noexcept {
    heard(link, [&]() -> patchbay_status {
        Event event{Kind::Writable};
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_challenge(patchbay_link* link, const patchbay_problem* problem) noexcept {
    heard(link, [&]() -> patchbay_status {
        if (!problem || too_small(problem)) {
            link->queue_fault("challenge without a problem");
            return PATCHBAY_OK;
        }
        Event event{Kind::Challenge};
        const bool session = problem->error.code == PATCHBAY_E_SESSION;
        event.detail = detail_of(session ? PATCHBAY_E_SESSION : PATCHBAY_E_AUTH, problem);
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_closed(patchbay_link* link, const patchbay_problem* problem) noexcept {
    heard(link, [&]() -> patchbay_status {
        if (too_small(problem)) {
            link->queue_fault("closed with a problem of an unknown size");
            return PATCHBAY_OK;
        }
        Event event{Kind::Closed};
        if (problem)
            event.detail =
                detail_of(problem->error.code ? problem->error.code : PATCHBAY_E_IO, problem);
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_output(patchbay_link* link, std::uint32_t stream, patchbay_str line) noexcept {
    heard(link, [&]() -> patchbay_status {
        Event event{Kind::Output};
        event.detail = std::make_unique<Detail>();
        event.detail->stream = stream;
        event.detail->text = core::clipped(view(line), kOutputBytes);
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_fact(patchbay_link* link, patchbay_str name, patchbay_str value) noexcept {
    heard(link, [&]() -> patchbay_status {
        Event event{Kind::Fact};
        event.detail = std::make_unique<Detail>();
        event.detail->name = core::printable(view(name), 64);
        event.detail->text = core::printable(view(value), kFactBytes);
        link->push(event);
        return PATCHBAY_OK;
    });
}

constexpr patchbay_sink kSink = {
    sizeof(patchbay_sink), 0,           sink_opened, sink_message, sink_done, sink_writable,
    sink_challenge,        sink_closed, sink_output, sink_fact};

patchbay_status sign(const patchbay_host*, patchbay_link* link, patchbay_str method,
                     patchbay_str url, void* ctx, Signer::Header header) noexcept {
    if (!link || !header) return PATCHBAY_E_INVALID;
    if (!link->signer) return PATCHBAY_E_AUTH;
    return entry("sign", [&] { return link->signer->sign(view(method), view(url), ctx, header); });
}

constexpr patchbay_host_sign kSign = {sizeof(patchbay_host_sign), 0, sign};

class PluginChannel final : public Channel {
public:
    explicit PluginChannel(std::shared_ptr<patchbay_link> link) : link_(std::move(link)) {}
    ~PluginChannel() override { link_->abandon(); }

    Result<Flow> send(OutgoingMessage message) override {
        auto& link = *link_;
        link.loop.assert_here();
        if (!link.channel || link.ended || link.closing)
            return Error{ErrorCode::Unavailable,
                         "server \"" + link.server + "\": the channel is closed"};
        assert(message.exchange != 0 && !link.exchanges.contains(message.exchange));
        patchbay_message told{};
        told.struct_size = sizeof told;
        told.kind = static_cast<std::uint32_t>(message.kind);
        told.exchange = message.exchange;
        told.method = str(message.method);
        told.protocol = str(message.protocol);
        if (message.headers && !message.headers->empty()) {
            describe(*message.headers, link.headers);
            told.headers = link.headers.data();
            told.header_count = link.headers.size();
        }
        if (message.deadline != core::Clock::time_point::max())
            told.deadline_ns = static_cast<std::uint64_t>(
                std::chrono::nanoseconds(message.deadline.time_since_epoch()).count());
        const auto bytes = message.body.view();
        const auto [release, owner] = message.body.give_up();
        told.body = {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
                     bytes.size(), release, owner};
        patchbay_status status = PATCHBAY_E_INTERNAL;
        if (!link.call("send", [&] { status = link.table.send(link.channel, &told); }))
            return Error{ErrorCode::Internal, "server \"" + link.server + "\": send threw"};
        if (status < 0)
            return Error{code_of(status),
                         "server \"" + link.server + "\": send refused: " + name_of_status(status)};
        link.exchanges.insert(message.exchange);
        if (status > PATCHBAY_PAUSE) link.queue_fault("send returned " + std::to_string(status));
        return status == PATCHBAY_PAUSE ? Flow::Paused : Flow::Ready;
    }

    void cancel(ExchangeId exchange) override {
        auto& link = *link_;
        if (link.exchanges.contains(exchange) && usable())
            link.call("cancel", [&] { link.table.cancel(link.channel, exchange); });
    }

    void pause() override { link_->paused = true; }
    void resume() override {
        link_->paused = false;
        link_->resume_if_drained();
    }

    void unfold(std::vector<core::Buffer> messages) override {
        std::move(messages.begin(), messages.end(), std::back_inserter(link_->parts));
    }

    void settle(ExchangeId exchange) override {
        auto& link = *link_;
        if (usable() && (link.table.caps & PATCHBAY_CAP_RESUME) &&
            link.exchanges.contains(exchange))
            link.call("settle", [&] { link.table.settle(link.channel, exchange); });
    }

    void set_credentials(const std::vector<Header>& credentials) override {
        auto& link = *link_;
        link.mask(credentials);
        if (!usable() || !(link.table.caps & PATCHBAY_CAP_CREDENTIALS)) return;
        std::vector<patchbay_kv> kv;
        describe(credentials, kv);
        link.call("set_credentials",
                  [&] { link.table.set_credentials(link.channel, kv.data(), kv.size()); });
    }

    void close() override {
        auto& link = *link_;
        link.loop.assert_here();
        if (!usable() || std::exchange(link.closing, true)) return;
        link.call("close", [&] { link.table.close(link.channel); });
    }

    bool request_scoped() const override { return link_->table.caps & PATCHBAY_CAP_EXCHANGE; }
    bool takes_headers() const override { return link_->table.caps & PATCHBAY_CAP_HEADERS; }

private:
    bool usable() const { return link_->channel && !link_->ended; }

    const std::shared_ptr<patchbay_link> link_;
};

}  // namespace

const patchbay_host_sign* sign_table() {
    return &kSign;
}

Result<std::unique_ptr<Channel>> open_channel(core::Loop& loop, HostServices& services,
                                              const patchbay_transport& table,
                                              ChannelOptions options, ChannelEvents& events) {
    loop.assert_here();
    const auto link = std::make_shared<patchbay_link>(
        loop, services, table, options.server, options.message_bytes, options.signer, events);
    link->mask(options.credentials);
    const std::string settings = boost::json::serialize(options.settings);
    std::vector<patchbay_kv> credentials;
    describe(options.credentials, credentials);
    patchbay_open_params params{};
    params.struct_size = sizeof params;
    params.host = services.host();
    params.sink = &kSink;
    params.link = link.get();
    params.server = str(link->server);
    params.config = str(settings);
    params.credentials = credentials.data();
    params.credential_count = credentials.size();
    params.message_bytes = options.message_bytes;

    const auto where = "server \"" + link->server + "\"";
    patchbay_error error{};
    patchbay_status status = PATCHBAY_E_INTERNAL;
    const auto broken = [&](const std::string& what) {
        services.misbehaved(where + ": " + what);
        return Error{ErrorCode::Internal,
                     where + ": plugin \"" + services.plugin() + "\": " + what};
    };
    std::string thrown;
    {
        const SlowCall slow(services.plugin(), "open", link->server.c_str());
        if (!guarded(thrown, [&] { status = table.open(&params, &link->channel, &error); })) {
            link->channel = nullptr;
            link->abandon();
            return broken("open threw: " + thrown);
        }
    }
    if (status != PATCHBAY_OK) {
        link->channel = nullptr;
        link->abandon();
        if (status > 0) return broken("open returned " + std::to_string(status));
        return Error{code_of(status), where + ": " + text_of(error, status)};
    }
    if (!link->channel) {
        link->abandon();
        return broken("open returned OK without a channel");
    }
    ++services.channels;
    return std::unique_ptr<Channel>(std::make_unique<PluginChannel>(link));
}

}  // namespace patchbay::plugin
