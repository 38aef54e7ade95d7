// From the session that a handshake has agreed on to its end: what each session is told, its first
// list of tools, and what lives while the connection is ready.
//
//   no session --on_agreed--> listing --its tools are listed, or it has none, and it has answered what it was told of
//                                       the sandbox--> on_ready
//   on_ready   --begin_live--> live
//   live       --on_agreed: the server has settled on the other era after all--> live, listed anew
//   any        --end--> no session
//
// Owns:    what is live. Borrows all else, which must outlive it.
// Threads: [loop].
// Errors:  to the connection, by lose(): no handshake, or no answer to the first list.
// Source:  decision 11.
#pragma once

#include "connection/context.hpp"
#include "connection/health.hpp"
#include "connection/inside.hpp"
#include "connection/listen_stream.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace patchbay::connection {

class AgreementOwner {
public:
    // The session is of use now, and was not before.
    virtual void on_ready() = 0;

protected:
    ~AgreementOwner() = default;
};

class Agreement final : public GreetingOwner, public ToolListOwner {
public:
    struct Parts : Inside {
        AgreementOwner& owner;
    };
    Agreement(const Context& context, const Parts& parts) : context_(context), parts_(parts) {}

    void begin_live();
    void end();
    bool is_live() const { return live_.has_value(); }
    bool is_listening() const { return live_ && live_->listen.is_open(); }
    // Something came from the server; and what it is to tell the changes of is another. Both are for
    // what is live, and nothing where nothing is.
    void heard();
    void listen();
    // False: nobody is asked, since nothing is live, or its transport would tell.
    bool check(std::function<void()> answered);

    void on_agreed(protocol::Session session) override;
    void on_modern_for_good() override { parts_.dialogue.questions.clear(); }
    bool is_new_process() const override { return parts_.dialogue.reception.has_process(); }
    void on_handshake_refused(const std::string& method, const plugin::Problem* problem) override;
    void on_handshake_failed(Error error) override;

    bool mirrors_arguments() const override;
    void on_listed(std::shared_ptr<const catalogue::Listing> listing) override;
    void on_tools_changed(const Result<void>& outcome) override;
    void on_tools_read() override;
    bool on_list_unanswered(const Error& error) override;

private:
    struct Live {
        Live(const Context& context, Dialogue& dialogue, Loss& loss);
        ListenStream listen;
        std::optional<Health> health;
    };

    void ready_when_told();

    const Context& context_;
    const Parts parts_;
    std::optional<Live> live_;
};

}  // namespace patchbay::connection
