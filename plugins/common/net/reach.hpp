// How far an address reaches: what an answer of a stranger may make us connect to depends on it.
//
// Threads: [value].
// Source:  RFC 1918, RFC 3056, RFC 3927, RFC 4193, RFC 4291, RFC 4380, RFC 6052, RFC 6598, RFC
// 8215.
#pragma once

#include <Poco/Net/IPAddress.h>

namespace patchbay::net {

enum class Reach {
    Public,
    Private,    // 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7, fec0::/10
    Loopback,   // 127/8, ::1
    LinkLocal,  // 169.254/16, fe80::/10
    Special,    // unspecified, multicast, broadcast
};

// An IPv4 address inside an IPv6 one (::ffff:a.b.c.d, ::a.b.c.d, 64:ff9b::a.b.c.d, 64:ff9b:1::/48,
// 2002:ab:cd::, both of Teredo's in 2001::/32) is judged as such.
Reach reach_of(const Poco::Net::IPAddress& address);
const char* name_of(Reach reach);  // "a private address"

}  // namespace patchbay::net
