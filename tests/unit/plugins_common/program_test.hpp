// A program whose pipes the test holds the other ends of: the test says what it writes and when it
// goes, with a host that is turned by hand.
#pragma once

#include "unit/plugins_common/scripted_host.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace patchbay::test {

class ProgramTest : public testing::Test {
protected:
    ~ProgramTest() override { close_ends(); }

    // Fresh pipes, for the program that is started next.
    void open_ends() {
        close_ends();
        int in[2], out[2], err[2];
        for (int* ends : {in, out, err})
            if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
        host_.child_fds[0] = in[1];
        host_.child_fds[1] = out[0];
        host_.child_fds[2] = err[0];
        input_ = in[0];
        output_ = out[1];
        errors_ = err[1];
    }
    void close_ends() {
        for (int* fd : {&input_, &output_, &errors_})
            if (*fd >= 0) ::close(std::exchange(*fd, -1));
    }
    static void write(int fd, const std::string& text) {
        ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    // It is gone, and so is the last of its tree.
    void exit(std::int32_t code) {
        host_.child.exited(host_.child.ctx, code);
        host_.run_posted();
    }

    ScriptedHost host_;
    int input_ = -1, output_ = -1, errors_ = -1;
};

}  // namespace patchbay::test
