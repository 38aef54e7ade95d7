#include "net/reach.hpp"

#include <gtest/gtest.h>

namespace patchbay::net {
namespace {

Reach reach(const char* address) {
    return reach_of(Poco::Net::IPAddress(address));
}

TEST(Reach, KnowsWhoCanBeBehindAnAddress) {
    for (const char* each :
         {"93.184.216.34", "172.32.0.1", "100.128.0.1", "169.253.0.1", "2606:2800:220:1::1",
          "::ffff:93.184.216.34", "64:ff9b:1::93.184.216.34", "64:ff9b:1:5db8:d8:2200::",
          "2001:0:5db8:d822::a247:27dd", "2001:db8::1", "64:ff9c::10.0.0.1"})
        EXPECT_EQ(reach(each), Reach::Public) << each;
    // Beside those that are special.
    for (const char* each :
         {"1.0.0.0", "9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.0", "169.255.0.0",
          "172.15.255.255", "192.167.255.255", "192.169.0.0", "100.63.255.255", "223.255.255.255"})
        EXPECT_EQ(reach(each), Reach::Public) << each;
    for (const char* each :
         {"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "fd00::1",
          "10.255.255.255", "192.168.255.255", "100.127.255.255", "::ffff:10.0.0.1",
          "64:ff9b::10.0.0.1", "::10.0.0.1", "2002:a00:1::1", "fec0::1", "64:ff9b:1::10.0.0.1",
          "64:ff9b:1:a00:0:100::", "2001:0:5db8:d822::f5ff:fffe", "2001:0:a00:1::a247:27dd"})
        EXPECT_EQ(reach(each), Reach::Private) << each;
    for (const char* each : {"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1",
                             "64:ff9b:1::127.0.0.1", "2001:0:5db8:d822::80ff:fffe"})
        EXPECT_EQ(reach(each), Reach::Loopback) << each;
    for (const char* each : {"169.254.169.254", "169.254.255.255", "fe80::1",
                             "::ffff:169.254.169.254", "2002:a9fe:a9fe::1", "64:ff9b:1::a9fe:a9fe"})
        EXPECT_EQ(reach(each), Reach::LinkLocal) << each;
    for (const char* each : {"0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "::", "ff02::1"})
        EXPECT_EQ(reach(each), Reach::Special) << each;
}

}  // namespace
}  // namespace patchbay::net
