#include "services/kit/grammar/url.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::validate::grammar {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Url, IsTakenApart) {
  const auto url = parse_url("https://user:pw@host.example:8443/a/b%20c?x=1&y=/?#top");
  ASSERT_TRUE(url) << url.error().problem;
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->user_info, "user:pw");
  EXPECT_TRUE(url->has_user_info);
  EXPECT_EQ(url->host, "host.example");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/a/b%20c");
  EXPECT_EQ(url->query, "x=1&y=/?");
  EXPECT_EQ(url->fragment, "top");
  const auto v6 = parse_url("http://[fd00::7]:80");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "fd00::7");
  EXPECT_TRUE(v6->v6);
  EXPECT_EQ(v6->path, "");
}

TEST(Url, FollowsRfc3986) {
  for (const std::string_view text : {"http://a", "http://a/", "ftp://a", "a+b-c.1://h", "http://a:", "http://a:80?q",
                                      "http://a#f", "http://@a", "http://a_b", "http://a/;,=~!$&'()*+@:"})
    EXPECT_TRUE(parse_url(text)) << text << ": " << parse_url(text).error().problem;
  for (const std::string_view text : {"",
                                      "a",
                                      "//a",
                                      "http:a",
                                      "http:/a",
                                      "http://",
                                      "http:///a",
                                      "1http://a",
                                      "http://a:99999",
                                      "http://a:x",
                                      "http://a b",
                                      "http://a/ b",
                                      "http://a/%",
                                      "http://a/%g0",
                                      "http://a/\"",
                                      "http://a/<",
                                      "http://[::1",
                                      "http://[::1]x",
                                      "http://a:1:2",
                                      "http://::1",
                                      " http://a",
                                      "http://a ",
                                      "http://a#b#c",
                                      "http://a/\xc3\xa9",
                                      "://a",
                                      "http://a\\b"})
    EXPECT_FALSE(parse_url(text)) << text;
}

TEST(HttpUrl, NeedsAPlainHttpAddress) {
  for (const std::string_view text : {"http://a", "HTTPS://A.b:1/x", "http://10.0.0.1", "http://[::1]:8000/v1"})
    EXPECT_TRUE(parse_http_url(text)) << text;
  const std::pair<std::string_view, std::string_view> table[] = {
      {"llm.models:8000/v1", "\"http://llm.models:8000/v1\""},
      {"ftp://a", "http:// or https://"},
      {"http:/a", "\"://\""},
      {"http//a", "\"://\""},
      {"http://a_b", "'-' in place of '_'"},
      {"http://10.0.0.300", "0 to 255"},
      {"http://a:0", "between 1 and 65535"},
      {"http://", "http://host"},
      {"http://a/b c", "\"%20\""},
      {"http://a/b?c d", "\"%20\""},
      {"http://data store", "letters, digits, '-' and '.'"},
      {"http://data%20store", "host name such as"},
      {"http://data%store", "letters, digits, '-' and '.'"},
      {"http://${HOST}:8000", "render the template first"},
      {"http://a/{{ .Values.path }}", "render the template first"},
  };
  for (const auto& [text, cure] : table) {
    const auto parsed = parse_http_url(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().fix, HasSubstr(std::string(cure))) << text << ": " << parsed.error().problem;
  }
}

TEST(HttpUrl, NeverRepeatsUserInformation) {
  for (const std::string_view text :
       {"http://joe:hunter2@a", "joe:hunter2@a/b", "http://joe:hunter2 @a", "http://joe:hunter2@a_b",
        "http://joe:hunter2@a:0", "http:/joe:hunter2@a", "//joe:hunter2@a"}) {
    const auto parsed = parse_http_url(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().problem + parsed.error().fix, Not(HasSubstr("hunter2"))) << text;
  }
}

}  // namespace
}  // namespace stackgate::validate::grammar
