// One channel between a transport table and a listener that are both the test's own.
#pragma once

#include "plugin/links/open_channel.hpp"
#include "plugin/services/host_services.hpp"
#include "unit/plugin/channel_user.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace patchbay::plugin {

inline std::string text_of_headers(const patchbay_kv* headers, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += std::string(view(headers[i].name)) + ":" + std::string(view(headers[i].value)) +
                "/" + std::to_string(headers[i].flags) + " ";
    return text;
}

// The plugin's side: writes down how it is called, answers as it is told.
struct Transport {
    std::vector<std::string> calls;
    const patchbay_sink* sink = nullptr;
    patchbay_link* link = nullptr;
    std::uint64_t message_bytes = 0;
    std::uint64_t deadline_ns = 0;
    patchbay_status open_status = PATCHBAY_OK, send_status = PATCHBAY_OK;
    std::function<void()> during_open;
    const char* throws_in = "";
    patchbay_transport table{sizeof(patchbay_transport),
                             0,
                             "own",
                             "{}",
                             on_open,
                             on_send,
                             on_cancel,
                             on_resume,
                             nullptr,
                             nullptr,
                             on_close,
                             on_destroy};

    static Transport& of(patchbay_channel* channel) {
        return *reinterpret_cast<Transport*>(channel);
    }
    static Transport*& opening() {  // nothing in an open leads to us
        static Transport* one = nullptr;
        return one;
    }
    void called(const std::string& slot, const std::string& what = {}) {
        calls.push_back(what.empty() ? slot : slot + " " + what);
        if (slot == throws_in) throw std::runtime_error("no " + slot);
    }

    static patchbay_status on_open(const patchbay_open_params* params, patchbay_channel** out,
                                   patchbay_error* error) {
        auto& self = *opening();
        EXPECT_EQ(params->struct_size, sizeof *params);
        self.sink = params->sink;
        self.link = params->link;
        self.message_bytes = params->message_bytes;
        if (self.during_open) self.during_open();
        self.called("open", std::string(view(params->server)) + " " +
                                std::string(view(params->config)) + " " +
                                text_of_headers(params->credentials, params->credential_count));
        if (self.open_status != PATCHBAY_OK) fill(error, self.open_status, "not today");
        *out = reinterpret_cast<patchbay_channel*>(&self);
        return self.open_status;
    }
    static patchbay_status on_send(patchbay_channel* channel, const patchbay_message* message) {
        auto& self = of(channel);
        EXPECT_EQ(message->struct_size, sizeof *message);
        const std::string body(reinterpret_cast<const char*>(message->body.data),
                               message->body.size);
        if (message->body.release) message->body.release(message->body.owner);
        self.deadline_ns = message->deadline_ns;
        self.called("send", std::to_string(message->kind) + " " +
                                std::to_string(message->exchange) + " " + body + " " +
                                std::string(view(message->method)) + " " +
                                std::string(view(message->protocol)) + " " +
                                text_of_headers(message->headers, message->header_count));
        return self.send_status;
    }
    static void on_cancel(patchbay_channel* channel, std::uint64_t exchange) {
        of(channel).called("cancel", std::to_string(exchange));
    }
    static void on_resume(patchbay_channel* channel) { of(channel).called("resume"); }
    static void on_settle(patchbay_channel* channel, std::uint64_t exchange) {
        of(channel).called("settle", std::to_string(exchange));
    }
    static void on_set_credentials(patchbay_channel* channel, const patchbay_kv* credentials,
                                   std::size_t count) {
        of(channel).called("set_credentials", text_of_headers(credentials, count));
    }
    static void on_close(patchbay_channel* channel) { of(channel).called("close"); }
    static void on_destroy(patchbay_channel* channel) { of(channel).called("destroy"); }
};

class ChannelAlone : public ChannelUser {
protected:
    ~ChannelAlone() override {
        if (!channel_) return;
        channel_->close();
        transport_.sink->closed(transport_.link, nullptr);
        until([&] { return events_.closed; });
        channel_.reset();  // before what it was opened with
    }

    Result<std::unique_ptr<Channel>> try_open(ChannelOptions options = {}) {
        Transport::opening() = &transport_;
        options.server = "demo";
        return open_channel(loop_, services_, transport_.table, std::move(options), events_);
    }
    void open(ChannelOptions options = {}) {
        auto opened = try_open(std::move(options));
        ASSERT_TRUE(opened) << opened.error().message;
        channel_ = std::move(*opened);
        transport_.calls.clear();
    }
    static patchbay_problem problem(patchbay_status code, const char* text) {
        patchbay_problem made{};
        made.struct_size = sizeof made;
        fill(&made.error, code, text);
        return made;
    }
    patchbay_status say(std::uint64_t exchange, std::string_view body) {
        const patchbay_buf borrowed{reinterpret_cast<const std::uint8_t*>(body.data()), body.size(),
                                    body.size(), nullptr, nullptr};
        return transport_.sink->message(transport_.link, exchange, &borrowed);
    }

    HostServices services_{"test", {}};
    Transport transport_;
};

}  // namespace patchbay::plugin
