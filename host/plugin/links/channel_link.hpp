// The link of a channel: what its transport owes to each exchange, and whom its events go to.
//
// Threads: [loop].
#pragma once

#include "plugin/channel.hpp"
#include "plugin/links/exchange_set.hpp"
#include "plugin/links/link.hpp"

#include <vector>

namespace patchbay::plugin {

class ChannelLink : public LinkTo<patchbay_transport, patchbay_channel> {
public:
    ChannelLink(core::Loop& its_loop, Instance& its_instance, const patchbay_transport& its_table,
                const ChannelOptions& options, ChannelEvents& events);

    // From now on masked in what people read.
    void mask(const std::vector<Header>& credentials);

    ExchangeSet exchanges;             // that have not ended
    std::vector<patchbay_kv> headers;  // of the message that is being sent; keeps its memory

private:
    void dispatch(LinkEvent& event) override;
    std::string unfinished() const override;
    void on_closed(const Problem* problem) override;
    void on_given_up(Error why) override;
    void resume_made() override;

    ChannelEvents& events_;
    bool opened_ = false;
};

// What a plugin calls with its link.
const patchbay_sink* sink_table();

}  // namespace patchbay::plugin

// The name that the C header knows it by.
struct patchbay_link final : patchbay::plugin::ChannelLink {
    using ChannelLink::ChannelLink;
};
