#include "services/kit/http_client/addresses.hpp"

#include <cstring>

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace stackgate::http_client {
namespace {

bool judged(const char* text) {
  Address4 four{};
  Address6 six{};
  if (inet_pton(AF_INET, text, four.data()) == 1) return is_public(four);
  if (inet_pton(AF_INET6, text, six.data()) == 1) return is_public(six);
  ADD_FAILURE() << text << " is no address";
  return false;
}

TEST(Addresses, lets_the_public_internet_through) {
  for (const char* address :
       {"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "169.253.255.255",
        "172.15.255.255", "172.32.0.0", "192.167.255.255", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1",
        "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"})
    EXPECT_TRUE(judged(address)) << address;
}

TEST(Addresses, keeps_everything_else_out) {
  for (const char* address : {"0.0.0.0",
                              "10.1.2.3",
                              "100.64.0.1",
                              "100.127.255.255",
                              "127.0.0.1",
                              "127.255.255.255",
                              "169.254.169.254",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.0.0.8",
                              "192.168.0.1",
                              "198.18.0.1",
                              "198.19.255.255",
                              "203.0.113.9",
                              "224.0.0.1",
                              "240.0.0.1",
                              "255.255.255.255",
                              "::",
                              "::1",
                              "::ffff:127.0.0.1",
                              "::ffff:169.254.169.254",
                              "::10.0.0.1",
                              "64:ff9b::a00:1",
                              "64:ff9b:1::1",
                              "2002:7f00:1::",
                              "2002:c0a8:1::1",
                              "fc00::1",
                              "fd00:ec2::254",
                              "fe80::1",
                              "febf::1",
                              "fec0::1",
                              "ff02::1",
                              "2001::1",
                              "2001:db8::1",
                              "100::1"})
    EXPECT_FALSE(judged(address)) << address;
}

}  // namespace
}  // namespace stackgate::http_client
