#include "net/dialers.hpp"

#include "net/trouble_of.hpp"

#include <optional>
#include <utility>

namespace patchbay::net {

using Turn = transport::ChannelCore::Turn;

void Dialers::add(std::shared_ptr<Task> task, const Url& url, Fuse& fuse) {
    waiting_.push_back({std::move(task), &url, &fuse});
    if (workers_ == kMost) return;
    ++workers_;
    core_.departed();
    core_.after_turn([this] { hire(); });
}

void Dialers::hire() {
    const auto trouble = trouble_of([this] { pool_.run([this] { work(); }); });
    if (trouble.code == PATCHBAY_OK) return;
    core_.enter("an exchange", [this, &trouble] {
        --workers_;
        core_.arrived();
        if (workers_ > 0) return;
        const Trouble told(PATCHBAY_E_LIMIT, "no thread can be started: " + trouble.text, false);
        for (const auto& job : std::exchange(waiting_, {})) owner_.dialed(job.task, nullptr, told);
    });
}

void Dialers::work() {
    for (;;) {
        Job job;
        {
            const Turn turn(core_);
            if (waiting_.empty()) {
                --workers_;
                core_.arrived();
                return;  // the end of this turn may be the end of the channel, and of `this`
            }
            job = std::move(waiting_.front());
            waiting_.pop_front();
        }
        connect(job);
    }
}

void Dialers::connect(const Job& job) {
    std::optional<Dialed> dialed;
    auto trouble = trouble_of([&] { dialed = dial(endpoint_, *job.url, *job.fuse); });
    core_.enter("a new connection", [&] {
        const bool blown = job.fuse->blown();
        if (blown) trouble = Trouble(PATCHBAY_E_CANCELLED, "cancelled");
        trouble.sent = false;
        owner_.dialed(job.task, dialed && !blown ? &*dialed : nullptr, trouble);
        dialed.reset();  // Poco's sockets are shared, not moved: the reactor may close its own now
    });
}

}  // namespace patchbay::net
