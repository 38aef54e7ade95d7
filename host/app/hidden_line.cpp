#include "app/hidden_line.hpp"

#include "core/descriptor.hpp"
#include "core/replace_file.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

namespace patchbay::app {

namespace {

constexpr std::size_t kSecretBytes = 4096;
constexpr char kEndOfText = 4, kInterrupt = 3, kKill = 21;  // Ctrl-D, -C, -U

// Signals that would end us wait for as long as it lives, and are delivered then.
class Patience {
public:
    Patience() {
        ::sigemptyset(&ending_);
        for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM})
            ::sigaddset(&ending_, each);
        ::pthread_sigmask(SIG_BLOCK, &ending_, &usual_);
        waiting_ = core::Descriptor(::signalfd(-1, &ending_, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    ~Patience() { ::pthread_sigmask(SIG_SETMASK, &usual_, nullptr); }
    Patience(const Patience&) = delete;
    int fd() const { return waiting_.get(); }  // readable: one waits

private:
    sigset_t ending_, usual_;
    core::Descriptor waiting_;
};

// Without echo, lines and signals of keys: a Ctrl-C that ended us would leave the terminal mute.
class Mute {
public:
    explicit Mute(int terminal) : terminal_(terminal) {
        if (::tcgetattr(terminal, &usual_) != 0) return;
        auto mute = usual_;
        mute.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ICANON | ISIG);
        mute.c_cc[VMIN] = 1;
        mute.c_cc[VTIME] = 0;
        set_ = ::tcsetattr(terminal, TCSAFLUSH, &mute) == 0;
    }
    ~Mute() {
        if (set_) ::tcsetattr(terminal_, TCSAFLUSH, &usual_);
    }
    Mute(const Mute&) = delete;
    explicit operator bool() const { return set_; }

private:
    const int terminal_;
    termios usual_{};
    bool set_ = false;
};

// A whole character of UTF-8.
void take_back_one(std::string& line) {
    while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0) == 0x80)
        line.pop_back();
    if (!line.empty()) line.pop_back();
}

Result<std::string> typed(int terminal, const Patience& patience) {
    std::string line;
    for (;;) {
        pollfd wanted[] = {{terminal, POLLIN, 0}, {patience.fd(), POLLIN, 0}};
        if (::poll(wanted, 2, -1) < 0 && errno == EINTR) continue;
        if (wanted[1].revents != 0) return Error{ErrorCode::Cancelled, "nothing was typed"};
        char letter = 0;
        const auto got = ::read(terminal, &letter, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || letter == kInterrupt || (letter == kEndOfText && line.empty()))
            return Error{ErrorCode::Cancelled, "nothing was typed"};
        if (letter == '\n' || letter == '\r' || letter == kEndOfText) return line;
        if (letter == '\b' || letter == 127)
            take_back_one(line);
        else if (letter == kKill)
            line.clear();
        else if (line.size() >= kSecretBytes)
            return Error{ErrorCode::Invalid, "more than 4096 bytes were typed, the limit"};
        else
            line += letter;
    }
}

}  // namespace

Result<std::string> hidden_line(std::string_view prompt) {
    const core::Descriptor terminal(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (terminal.get() < 0) return Error{ErrorCode::Unavailable, "there is no terminal to ask at"};
    const Patience patience;
    const Mute mute(terminal.get());
    if (!mute) return Error{ErrorCode::Unavailable, "the terminal cannot be kept from showing it"};
    core::write_whole(terminal.get(), prompt);
    auto line = typed(terminal.get(), patience);
    core::write_whole(terminal.get(), "\n");
    return line;
}

}  // namespace patchbay::app
