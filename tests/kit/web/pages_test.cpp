#include "services/kit/web/pages.hpp"

#include <gtest/gtest.h>

#include "tests/kit/web/app_support.hpp"

namespace stackgate::web {
namespace {

TEST(PageFiles, are_kept_by_browsers_under_the_address_of_their_content_only) {
  static const PageFiles files({{"a.css", "text/css", "a{}"}, {"b.js", "text/javascript", "1"}});
  const PageFiles others({{"a.css", "text/css", "b{}"}});
  EXPECT_TRUE(files.address("a.css").starts_with("/-/assets/a.css?v="));
  EXPECT_NE(files.address("a.css"), others.address("a.css"));
  EXPECT_EQ(files.address("none"), "/-/assets/none");
  const auto app = test::start(files.routes());
  const auto exact = test::ask(*app, "GET " + files.address("a.css"));
  EXPECT_EQ(exact.body, "a{}");
  EXPECT_EQ(exact.header("Content-Type"), "text/css");
  EXPECT_EQ(exact.header("Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(test::ask(*app, "GET " + others.address("a.css")).header("Cache-Control"), "no-cache");
  EXPECT_EQ(test::ask(*app, "GET /-/assets/a.css", {}, "If-None-Match: " + exact.header("ETag") + "\r\n").status, 304);
  EXPECT_EQ(test::ask(*app, "GET /-/assets/none").status, 404);
}

}  // namespace
}  // namespace stackgate::web
