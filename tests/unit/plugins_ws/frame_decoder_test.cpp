// Frames of a WebSocket server: what they mean, however their bytes are cut.
#include "frame_decoder.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace patchbay::ws {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

constexpr std::size_t kMost = 1000;

std::string frame(unsigned char first, const std::string& payload) {
    std::string bytes{static_cast<char>(first)};
    if (payload.size() < 126) return bytes += static_cast<char>(payload.size()), bytes + payload;
    bytes += '\x7e';
    bytes += static_cast<char>(payload.size() >> 8);
    return bytes += static_cast<char>(payload.size()), bytes + payload;
}

// What the pieces mean, one after the other: "text ...", "ping ...", "close CODE ...", "fault CODE ..."
// and what they leave open.
std::string read(const std::vector<std::string_view>& pieces) {
    FrameDecoder decoder(kMost);
    std::string told;
    auto frames = SIZE_MAX;
    try {
        for (auto piece : pieces) {
            while (const auto received = decoder.next(piece, frames)) {
                if (received->kind == Opcode::Text) told += "text ";
                if (received->kind == Opcode::Ping) told += "ping ";
                if (received->kind == Opcode::Close)
                    told += "close " + std::to_string(received->close_code) + " ";
                told += received->payload + "\n";
            }
            EXPECT_TRUE(piece.empty());
        }
    } catch (const FrameFault& fault) {
        return told + "fault " + std::to_string(fault.close_code) + " " + fault.text;
    }
    if (decoder.open_frame() != 0)
        told += "in frame " + std::to_string(decoder.open_frame());
    else if (decoder.unfinished())
        told += "in a message";
    return told;
}

struct Case {
    std::string bytes, means;
};

const Case kCases[] = {
    {"", ""},
    {frame(0x81, "{}"), "text {}\n"},
    {frame(0x81, "{}") + frame(0x81, "[]"), "text {}\ntext []\n"},
    {frame(0x81, std::string(126, 'x')), "text " + std::string(126, 'x') + "\n"},
    {frame(0x81, std::string(kMost, 'x')), "text " + std::string(kMost, 'x') + "\n"},
    {frame(0x01, "{") + frame(0x00, "") + frame(0x89, "hi") + frame(0x80, "}"),
     "ping hi\ntext {}\n"},
    {frame(0x01, "\xc3") + frame(0x80, "\xa9"), "text \xc3\xa9\n"},
    {frame(0x81, "") + frame(0x8a, "nobody asked") + frame(0x81, "[]"), "text []\n"},
    {frame(0x89, ""), "ping \n"},
    {frame(0x88, ""), "close 0 \n"},
    {frame(0x88,
           "\x03\xe8"
           "bye"),
     "close 1000 bye\n"},
    {"\x81"s, "in frame 1"},
    {frame(0x81, "{}") + "\x81\x05{", "text {}\nin frame 2"},
    {"\x81\x7e\x01"s, "in frame 1"},
    {frame(0x01, "{"), "in a message"},
    {frame(0x01, "{") + frame(0x89, "x"), "ping x\nin a message"},
    {"\x81\x7e\0\x02{}"s,
     "fault 1002 the server sent a frame whose length is written in more bytes than it needs"},
    {"\x81\x7f\0\0\0\0\0\0\x01\0"s,
     "fault 1002 the server sent a frame whose length is written in more bytes than it needs"},
    {"\x81\x80"s, "fault 1002 the server sent a masked frame"},
    {"\xc1\x02{}"s, "fault 1002 the server sent a frame of an extension that was not agreed on"},
    {"\x83\x02{}"s, "fault 1002 the server sent a frame of a kind that does not exist"},
    {"\x8f\x02{}"s, "fault 1002 the server sent a frame of a kind that does not exist"},
    {"\x82\x02{}"s, "fault 1003 the server sent a message that is not text"},
    {"\x09\x01x"s, "fault 1002 the server sent a broken control frame"},
    {"\x89\x7e\0\x7e"s, "fault 1002 the server sent a broken control frame"},
    {frame(0x80, "x"), "fault 1002 the server sent the rest of a message that never began"},
    {frame(0x01, "{") + frame(0x81, "}"),
     "fault 1002 the server sent a new message inside another one"},
    {frame(0x81, "{}") + frame(0x81, "\xff"),
     "text {}\nfault 1007 the server sent a text message that is not UTF-8"},
    {frame(0x88, "x"), "fault 1002 the server sent a close frame without a valid code"},
    {frame(0x88, "\x03\xe8\xff"),
     "fault 1007 the server sent a close frame whose reason is not UTF-8"},
    // Judged before any of their payload has come.
    {"\x81\x7e\x03\xe9"s,
     "fault 1009 the server sent a frame that is too large (limit message_bytes)"},
    {"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff"s,
     "fault 1009 the server sent a frame that is too large (limit message_bytes)"},
    {frame(0x01, std::string(kMost - 1, 'x')) + "\x80\x02"s,
     "fault 1009 the server sent a message of more than 1000 bytes (limit message_bytes)"},
};

