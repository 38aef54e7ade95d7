// TLS by files that somebody renews while the server runs: connections that come from then on get
// the new certificate, those that there are go on.
//
// Owns:    a thread that looks at the files. Borrows the loop.
// Threads: [loop].
// Errors:  files that are no pair (yet) change nothing; the log says so once for each state of them.
#pragma once

#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "core/worker.hpp"
#include "http/tls.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace patchbay::http {

class TlsWatch final : public Streams {
public:
    static constexpr std::chrono::seconds kLook{5};

    // Blocks for the disk.
    static Result<std::unique_ptr<TlsWatch>> open(core::Loop& loop, TlsFiles files);

    std::unique_ptr<ByteStream> stream_of(core::Descriptor socket) override {
        return identity_->stream_of(std::move(socket));
    }

private:
    struct Found {
        std::string edition;
        std::optional<Result<std::shared_ptr<TlsIdentity>>> identity;  // none: as it was
    };
    TlsWatch(core::Loop& loop, TlsFiles files);
    static Found look(const TlsFiles& files, const std::string& known);
    void look_later();

    const TlsFiles files_;
    std::string edition_;
    std::shared_ptr<TlsIdentity> identity_;
    core::Timer next_;
    core::Worker worker_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::http
