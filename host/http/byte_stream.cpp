#include "http/byte_stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace patchbay::http {

namespace {

constexpr std::size_t kPiecesAtOnce = 16;

class PlainStream final : public ByteStream {
public:
    explicit PlainStream(core::Descriptor socket) : socket_(std::move(socket)) {}

    int fd() const override { return socket_.get(); }
    std::optional<std::size_t> read(char* into, std::size_t size) override {
        const auto got = ::recv(fd(), into, size, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
        return got < 0 ? 0 : static_cast<std::size_t>(got);
    }
    std::optional<std::size_t> write(Pieces pieces) override {
        std::array<iovec, kPiecesAtOnce> vectors;
        const auto count = std::min(pieces.size(), vectors.size());
        for (std::size_t i = 0; i < count; ++i)
            vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
        msghdr message{};
        message.msg_iov = vectors.data();
        message.msg_iovlen = count;
        for (;;) {
            const auto sent = ::sendmsg(fd(), &message, MSG_NOSIGNAL);
            if (sent >= 0) return static_cast<std::size_t>(sent);
            if (errno == EAGAIN) return 0;
            if (errno != EINTR) return std::nullopt;
        }
    }
    void end() override { ::shutdown(fd(), SHUT_WR); }

private:
    const core::Descriptor socket_;
};

}  // namespace

std::unique_ptr<ByteStream> plain_stream(core::Descriptor socket) {
    return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace patchbay::http
