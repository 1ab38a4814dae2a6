#include "services/kit/http_client/url.hpp"

#include <gtest/gtest.h>

#include "services/kit/http_client/checks.hpp"

namespace stackgate::http_client {
namespace {

TEST(Words, show_a_url_without_its_secrets) {
  const std::pair<const char*, const char*> table[] = {
      {"https://host/path", "https://host/path"},
      {"https://host:8443", "https://host:8443"},
      {"https://ada:secret@host/path", "https://host/path"},
      {"https://ada:se@cret@host/path", "https://host/path"},
      {"https://host/a@b", "https://host/a@b"},
      {"https://s3/bucket/key?X-Amz-Signature=abc&x=y", "https://s3/bucket/key?…"},
      {"https://host/#fragment", "https://host/?…"},
      {"ada:secret@host", "host"},
      {"", ""},
  };
  for (const auto& [url, shown] : table) EXPECT_EQ(without_secrets(url), shown) << url;
}

TEST(Words, take_the_secrets_of_a_url_out_of_other_texts) {
  EXPECT_EQ(scrub("bad url https://ada:pw@host/x?sig=1 and ada:pw", "https://ada:pw@host/x?sig=1"),
            "bad url https://…@host/x… and …");
  EXPECT_EQ(scrub("no connection", "https://host/"), "no connection");
}

TEST(Redirects, lead_somewhere_and_say_whether_the_origin_stays) {
  struct Row {
    const char *location, *url;
    bool same;
  };
  const std::string from = "https://host/a/b?x=1";
  for (const auto& [location, url, same] :
       std::initializer_list<Row>{{"/c", "https://host/c", true},
                                  {"c", "https://host/a/c", true},
                                  {"https://HOST:443/c", "https://HOST:443/c", true},
                                  {"https://host:8443/c", "https://host:8443/c", false},
                                  {"http://host/c", "http://host/c", false},
                                  {"//other/c", "https://other/c", false}}) {
    const auto target = redirect_of(from, location);
    ASSERT_TRUE(target) << location;
    EXPECT_EQ(target->url, url);
    EXPECT_EQ(target->same_origin, same) << location;
    EXPECT_EQ(same_origin(from, location).has_value(), same) << location;
  }
  for (const char* nowhere : {"file:///etc/passwd", "ftp://host/x", "https://", "http://a b/"})
    EXPECT_FALSE(redirect_of(from, nowhere)) << nowhere;
}

TEST(Checks, refuse_what_would_smuggle_a_header) {
  EXPECT_EQ(fault_of({.method = "GET", .headers = {{"A", "b"}}}), std::nullopt);
  EXPECT_NE(fault_of({.method = "GET / HTTP/1.1\r\nX:"}), std::nullopt);
  EXPECT_NE(fault_of({.headers = {{"A: x\r\nB", "b"}}}), std::nullopt);
  EXPECT_NE(fault_of({.headers = {{"A", "b\r\nC: d"}}}), std::nullopt);
  EXPECT_NE(fault_of({.headers = {{"A", std::string("b\0c", 3)}}}), std::nullopt);
  EXPECT_NE(fault_of({.headers = {{"", "b"}}}), std::nullopt);
}

}  // namespace
}  // namespace stackgate::http_client
