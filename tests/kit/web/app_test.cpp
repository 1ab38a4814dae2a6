#include "services/kit/web/app.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kit/web/app_support.hpp"

namespace stackgate::web {
namespace {

using test::ask;
using testing::HasSubstr;

http::Response text(std::string body) { return {200, "text/plain", {}, std::move(body)}; }

TEST(App, ServesOnTheIoThreadAndOnThePool) {
  const auto app = test::start({
      {"GET",
       "/quick/{name}",
       [](Call& call) { return text("quick " + std::string(call.parameter("name"))); },
       {.on_io_thread = true}},
      {"POST", "/slow",
       [](Call& call) -> Answer {
         auto body = call.body();
         if (!body) return body.error();
         return text("slow " + std::string(*body));
       }},
  });
  EXPECT_EQ(ask(*app, "GET /quick/a%2Fb").body, "quick a/b");
  EXPECT_EQ(ask(*app, "POST /slow", "abc").body, "slow abc");
}

}  // namespace
}  // namespace stackgate::web
