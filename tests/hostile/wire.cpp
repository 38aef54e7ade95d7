#include "hostile/wire.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace patchbay::hostile::wire {

std::string head(const std::string& status, const std::vector<std::string>& fields) {
    std::string text = "HTTP/1.1 " + status + "\r\n";
    for (const auto& field : fields) text += field + "\r\n";
    return text + "Content-Length: 0\r\n\r\n";
}

std::string whole(const std::string& status, const std::string& type, const std::string& body,
                  const std::string& more) {
    return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\n" + more +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string chunk(const std::string& bytes) {
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return size + bytes + "\r\n";
}

// One block of fixed Huffman codes (RFC 1951, 3.2.6): the text, then "258 bytes from its length
// before" over and over. The checksum at the end is wrong; who reads that far has failed already.
std::string gzip_bomb(std::size_t bytes, std::string_view text) {
    std::string member("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    std::uint32_t bits = 0;
    unsigned held = 0;
    const auto put = [&](std::uint32_t value, unsigned count, bool huffman) {
        for (unsigned i = 0; i < count; ++i) {
            const auto bit = value >> (huffman ? count - 1 - i : i) & 1u;
            bits |= bit << held;
            if (++held < 8) continue;
            member += static_cast<char>(bits);
            bits = held = 0;
        }
    };
    put(1, 1, false);  // the last block
    put(1, 2, false);  // fixed codes
    for (const char literal : text) put(0x30u + static_cast<unsigned char>(literal), 8, true);
    // A distance of more than 4 has a code for each half of a power of two, and the rest in bits.
    const auto before = static_cast<std::uint32_t>(text.size()) - 1;
    unsigned extra = 0;
    while (before >> (extra + 2)) ++extra;
    for (std::size_t made = 0; made < bytes; made += 258) {
        put(0xc5, 8, true);  // length 258
        put(2 * extra + (before >> extra), 5, true);
        put(before & ((1u << extra) - 1), extra, false);
    }
    put(0, 7, true);  // the end of the block
    put(0, 7, false);
    return member + std::string(8, '\0');
}

std::string ws_head(unsigned char opcode, std::size_t size, bool last) {
    std::string bytes(1, static_cast<char>((last ? 0x80 : 0) | opcode));
    const auto number = [&](int count) {
        for (int i = count - 1; i >= 0; --i)
            bytes += static_cast<char>(static_cast<std::uint64_t>(size) >> (8 * i) & 0xff);
    };
    if (size < 126) {
        number(1);
    } else if (size < 65'536) {
        bytes += static_cast<char>(126);
        number(2);
    } else {
        bytes += static_cast<char>(127);
        number(8);
    }
    return bytes;
}

std::string ws_frame(unsigned char opcode, std::string_view payload, bool last) {
    return ws_head(opcode, payload.size(), last).append(payload);
}

std::string masked_ws_frame(unsigned char opcode, std::string_view payload) {
    auto bytes = ws_head(opcode, payload.size());
    bytes[1] = static_cast<char>(bytes[1] | 0x80);
    const std::array<char, 4> mask{1, 2, 3, 4};
    bytes.append(mask.data(), mask.size());
    for (std::size_t i = 0; i < payload.size(); ++i)
        bytes += static_cast<char>(payload[i] ^ mask[i % 4]);
    return bytes;
}

namespace {

// FIPS 180-4. Here and not a library's, since this is linked into a static program as well.
std::array<std::uint8_t, 20> sha1(std::string text) {
    const std::uint64_t size = text.size() * 8;
    text += static_cast<char>(0x80);
    while (text.size() % 64 != 56) text += '\0';
    for (int i = 7; i >= 0; --i) text += static_cast<char>(size >> (8 * i) & 0xff);
    const auto roll = [](std::uint32_t value, int by) { return value << by | value >> (32 - by); };
    std::array<std::uint32_t, 5> h{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (std::size_t block = 0; block < text.size(); block += 64) {
        std::array<std::uint32_t, 80> w{};
        for (std::size_t i = 0; i < 64; ++i)
            w[i / 4] = w[i / 4] << 8 | static_cast<std::uint8_t>(text[block + i]);
        for (std::size_t i = 16; i < 80; ++i)
            w[i] = roll(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        auto [a, b, c, d, e] = h;
        for (std::size_t i = 0; i < 80; ++i) {
            const auto f = i < 20   ? (b & c) | (~b & d)
                           : i < 40 ? b ^ c ^ d
                           : i < 60 ? (b & c) | (b & d) | (c & d)
                                    : b ^ c ^ d;
            constexpr std::uint32_t kRounds[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
            const auto next = roll(a, 5) + f + e + kRounds[i / 20] + w[i];
            e = d;
            d = c;
            c = roll(b, 30);
            b = a;
            a = next;
        }
        h[0] += a;
        h[1] += b;
        h[2] += c;
        h[3] += d;
        h[4] += e;
    }
    std::array<std::uint8_t, 20> digest{};
    for (std::size_t i = 0; i < 20; ++i)
        digest[i] = static_cast<std::uint8_t>(h[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
    return digest;
}

}  // namespace

std::string ws_accept(const std::string& key) {
    const auto digest = sha1(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    constexpr const char* kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < digest.size(); i += 3) {
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 3; ++j)
            bits = bits << 8 | (i + j < digest.size() ? digest[i + j] : 0u);
        for (int j = 3; j >= 0; --j) text += kAlphabet[bits >> (6 * j) & 63u];
    }
    text.back() = '=';  // 20 bytes are 27 digits
    return text;
}

}  // namespace patchbay::hostile::wire
