#include <gtest/gtest.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/web/basic_auth.hpp"
#include "services/kit/web/cookies.hpp"

namespace stackgate::web {
namespace {

using Scheme = Credentials::Scheme;

TEST(Authorization, IsRead) {
  const std::string with_nul = "Basic " + base64::encode(std::string_view("a\0b:c", 5));
  const struct {
    std::string_view header;
    Scheme scheme;
    std::string_view user, secret;
  } cases[] = {
      {"", Scheme::none, "", ""},
      {"  ", Scheme::none, "", ""},
      {"Basic YW5uOnNlY3JldA==", Scheme::basic, "ann", "secret"},
      {"basic  YW5uOnNlY3JldA==", Scheme::basic, "ann", "secret"},
      {"Basic YW5uOg==", Scheme::basic, "ann", ""},
      {"Basic OnNlY3JldA==", Scheme::basic, "", "secret"},
      {"Basic YW5uOmE6Yg==", Scheme::basic, "ann", "a:b"},
      {"Basic YW5u", Scheme::unknown, "", ""},
      {"Basic !!!", Scheme::unknown, "", ""},
      {"Basic", Scheme::unknown, "", ""},
      {with_nul, Scheme::unknown, "", ""},
      {"Bearer abc.def", Scheme::bearer, "", "abc.def"},
      {"BEARER abc", Scheme::bearer, "", "abc"},
      {"Bearer", Scheme::bearer, "", ""},
      {"token 0123", Scheme::token, "", "0123"},
      {"Digest username=\"a\"", Scheme::unknown, "", ""},
      {"abc", Scheme::unknown, "", ""},
  };
  for (const auto& each : cases) {
    const Credentials got = parse_authorization(each.header);
    EXPECT_EQ(got.scheme, each.scheme) << each.header;
    EXPECT_EQ(got.user, each.user) << each.header;
    EXPECT_EQ(got.secret, each.secret) << each.header;
  }
  EXPECT_EQ(basic_challenge("a \"b\""), "Basic realm=\"a \\\"b\\\"\", charset=\"UTF-8\"");
}

TEST(Cookies, AreFound) {
  http::Request request;
  request.headers = {{"Host", "x"}, {"Cookie", "a=1; session=\"s=1\" ;b="}, {"cookie", "c=3; a=4"}};
  EXPECT_EQ(find_cookie(request, "a"), "1");
  EXPECT_EQ(find_cookie(request, "session"), "s=1");
  EXPECT_EQ(find_cookie(request, "b"), "");
  EXPECT_EQ(find_cookie(request, "c"), "3");
  EXPECT_EQ(find_cookie(request, "d"), std::nullopt);
  EXPECT_EQ(find_cookie(request, "A"), std::nullopt);
}

TEST(Cookies, AreWrittenSafely) {
  EXPECT_EQ(format_cookie({.name = "s", .value = "abc"}), "s=abc; Path=/; HttpOnly; SameSite=Lax");
  EXPECT_EQ(format_cookie({.name = "s",
                           .value = "",
                           .max_age = std::chrono::seconds(0),
                           .secure = true,
                           .same_site = SameSite::strict}),
            "s=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Strict");
  EXPECT_EQ(format_cookie({.name = "t", .value = "a b;\r\nX: y%", .http_only = false, .same_site = SameSite::none}),
            "t=a%20b%3B%0D%0AX:%20y%25; Path=/; Secure; SameSite=None");
}

}  // namespace
}  // namespace stackgate::web
