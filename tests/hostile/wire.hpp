// Bytes of HTTP, gzip and WebSocket, good and bad, without any library that would refuse to write them.
//
// Threads: [value].
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::hostile::wire {

// A head without a body, and one with it.
std::string head(const std::string& status, const std::vector<std::string>& fields);
std::string whole(const std::string& status, const std::string& type, const std::string& body,
                  const std::string& more = {});
std::string chunk(const std::string& bytes);

// A gzip member of about `bytes` of `text` over and over, made without making them: 160 to 1.
std::string gzip_bomb(std::size_t bytes, std::string_view text = "x");

inline constexpr unsigned char kWsText = 1, kWsBinary = 2, kWsClose = 8, kWsPing = 9, kWsPong = 10;
std::string ws_head(unsigned char opcode, std::size_t size, bool last = true);
std::string ws_frame(unsigned char opcode, std::string_view payload, bool last = true);
std::string masked_ws_frame(unsigned char opcode, std::string_view payload);
// The value of Sec-WebSocket-Accept for this key.
std::string ws_accept(const std::string& key);

}  // namespace patchbay::hostile::wire
