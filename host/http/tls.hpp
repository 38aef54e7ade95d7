// TLS of a server: who it is, by a certificate and a key in PEM files, and the streams that it speaks
// over. TLS 1.2 or newer, HTTP/1.1, no client certificates. The door to libssl.
//
// Threads: open() is [any], blocks for the disk; an Identity is used on the loop.
// Errors:  Invalid and Io with the file: it cannot be read, holds no certificate or no key without a
//          password, the two are no pair, or the key can be read by everybody.
// Source:  RFC 8446, RFC 7301.
#pragma once

#include "core/result.hpp"
#include "http/byte_stream.hpp"

#include <memory>
#include <string>

namespace patchbay::http {

struct TlsFiles {
    std::string certificate;  // behind it those up to its authority
    std::string key;          // the same file may hold both
};

class TlsIdentity {
public:
    static Result<std::shared_ptr<TlsIdentity>> open(const TlsFiles& files);
    ~TlsIdentity();
    TlsIdentity(const TlsIdentity&) = delete;

    std::unique_ptr<ByteStream> stream_of(core::Descriptor socket) const;
    // Its certificate does not count any more, or not yet.
    bool out_of_date() const;

private:
    struct Context;
    explicit TlsIdentity(std::unique_ptr<Context> context);
    const std::unique_ptr<Context> context_;
};

}  // namespace patchbay::http
