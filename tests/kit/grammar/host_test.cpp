#include "services/kit/grammar/host.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::validate::grammar {
namespace {

using ::testing::HasSubstr;

TEST(Ipv4, TakesFourOctetsInRange) {
  for (const std::string_view text : {"0.0.0.0", "10.0.0.7", "255.255.255.255"}) EXPECT_TRUE(parse_ipv4(text)) << text;
  for (const std::string_view text : {"", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.1.1.999999999999", "01.2.3.4",
                                      "1..2.3", "1.2.3.4 ", "a.b.c.d", "1.2.3."})
    EXPECT_FALSE(parse_ipv4(text)) << text;
  EXPECT_EQ(*parse_ipv4("10.1.2.3"), (Ipv4{10, 1, 2, 3}));
}

TEST(Ipv6, TakesTheThreeFormsOfRfc4291) {
  for (const std::string_view text : {"::", "::1", "fd00::", "1:2:3:4:5:6:7:8", "1::8", "::ffff:10.0.0.1",
                                      "1:2:3:4:5:6:1.2.3.4", "FD00::A", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8"})
    EXPECT_TRUE(parse_ipv6(text)) << text << ": " << parse_ipv6(text).error().problem;
  for (const std::string_view text :
       {"", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "1:", ":1", "::1%eth0",
        "1:2:3:4:5:6:7:8::", "::1.2.3", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7::8"})
    EXPECT_FALSE(parse_ipv6(text)) << text;
  EXPECT_EQ((*parse_ipv6("1::2"))[15], 2);
  EXPECT_EQ((*parse_ipv6("1::2"))[1], 1);
  EXPECT_EQ((*parse_ipv6("fd00::"))[0], 0xfd);
  EXPECT_EQ((*parse_ipv6("::10.1.2.3"))[12], 10);
}

TEST(Cidr, TakesBothFamiliesWithPrefixInRange) {
  for (const std::string_view text : {"0.0.0.0/0", "10.0.0.0/8", "10.1.2.3/32", "::/0", "fd00::/8", "::1/128"})
    EXPECT_TRUE(parse_cidr(text)) << text;
  for (const std::string_view text : {"", "10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0/8", "/8", "10.0.0.0/",
                                      "10.0.0.0/x", "10.0.0.0/8/8", "10.0.0.0/0000008", "fd00::/-1"})
    EXPECT_FALSE(parse_cidr(text)) << text;
}

TEST(Host, IsANameOrAnAddress) {
  for (const std::string_view text : {"a", "a.b", "A.b.", "10.0.0.1", "[::1]", "a-b.c0", "0a.b"})
    EXPECT_FALSE(check_host(text)) << text;
  for (const std::string_view text :
       {"", ".", "a..b", "-a", "a-", "a_b", "a b", "10.0.0.256", "10.0", "1", "[::1", "[x]", "::1", "é", "a/b", "a:b"})
    EXPECT_TRUE(check_host(text)) << text;
  EXPECT_TRUE(check_host(std::string(64, 'a')));
  EXPECT_THAT(check_host("fd00::7")->fix, HasSubstr("[fd00::7]"));
}

TEST(HostPort, NeedsBothAndSaysWhatToWrite) {
  const auto good = parse_host_port("[fd00::7]:9000");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->host, "fd00::7");
  EXPECT_EQ(good->port, 9000);
  for (const std::string_view text : {"a:1", "minio.storage:9000", "10.0.0.1:65535"})
    EXPECT_TRUE(parse_host_port(text)) << text;
  const std::pair<std::string_view, std::string_view> table[] = {
      {"", "minio.storage:9000"},
      {"minio", "\"minio:9000\""},
      {"minio:", "between 1 and 65535"},
      {"minio:0", "between"},
      {"minio:65536", "between"},
      {"minio:99999999999999", "between"},
      {"minio:http", "between"},
      {":9000", "host name"},
      {"http://minio:9000", "write \"minio:9000\""},
      {"http://minio:9000/x", "write \"minio:9000\""},
      {"https://u:p@minio:9000", "without a scheme"},
      {"u:p@minio:9000", "Secret"},
      {"fd00::7", "[fd00::7]:9000"},
      {"a:b:c", "host:port"},
      {"[::1]", "\"[::1]:9000\""},
      {"[::1]9000", "':'"},
      {"minio:9000/bucket", "alone"},
      {"[::1", "[fd00::7]:9000"},
  };
  for (const auto& [text, cure] : table) {
    const auto parsed = parse_host_port(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().fix, HasSubstr(std::string(cure))) << text << ": " << parsed.error().problem;
  }
}

TEST(NoProxy, TakesEveryFormOfEntry) {
  for (const std::string_view text :
       {"", "*", "localhost", ".example.com", "example.com:8080", ".example.com:8080", "10.0.0.1", "10.0.0.1:443",
        "[::1]", "[::1]:443", "::1", "fd00::/8", "10.0.0.0/8",
        "localhost,127.0.0.1,.svc,.cluster.local,10.96.0.0/12,fd00::/8", "a, b ,c", "a,,b,", "::/0"})
    EXPECT_TRUE(check_no_proxy(text).empty()) << text << ": " << check_no_proxy(text)[0].problem.problem;
}

TEST(NoProxy, NamesEachBadEntryWithItsPlace) {
  for (const std::string_view text :
       {"10.0.0.256", "10.0.0.0/33", "fd00::/129", "fd00::/x", "[::1]:0", "[::1]/8",    "[::1",
        "http://a",   "a/b",         "*.a",        "a b",      "a;b",     "a:0",        "10.0",
        "1:2:3",      "10.0.0.0/",   ".",          "a..b",     "a_b",     "[fd00::]/8", "::ffff:300.1.1.1"})
    EXPECT_EQ(check_no_proxy(text).size(), 1U) << text;
  const auto problems = check_no_proxy("good, 10.0.0.300 ,fd00::/200");
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].offset, 6U);
  EXPECT_EQ(problems[0].length, 10U);
  EXPECT_EQ(problems[1].offset, 18U);
  EXPECT_THAT(problems[1].problem.fix, HasSubstr("between 0 and 128"));
  const auto user = check_no_proxy("a, http://u:hunter2@x");
  ASSERT_EQ(user.size(), 1U);
  EXPECT_EQ(user[0].offset, 20U) << "behind the password: whoever quotes the entry does not show it";
  EXPECT_EQ(user[0].length, 1U);
  EXPECT_THAT(user[0].problem.problem, HasSubstr("user information"));
  EXPECT_THAT(check_no_proxy("${HOSTS}")[0].problem.problem, HasSubstr("template"));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "!,";
  EXPECT_EQ(check_no_proxy(many).size(), 20U);
}

}  // namespace
}  // namespace stackgate::validate::grammar
