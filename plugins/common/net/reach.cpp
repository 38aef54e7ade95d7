#include "net/reach.hpp"

#include <cstdint>
#include <cstring>

namespace patchbay::net {
namespace {

bool within(const std::uint8_t* bytes, std::uint32_t network, unsigned bits) {
    std::uint32_t address = 0;
    for (int i = 0; i < 4; ++i) address = address << 8 | bytes[i];
    return (address ^ network) >> (32 - bits) == 0;
}

Reach of_four(const std::uint8_t* bytes) {
    if (within(bytes, 0x7f000000, 8)) return Reach::Loopback;
    if (within(bytes, 0xa9fe0000, 16)) return Reach::LinkLocal;
    if (within(bytes, 0x0a000000, 8) || within(bytes, 0xac100000, 12) ||
        within(bytes, 0xc0a80000, 16) || within(bytes, 0x64400000, 10))
        return Reach::Private;
    const bool special = within(bytes, 0, 8) || bytes[0] >= 224;
    return special ? Reach::Special : Reach::Public;
}

}  // namespace

Reach reach_of(const Poco::Net::IPAddress& address) {
    std::uint8_t bytes[16] = {};
    std::memcpy(bytes, address.addr(), address.length());
    if (address.family() == Poco::Net::IPAddress::IPv4) return of_four(bytes);
    constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    constexpr std::uint8_t kTranslated[12] = {0, 0x64, 0xff, 0x9b};
    constexpr std::uint8_t kTranslatedHere[12] = {0, 0x64, 0xff, 0x9b, 0, 1};
    constexpr std::uint8_t kCompatible[12] = {};
    if (address.isLoopback()) return Reach::Loopback;
    if (address.isWildcard()) return Reach::Special;
    for (const auto* prefix : {kMapped, kTranslated, kTranslatedHere, kCompatible})
        if (std::memcmp(bytes, prefix, 12) == 0) return of_four(bytes + 12);
    if (std::memcmp(bytes, kTranslatedHere, 6) == 0) {  // as in a /48: around the ninth byte
        const std::uint8_t four[4] = {bytes[6], bytes[7], bytes[9], bytes[10]};
        return of_four(four);
    }
    if (bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0 && bytes[3] == 0) {
        std::uint8_t client[4];
        for (int i = 0; i < 4; ++i) client[i] = bytes[12 + i] ^ 0xff;
        const auto reach = of_four(client);
        return reach == Reach::Public ? of_four(bytes + 4) : reach;
    }
    if (bytes[0] == 0x20 && bytes[1] == 0x02) return of_four(bytes + 2);
    if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) return Reach::LinkLocal;
    const bool site_local = bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0xc0;
    if (site_local || (bytes[0] & 0xfe) == 0xfc) return Reach::Private;
    return bytes[0] == 0xff ? Reach::Special : Reach::Public;
}

const char* name_of(Reach reach) {
    switch (reach) {
        case Reach::Public:
            return "a public address";
        case Reach::Private:
            return "a private address";
        case Reach::Loopback:
            return "an address of this machine";
        case Reach::LinkLocal:
            return "a link-local address";
        case Reach::Special:
            break;
    }
    return "an address that is nobody's";
}

}  // namespace patchbay::net
