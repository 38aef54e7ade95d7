#include "http/tls.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace patchbay::http {

namespace {

class TlsStream final : public ByteStream {
public:
    TlsStream(const crypto::TlsServer& server, core::Descriptor socket)
        : socket_(std::move(socket)), session_(server.session_over(fd())) {}

    int fd() const override { return socket_.get(); }
    std::optional<std::size_t> read(char* into, std::size_t size) override {
        return session_->read(into, size);
    }
    // One record for all that fits: a head and a short body are not worth two.
    std::optional<std::size_t> write(Pieces pieces) override {
        std::string_view bytes = pieces.front();
        std::array<char, kPiece> gathered;
        if (pieces.size() > 1 && bytes.size() < kPiece) {
            std::size_t size = 0;
            for (const auto& each : pieces)
                size += each.copy(gathered.data() + size, gathered.size() - size);
            bytes = {gathered.data(), size};
        }
        return session_->write(bytes);
    }
    bool reads_by_writing() const override { return session_->reads_by_writing(); }
    bool ready() const override { return session_->ready(); }
    void end() override {
        session_->end();
        ::shutdown(fd(), SHUT_WR);
    }

private:
    const core::Descriptor socket_;
    const std::unique_ptr<crypto::TlsSession> session_;  // goes first
};

Error with_file(const char* what, const std::string& path, const std::string& why) {
    return {ErrorCode::Invalid, std::string(what) + " \"" + path + "\" " + why};
}

Result<void> check_readable(const char* what, const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || ::access(path.c_str(), R_OK) != 0)
        return with_file(what, path, std::string("cannot be read: ") + std::strerror(errno));
    if (!S_ISREG(info.st_mode)) return with_file(what, path, "is no file");
    return {};
}

Result<void> check_private(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 0007) != 0)
        return with_file("the key", path, "can be read by everybody; chmod o= it");
    return {};
}

constexpr const char* kCertificate = "-----BEGIN CERTIFICATE-----";

// PEM is text; whoever has more than that ahead of it is not helped.
bool says(const std::string& path, std::string_view words) {
    constexpr std::size_t kMost = 64u << 10;
    std::string text(kMost, '\0');
    const core::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto got = ::read(file.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text.find(words) != std::string::npos;
}

}  // namespace

Result<std::shared_ptr<TlsIdentity>> TlsIdentity::open(const TlsFiles& files) {
    if (auto fine = check_readable("the certificate", files.certificate); !fine)
        return fine.error();
    if (auto fine = check_readable("the key", files.key); !fine) return fine.error();
    if (auto fine = check_private(files.key); !fine) return fine.error();
    if (says(files.certificate, "PRIVATE KEY-----") && !says(files.certificate, kCertificate) &&
        says(files.key, kCertificate))
        return Error{ErrorCode::Invalid, "the two files are swapped: \"" + files.certificate +
                                             "\" holds a private key, and \"" + files.key +
                                             "\" a certificate"};
    const auto library = crypto::library();
    if (!library) return library.error();
    auto server = (*library)->tls_server(files.certificate, files.key);
    if (!server) return server.error();
    return std::shared_ptr<TlsIdentity>(new TlsIdentity(std::move(*server)));
}

std::unique_ptr<ByteStream> TlsIdentity::stream_of(core::Descriptor socket) const {
    return std::make_unique<TlsStream>(*server_, std::move(socket));
}

}  // namespace patchbay::http
