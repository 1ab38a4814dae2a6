#include "services/kit/http/listen.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace stackgate::http {
namespace {

using testing::HasSubstr;

TEST(Listen, reads_addresses) {
  EXPECT_EQ(*parse_listen("127.0.0.1:9443"), (ListenAddress{"127.0.0.1", "9443"}));
  EXPECT_EQ(*parse_listen(":0"), (ListenAddress{"", "0"}));
  EXPECT_EQ(*parse_listen("[::1]:65535"), (ListenAddress{"::1", "65535"}));
  EXPECT_EQ(*parse_listen("localhost:80"), (ListenAddress{"localhost", "80"}));
}

TEST(Listen, says_what_is_wrong_with_an_address_and_how_to_write_it) {
  for (const char* text : {"", "9443", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
                           "::1:80", "[::1:80", "[]:80", "[nonsense]:80", "::"}) {
    const auto parsed = parse_listen(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("write host:port")) << text;
  }
}

TEST(Listen, refuses_a_port_that_is_taken_even_when_ports_may_be_shared) {
  for (const unsigned first : {1U, 2U}) {
    for (const unsigned second : {1U, 2U}) {
      const auto one = listen_on("127.0.0.1:0", first);
      ASSERT_TRUE(one) << one.error().message;
      EXPECT_EQ(one->sockets.size(), first);
      const auto two = listen_on("127.0.0.1:" + std::to_string(one->port), second);
      ASSERT_FALSE(two);
      EXPECT_THAT(two.error().message, HasSubstr("another process uses that port"));
      for (const int fd : one->sockets) ::close(fd);
    }
  }
}

TEST(Listen, names_an_address_that_this_machine_does_not_have) {
  const auto listening = listen_on("192.0.2.1:0", 1);
  ASSERT_FALSE(listening);
  EXPECT_THAT(listening.error().message, HasSubstr("192.0.2.1:0"));
  EXPECT_THAT(listen_on("no-such-host.invalid:1", 1).error().message, HasSubstr("no-such-host.invalid"));
}

TEST(Listen, writes_peers_as_people_do) {
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(80);
  inet_pton(AF_INET6, "::ffff:10.0.0.7", &six.sin6_addr);
  EXPECT_EQ(format_address(reinterpret_cast<sockaddr&>(six)), "10.0.0.7:80");
  inet_pton(AF_INET6, "fe80::1", &six.sin6_addr);
  EXPECT_EQ(format_address(reinterpret_cast<sockaddr&>(six)), "[fe80::1]:80");
}

}  // namespace
}  // namespace stackgate::http