TEST(FrameDecoder, ReadsWhatServersSayAndNamesWhatTheyMayNot) {
    for (const auto& each : kCases) EXPECT_EQ(read({each.bytes}), each.means);
}

TEST(FrameDecoder, ReadsTheSameWhereverTheBytesAreCut) {
    for (const auto& each : kCases) {
        const std::string_view bytes = each.bytes;
        std::vector<std::string_view> singly;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            EXPECT_EQ(read({bytes.substr(0, i), bytes.substr(i)}), each.means) << i;
            singly.push_back(bytes.substr(i, 1));
        }
        EXPECT_EQ(read(singly), each.means);
    }
}

TEST(FrameDecoder, StopsBehindEachMessageSoThatTheRestMayWait) {
    FrameDecoder decoder(kMost);
    const auto bytes = frame(0x81, "[1]") + frame(0x89, "") + frame(0x81, "[2]");
    std::string_view rest = bytes;
    auto frames = SIZE_MAX;
    EXPECT_EQ(decoder.next(rest, frames)->payload, "[1]");
    EXPECT_EQ(rest, frame(0x89, "") + frame(0x81, "[2]"));
    EXPECT_EQ(decoder.next(rest, frames)->kind, Opcode::Ping);
    EXPECT_EQ(decoder.next(rest, frames)->payload, "[2]");
    EXPECT_EQ(rest, "");
}

TEST(FrameDecoder, StopsBehindSoManyFramesWhateverTheyHold) {
    for (const auto& small : {frame(0x8a, ""), frame(0x8a, "no"), frame(0x81, ""), frame(0x00, ""),
                              frame(0x00, "x"), frame(0x89, "hi")}) {
        FrameDecoder decoder(kMost);
        std::string bytes = frame(0x01, "x");
        if (small[0] == '\x81') bytes.clear();
        const auto first = bytes.size();
        for (int i = 0; i < 10; ++i) bytes += small;
        std::string_view rest = bytes;
        std::size_t frames = first > 0 ? 4 : 3;
        while (frames > 0) {
            const bool told = decoder.next(rest, frames).has_value();
            EXPECT_EQ(told, small[0] == '\x89') << "only pings are told of";
        }
        EXPECT_EQ(rest.size(), 7 * small.size());
        EXPECT_FALSE(decoder.next(rest, frames)) << "no more of them";
        EXPECT_EQ(rest.size(), 7 * small.size());
    }
}

TEST(FrameDecoder, MakesRoomForWhatHasComeAndNotForWhatIsAnnounced) {
    FrameDecoder decoder(SIZE_MAX);
    std::string_view bytes("\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff{", 11);
    auto frames = SIZE_MAX;
    EXPECT_FALSE(decoder.next(bytes, frames)) << "nothing of it could be allocated";
    EXPECT_EQ(decoder.open_frame(), 1u);
}

}  // namespace
}  // namespace patchbay::ws
