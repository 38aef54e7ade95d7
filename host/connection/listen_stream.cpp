#include "connection/listen_stream.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace patchbay::connection {
namespace json = boost::json;

ListenStream::ListenStream(core::Loop& loop, const Terms& terms, OwnRequests& requests)
    : time_(loop.time()), terms_(terms), requests_(requests), pause_(loop) {}

void ListenStream::open(const protocol::Session& session, const std::set<std::string>& resources) {
    close("subscription changes");
    if (session.era != protocol::Era::Modern) return;
    json::object wanted;
    if (session.can("tools", "listChanged")) wanted["toolsListChanged"] = true;
    if (session.can("prompts", "listChanged")) wanted["promptsListChanged"] = true;
    if (session.can("resources", "listChanged")) wanted["resourcesListChanged"] = true;
    if (!resources.empty())
        wanted["resourceSubscriptions"] = json::array(resources.begin(), resources.end());
    if (wanted.empty()) return;
    wanted_ = "\"notifications\":" + json::serialize(wanted);
    send();
}

void ListenStream::close(const std::string& reason) {
    pause_.stop();
    // Nobody's any more before it is cancelled: it is not to be opened again for that.
    if (const auto request = std::exchange(request_, 0)) requests_.cancel(request, reason);
}

void ListenStream::send() {
    opened_at_ = time_.now();
    request_ = requests_.ask({"subscriptions/listen", {wanted_, ""}, {}, {}},
                             std::chrono::milliseconds::max(),
                             lifetime_.guard([this](const Result<Reply>& reply) {
                                 if (request_) on_end(reply);
                             }));
}

// A server that ends the stream as soon as it is open is asked less and less often.
void ListenStream::on_end(const Result<Reply>& reply) {
    request_ = 0;
    if (reply && !reply->error.empty()) return;
    const bool lived = time_.now() - opened_at_ >= terms_.listen_most;
    short_ones_ = lived ? 0 : short_ones_ + 1;
    const auto doubled = terms_.listen_first * (1u << std::min(short_ones_, 16u)) / 2;
    pause_.start(std::clamp(doubled, terms_.listen_first, terms_.listen_most), [this] { send(); });
}

}  // namespace patchbay::connection
