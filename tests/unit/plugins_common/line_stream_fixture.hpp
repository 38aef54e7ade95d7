// Lines over two descriptors, with a host that is turned by hand and real descriptors.
#pragma once

#include "line_stream.hpp"
#include "unit/plugins_common/scripted_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace patchbay::transport {

using test::ScriptedHost;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Ends final : LineStream::Listener {
    std::vector<std::string> lines;
    bool throws = false;
    void input_ended(std::string_view rest) override {
        if (throws) throw std::runtime_error("oh");
        lines.push_back("ended " + std::string(rest));
    }
    void input_broken(patchbay_status code, const std::string& text) override {
        lines.push_back("broken " + std::to_string(code) + " " + text);
    }
    void output_broken(int error) override { lines.push_back("output " + std::to_string(error)); }
};

class LineStreamTest : public testing::Test {
protected:
    using Turn = ChannelCore::Turn;

    ~LineStreamTest() override {
        {
            const Turn turn(*core_);
            stream_->in.end();
            stream_->out.end();
        }
        host_.run_posted();
        stream_.reset();
        for (const int fd : {peer_in_, peer_out_})
            if (fd >= 0) ::close(fd);
    }
    // The peer writes to peer_out_ and reads from peer_in_.
    void start() {
        int to_us[2], from_us[2];
        ASSERT_EQ(::pipe2(to_us, O_CLOEXEC | O_NONBLOCK), 0);
        ASSERT_EQ(::pipe2(from_us, O_CLOEXEC | O_NONBLOCK), 0);
        peer_out_ = to_us[1];
        peer_in_ = from_us[0];
        start(to_us[0], from_us[1]);
    }
    void start(int reading, int writing) {
        core_.emplace(host_.params());
        stream_.emplace(*core_, listener_);
        reading_ = reading;
        writing_ = writing;
        const Turn turn(*core_);
        ASSERT_TRUE(stream_->start(reading, writing));
    }
    // Reads from a file that says `text`; the number of another descriptor of it.
    int start_with(const std::string& text) {
        const int file = ::memfd_create("said", MFD_CLOEXEC);
        EXPECT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        EXPECT_EQ(::lseek(file, 0, SEEK_SET), 0);
        int from_us[2];
        EXPECT_EQ(::pipe2(from_us, O_CLOEXEC | O_NONBLOCK), 0);
        peer_in_ = from_us[0];
        peer_out_ = ::dup(file);
        start(file, from_us[1]);
        return peer_out_;
    }
    void say(const std::string& text) {
        ASSERT_EQ(::write(peer_out_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    void hang_up() { ::close(std::exchange(peer_out_, -1)); }
    bool read() { return host_.ready(reading_, ChannelCore::kReadable); }
    void read_all() {
        for (int i = 0; i < 50 && read(); ++i) {
        }
    }
    patchbay_status send(std::uint64_t exchange, const std::string& text) {
        const Turn turn(*core_);
        const patchbay_buf lent{reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                text.size(), nullptr, nullptr};
        return stream_->out.send(exchange, sdk::Body(lent));
    }
    std::string heard() {
        std::string text(1u << 20, '\0');
        const auto got = ::read(peer_in_, text.data(), text.size());
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return text;
    }
    template <class Work>
    void in_turn(Work work) {
        const Turn turn(*core_);
        work(*stream_);
    }
    std::size_t messages() const {
        return static_cast<std::size_t>(
            std::count_if(host_.told.begin(), host_.told.end(),
                          [](const std::string& line) { return line.starts_with("message"); }));
    }

    ScriptedHost host_;
    Ends listener_;
    std::optional<ChannelCore> core_;
    std::optional<LineStream> stream_;
    int reading_ = -1, writing_ = -1, peer_in_ = -1, peer_out_ = -1;
};

}  // namespace patchbay::transport
