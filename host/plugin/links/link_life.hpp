// How far a link has come, and what an event of its plugin means by then. Decides alone: it calls neither plugin nor
// owner.
//
//   made       the plugin may be called, until it has closed
//   closing    it was asked to close; what it tells meanwhile still counts
//   closed     it has; the link is destroyed, and it may tell nothing more
//   distrusted it broke the contract, or a limit of this link: nothing is believed any more, but that `closed` says
//              when destroy may follow
//   abandoned  nobody listens, whatever comes
//
// Threads: [loop].
#pragma once

#include "plugin/links/event_queue.hpp"

#include <utility>

namespace patchbay::plugin {

class LinkLife {
public:
    enum class Verdict {
        Dispatch,     // an event is what it says
        Ignore,       // nobody wants to know
        Destroy,      // it is not believed, but it may be destroyed now
        Fault,        // the contract was broken, as the event says
        GiveUp,       // a limit of this link is reached
        AfterClosed,  // the contract was broken: it had closed
        Closed,       // it has closed
    };

    void begin() { alive_ = true; }
    // From being made to destroy, and as long as its end was not told.
    bool usable() const { return alive_ && !ended_; }
    bool alive() const { return alive_; }
    bool closing() const { return closing_; }
    bool abandoned() const { return abandoned_; }

    Verdict on(EventKind kind) {
        if (kind < EventKind::Closed && !distrusted_ && !closed_ && !abandoned_)
            return Verdict::Dispatch;
        return judge(kind);
    }

    // True: the plugin is to close now. Once.
    bool close() { return usable() && !std::exchange(closing_, true); }
    // Nothing is believed any more. True: the plugin is to close now; it runs threads and calls of its own until
    // it has stopped.
    bool distrust() {
        distrusted_ = true;
        return alive_ && !std::exchange(closing_, true);
    }
    // True: destroy what was made. Once.
    bool destroy() { return std::exchange(alive_, false); }
    void abandon() { abandoned_ = true; }
    // True: the owner is to be told of the end. Once, and nobody where nobody listens.
    bool end() { return !std::exchange(ended_, true) && !abandoned_; }

private:
    [[gnu::cold]] Verdict judge(EventKind kind) {
        const bool closes = kind == EventKind::Closed;
        if (distrusted_) return closes ? Verdict::Destroy : Verdict::Ignore;
        if (kind == EventKind::Fault) return Verdict::Fault;
        if (kind == EventKind::Spent) return Verdict::GiveUp;
        if (closed_) return Verdict::AfterClosed;
        if (!closes) return Verdict::Ignore;
        closed_ = true;
        return Verdict::Closed;
    }

    bool alive_ = false, closing_ = false, closed_ = false;
    bool ended_ = false, distrusted_ = false, abandoned_ = false;
};

}  // namespace patchbay::plugin
