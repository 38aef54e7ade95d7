// A channel through a plugin's table: calls go down here, events come up through its link.
#include "plugin/links/channel_link.hpp"
#include "plugin/links/open_channel.hpp"

#include <cassert>

namespace patchbay::plugin {
namespace {

class PluginChannel final : public Channel {
public:
    explicit PluginChannel(std::shared_ptr<patchbay_link> link) : link_(std::move(link)) {}
    ~PluginChannel() override { link_->abandon(); }

    Result<Flow> send(OutgoingMessage message) override {
        auto& link = *link_;
        link.loop.assert_here();
        if (!link.usable() || link.closing())
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
        // Given up before the call: the plugin has it from here on, also when it refuses or throws.
        const auto bytes = message.body.view();
        const auto [release, owner] = message.body.give_up();
        told.body = {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
                     bytes.size(), release, owner};
        patchbay_status status = PATCHBAY_E_INTERNAL;
        if (!link.call("send", [&] { status = link.table.send(link.made, &told); }))
            return Error{ErrorCode::Internal, "server \"" + link.server + "\": send threw"};
        if (status < 0)
            return Error{code_of(status),
                         "server \"" + link.server + "\": send refused: " + name_of_status(status)};
        // Not too late: its events wait until the plugin's call has returned.
        link.exchanges.insert(message.exchange);
        if (status > PATCHBAY_PAUSE) link.queue_fault("send returned " + std::to_string(status));
        return status == PATCHBAY_PAUSE ? Flow::Paused : Flow::Ready;
    }

    void cancel(ExchangeId exchange) override {
        auto& link = *link_;
        if (link.exchanges.contains(exchange) && link.usable())
            link.call("cancel", [&] { link.table.cancel(link.made, exchange); });
    }

    void pause() override { link_->pause(); }
    void resume() override { link_->resume(); }
    void unfold(std::vector<core::Buffer> messages) override { link_->unfold(std::move(messages)); }

    void settle(ExchangeId exchange) override {
        auto& link = *link_;
        if (link.usable() && (link.table.caps & PATCHBAY_CAP_RESUME) &&
            link.exchanges.contains(exchange))
            link.call("settle", [&] { link.table.settle(link.made, exchange); });
    }

    void set_credentials(const std::vector<Header>& credentials) override {
        auto& link = *link_;
        // Masked first: what the plugin says of them may come from inside the call.
        link.mask(credentials);
        if (!link.usable() || !(link.table.caps & PATCHBAY_CAP_CREDENTIALS)) return;
        std::vector<patchbay_kv> kv;
        describe(credentials, kv);
        link.call("set_credentials",
                  [&] { link.table.set_credentials(link.made, kv.data(), kv.size()); });
    }

    void close() override { link_->close(); }

    bool request_scoped() const override { return link_->table.caps & PATCHBAY_CAP_EXCHANGE; }
    bool takes_headers() const override { return link_->table.caps & PATCHBAY_CAP_HEADERS; }

private:
    const std::shared_ptr<patchbay_link> link_;
};

}  // namespace

Result<std::unique_ptr<Channel>> open_channel(core::Loop& loop, Instance& instance,
                                              const patchbay_transport& table,
                                              const ChannelOptions& options,
                                              ChannelEvents& events) {
    loop.assert_here();
    const auto link = std::make_shared<patchbay_link>(loop, instance, table, options, events);
    const std::string settings = boost::json::serialize(options.settings);
    std::vector<patchbay_kv> credentials;
    describe(options.credentials, credentials);
    patchbay_open_params params{};
    params.struct_size = sizeof params;
    params.host = instance.host();
    params.sink = sink_table();
    params.link = link.get();
    params.server = str(link->server);
    params.config = str(settings);
    params.credentials = credentials.data();
    params.credential_count = credentials.size();
    params.message_bytes = options.message_bytes;
    params.plugin = instance.made();

    const auto where = "server \"" + link->server + "\"";
    patchbay_error error{};
    const auto status = link->make(
        "open", where, [&](patchbay_channel** made) { return table.open(&params, made, &error); });
    if (!status) return within(where, status.error());
    if (*status != PATCHBAY_OK)
        return Error{code_of(*status), where + ": " + text_of(&error, *status)};
    return std::unique_ptr<Channel>(std::make_unique<PluginChannel>(link));
}

}  // namespace patchbay::plugin
