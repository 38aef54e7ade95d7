// The host side of what a plugin has made for us, a channel or an authenticator. Its events are
// queued on whatever thread they come, and delivered by the loop; all judgement of the contract
// (LinkLife) happens at delivery. What only one of the two knows is in who derives from it.
//
// Owned by: its Channel or Authenticator, and while a delivery is scheduled by itself.
// Threads: [loop], except where it says [any].
// Limits:  those it is made with. What goes beyond ends this link alone.
#pragma once

#include "core/secrets.hpp"
#include "plugin/abi.hpp"
#include "plugin/authenticator.hpp"
#include "plugin/links/event_queue.hpp"
#include "plugin/links/instance.hpp"
#include "plugin/links/link_life.hpp"
#include "plugin/signer.hpp"
#include "plugin/slow_call.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugin {

class Link : public Recipient {
public:
    // `kind`: "channel". `where` begins what is told of it; `signer` may be null.
    Link(core::Loop& loop, Instance& instance, const char* kind, std::string server,
         std::string where, EventQueue::Limits limits, std::shared_ptr<Signer> signer);
    Link(const Link&) = delete;

    // ---- [any]: told by the plugin

    EventQueue& events() { return queue_; }
    patchbay_status queue_fault(std::string what);
    // An event could not be taken in: without it the rest makes no sense.
    patchbay_status lose_event();

    // ---- asked by whoever owns it

    // May the plugin be asked for something?
    bool usable() const { return life_.usable(); }
    bool closing() const { return life_.closing(); }
    void close();  // twice is harmless
    // Nobody listens any more. What has not closed is left to itself, for good.
    void abandon();

    void pause() { queue_.pause(); }
    void resume();
    void unfold(std::vector<core::Buffer> messages) { queue_.unfold(std::move(messages)); }

    // Calls a slot of the plugin; false: it threw, which is queued as a fault.
    template <class Work>
    bool call(const char* slot, Work&& work) {
        std::string thrown;
        if (call_plugin(instance.plugin(), slot, server.c_str(), thrown, std::forward<Work>(work)))
            return true;
        queue_fault(std::string(slot) + " threw: " + thrown);
        return false;
    }

    core::Loop& loop;
    Instance& instance;
    const std::string server;
    const std::shared_ptr<Signer> signer;
    core::Secrets secrets;  // the credentials that went through it, the former ones too [any]

protected:
    // An event of a link that is open, to somebody who listens; never Closed, Fault or Spent.
    virtual void dispatch(LinkEvent& event) = 0;
    // What the plugin owes at its end: "2 exchanges were not done". Empty: nothing.
    virtual std::string unfinished() const = 0;
    // The last events, exactly one of the two: closed in order, or ended by the host.
    virtual void on_closed(const Problem* problem) = 0;
    virtual void on_given_up(Error why) = 0;
    virtual void close_made() = 0;
    virtual void destroy_made() = 0;
    // Messages that were answered PAUSE may come again.
    virtual void resume_made() {}

    void fault(const std::string& what);

    // Begins to own what the plugin has made, if `status` and `made` say so. What makes no sense
    // (`thrown` too) is noted and is the error; any other refusal is the value, and its caller's
    // to tell. In both cases the link is abandoned.
    Result<patchbay_status> take_over(const char* slot, const std::string& who,
                                      patchbay_status status, const std::string* thrown, bool made);

private:
    void deliver() final;
    std::size_t deliver_next();
    void end_round();
    void obey(LinkLife::Verdict verdict,
              const LinkEvent& event);  // which is another one than Dispatch
    void end_in_order(const LinkEvent& event);

    // Ends this link alone: nothing of it is heard any more, and the plugin is to close.
    void give_up(ErrorCode code, const std::string& why);
    // Whoever hears the events threw: a bug of the host that one server has brought to light.
    [[gnu::cold]] void failed_at(EventKind kind, const char* what);
    void destroy();

    const char* const kind_;
    const std::string where_;
    LinkLife life_;
    EventQueue queue_;
};

// A link to something that the plugin makes, closes and destroys by slots of `Table`.
template <class Table, class Made>
class LinkTo : public Link {
public:
    template <class... Args>
    explicit LinkTo(const Table& its_table, Args&&... args)
        : Link(std::forward<Args>(args)...), table(its_table) {}

    // Calls `slot` by `work(&made)`; the rest as take_over() says.
    template <class Work>
    Result<patchbay_status> make(const char* slot, const std::string& who, Work&& work) {
        patchbay_status status = PATCHBAY_E_INTERNAL;
        std::string thrown;
        const bool fine = call_plugin(instance.plugin(), slot, server.c_str(), thrown,
                                      [&] { status = work(&made); });
        return take_over(slot, who, status, fine ? nullptr : &thrown, made != nullptr);
    }

    const Table& table;
    Made* made = nullptr;  // the plugin's; good while the link is usable

protected:
    void close_made() final {
        call("close", [this] { table.close(made); });
    }
    void destroy_made() override {
        call("destroy", [this] { table.destroy(made); });
    }
};

// The body of what a plugin calls to tell an event: what it throws loses the event, and with it
// the link. [any]
template <class Body>
patchbay_status heard(Link* link, Body&& body) noexcept {
    try {
        return body();
    } catch (...) {
        thrown_at_entry("an event");
        void_entry("an event", [&] { link->lose_event(); });
        return PATCHBAY_OK;
    }
}

}  // namespace patchbay::plugin
