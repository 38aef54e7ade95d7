// TLS of a server: who it is, by a certificate and a key in PEM files, and the streams that it speaks
// over. What it speaks is that of crypto/library.hpp.
//
// Threads: open() is [any], blocks for the disk; an Identity is used on the loop.
// Errors:  Invalid and Io with the file: it cannot be read, holds no certificate or no key without a
//          password, the two are no pair, or the key can be read by everybody. Unavailable where
//          the library of TLS is not there.
#pragma once

#include "core/result.hpp"
#include "crypto/library.hpp"
#include "http/byte_stream.hpp"

#include <memory>
#include <string>
#include <utility>

namespace patchbay::http {

struct TlsFiles {
    std::string certificate;  // behind it those up to its authority
    std::string key;          // the same file may hold both
};

class TlsIdentity {
public:
    static Result<std::shared_ptr<TlsIdentity>> open(const TlsFiles& files);

    std::unique_ptr<ByteStream> stream_of(core::Descriptor socket) const;
    // Its certificate does not count any more, or not yet.
    bool out_of_date() const { return server_->out_of_date(); }

private:
    explicit TlsIdentity(std::unique_ptr<crypto::TlsServer> server) : server_(std::move(server)) {}
    const std::unique_ptr<crypto::TlsServer> server_;
};

}  // namespace patchbay::http
