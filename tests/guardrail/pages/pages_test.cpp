#include "services/guardrail/pages/pages.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/kit/web/app_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::guardrail {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ChatPage, holds_no_script_or_style_of_its_own_and_names_what_it_needs) {
  const auto app = web::test::start(page_routes({}));
  const auto page = web::test::ask(*app, "GET /");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.header("Content-Security-Policy"), HasSubstr("script-src 'self'"));
  EXPECT_THAT(page.header("Content-Security-Policy"), HasSubstr("connect-src 'self'"));
  EXPECT_THAT(page.body, Not(HasSubstr("<style")));
  EXPECT_THAT(page.body, Not(HasSubstr("style=")));
  std::size_t bytes = page.body.size();
  for (const std::string name : {"style.css", "chat.js", "icon.svg"}) {
    const std::string begin = "\"-/assets/" + name;
    const auto at = page.body.find(begin);
    ASSERT_NE(at, std::string::npos) << name;
    const std::string address = page.body.substr(at + 1, page.body.find('"', at + 1) - at - 1);
    EXPECT_THAT(address, HasSubstr("?v="));
    const auto file = web::test::ask(*app, "GET /" + address);
    EXPECT_EQ(file.status, 200) << address;
    EXPECT_THAT(file.header("Cache-Control"), HasSubstr("immutable"));
    bytes += file.body.size();
  }
  EXPECT_LT(bytes, 50'000U);
}

TEST(ChatPage, can_be_left_out) {
  const auto app = web::test::start(page_routes({.chat = false}));
  EXPECT_EQ(web::test::ask(*app, "GET /").body, R"({"status":"ok"})");
  EXPECT_EQ(web::test::ask(*app, "GET /-/assets/chat.js").status, 404);
  EXPECT_EQ(web::test::ask(*app, "GET /v1/challenges").body, "[]");
}

TEST(Challenges, are_those_of_the_folder) {
  const test::TempDir folder;
  const auto app = web::test::start(page_routes({.folder = folder / ""}));
  const auto with = [&](const std::string& text) {
    std::ofstream(folder / "challenges.json") << text;
    return web::test::ask(*app, "GET /v1/challenges");
  };
  EXPECT_EQ(web::test::ask(*app, "GET /v1/challenges").body, "[]");
  const std::string good = R"([{"id":"a","name":"A-1","description":"Make it swear."}])";
  EXPECT_EQ(with(good).body, good);
  struct Case {
    std::string text;
    std::string_view says;
  };
  const Case cases[] = {{"[\n  {\"id\": }]", "at byte 11"},
                        {"{}", "no list"},
                        {"[1]", "no list"},
                        {std::string((1U << 20U) + 1, ' '), "large"}};
  for (const Case& each : cases) {
    const auto reply = with(each.text);
    EXPECT_EQ(reply.status, 500) << each.says;
    EXPECT_THAT(reply.body, HasSubstr(std::string(each.says)));
  }
}

}  // namespace
}  // namespace stackgate::guardrail
