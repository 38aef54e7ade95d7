// The server's half of a WebSocket handshake.
#pragma once

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <string>

namespace patchbay::test {

// The answer to the request `head`; in `fields` "ACCEPT" stands for what its key asks for.
inline std::string ws_answer(const std::string& head, const std::string& fields,
                             const std::string& status = "101 Switching") {
    auto answer = "HTTP/1.1 " + status + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
                  fields + "\r\n";
    const std::string name = "Sec-WebSocket-Key: ";
    const auto at = head.find(name), place = answer.find("ACCEPT");
    if (at == head.npos || place == answer.npos) return answer;
    const auto from = at + name.size();
    const auto text =
        head.substr(from, head.find('\r', from) - from) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char digest[SHA_DIGEST_LENGTH];
    ::SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
    unsigned char encoded[64];
    const int size = ::EVP_EncodeBlock(encoded, digest, sizeof digest);
    return answer.replace(place, 6, reinterpret_cast<char*>(encoded),
                          static_cast<std::size_t>(size));
}

}  // namespace patchbay::test
