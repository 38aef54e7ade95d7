// Takes what one channel after the other reports: that it is open, messages (which Inbound reads),
// ends of exchanges, challenges, its end; and keeps what the server shows beside MCP.
//
// Owns:    what was written and said of the server since the last opening. Borrows all else.
// Threads: [loop].
#pragma once

#include "connection/inbound.hpp"
#include "connection/server_output.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::connection {

class ReceptionOwner {
public:
    virtual void on_heard() = 0;  // a message came, and counts
    virtual void on_malformed(const Error& error) = 0;
    virtual void on_channel_closed(const plugin::Problem* problem) = 0;

protected:
    ~ReceptionOwner() = default;
};

class Reception final : public plugin::ChannelEvents, private InboundOwner {
public:
    struct Parts {
        const ServerName& name;
        Link& link;
        Requests& requests;
        ServerQuestions& questions;
        Notifications& notifications;
        Addressees& addressees;
        ToolList& tools;
        Greeting& greeting;
        Refusals& refusals;
        ReceptionOwner& owner;
        Loss& loss;
    };
    Reception(const Context& context, const Parts& parts);

    // A channel is about to be opened.
    void begin();
    void process_gone() { facts_.erase("pid"); }
    // "pid", "peer", "trouble"
    const std::map<std::string, std::string>& facts() const { return facts_; }
    bool has_process() const { return facts_.count("pid") > 0; }
    // Why the channel is not open yet; null: it is not known to be late.
    const std::string* trouble() const;
    // `text` with what the server wrote.
    std::string with_stderr(std::string text) const { return output_.with_stderr(std::move(text)); }
    std::string with_last_words(
        std::string text) const;  // of a program: that, and where its log is
    bool has_strays() const { return output_.has_strays(); }
    std::string with_output(std::string text) const;
    void count(Status& status) const;

    void on_opened() override { parts_.greeting.start(); }
    void on_message(plugin::ExchangeId exchange, core::Buffer body) override;
    void on_done(plugin::ExchangeId exchange, const plugin::Problem* problem) override;
    void on_writable() override { parts_.requests.delivery().writable(); }
    void on_challenge(const plugin::Problem& problem) override;
    void on_output(unsigned stream, std::string_view line) override;
    void on_fact(std::string_view fact, std::string_view value) override;
    void on_closed(const plugin::Problem* problem) override;

private:
    std::optional<std::int64_t> process() const;
    void on_stray(std::string_view line) override;
    void on_malformed(const Error& error) override { parts_.owner.on_malformed(error); }

    const Context& context_;
    const Parts parts_;
    Inbound inbound_;
    ServerOutput output_;
    std::map<std::string, std::string> facts_;
    std::uint64_t strays_ = 0;  // over all channels
};

}  // namespace patchbay::connection
