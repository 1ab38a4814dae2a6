// Pages over a database, as the program mounts them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/customizer/pages/pages.hpp"
#include "services/kit/sql/migrate.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::customizer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Pages : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = sql::Database::open("sqlite:" + (folder_ / "test.db"), "", {});
    ASSERT_TRUE(opened) << opened.error();
    database_ = *std::move(opened);
    ASSERT_TRUE(sql::migrate(*database_, customization_migrations()));
    records_.emplace(*database_);
    app_ = web::test::start(page_routes({.records = *records_}));
  }
  std::string create(const std::string& name, const std::string& model) {
    return records_->create({.name = name, .model = model, .request = "{}", .warnings = "[]"}).value().id;
  }
  void report(const std::string& id, const std::string& members) {
    const std::string token = records_->find(id).value()->token;
    ASSERT_EQ(records_->report(id, token, fmt::format(R"({{"job_id":"{}",{}}})", id, members)).value().problem, "");
  }
  web::test::Reply get(const std::string& path) const { return web::test::ask(*app_, "GET " + path); }

  test::TempDir folder_;
  std::unique_ptr<sql::Database> database_;
  std::optional<Records> records_;
  std::unique_ptr<web::App> app_;
};

TEST_F(Pages, list_customizations_and_filter_them) {
  EXPECT_THAT(get("/").body, HasSubstr("There are no customizations yet"));
  create("first", "a/b@1");
  create("second", "c/d@1");
  const auto page = get("/?state=created&model=a%2Fb%401");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.header("Content-Security-Policy"), HasSubstr("script-src 'self'"));
  EXPECT_THAT(page.body, AllOf(HasSubstr("./customizations/first"), Not(HasSubstr("./customizations/second"))));
  EXPECT_THAT(get("/?state=failed").body, HasSubstr("No customization is like that"));
  EXPECT_THAT(get("/?state=%3Cb%3E&model=x&page=x").body, HasSubstr("./customizations/second")) << "no filter";
}

TEST_F(Pages, turn) {
  for (int i = 0; i < 51; ++i) create(fmt::format("name-{}", i), "m");
  EXPECT_THAT(get("/").body, AllOf(HasSubstr("Page 1 of 2"), HasSubstr("name-50<"), Not(HasSubstr("name-0<"))));
  EXPECT_THAT(get("/?page=2").body, AllOf(HasSubstr("name-0<"), Not(HasSubstr("name-1<"))));
}

TEST_F(Pages, show_loss_and_log_while_it_trains) {
  const std::string id = create("first", "m");
  report(id, R"("event":"step","step":1,"max_steps":4,"loss":2.5)");
  report(id, R"("event":"validation","step":1,"val_loss":2.75)");
  const std::vector<std::string> lines{"a <line>"};
  ASSERT_TRUE(records_->add_log(id, "training-1", lines));
  const auto page = get("/customizations/first");
  EXPECT_THAT(page.body, AllOf(HasSubstr("training (2.5)"), HasSubstr("validation (2.75)")));
  EXPECT_THAT(page.body, HasSubstr("[training-1] a &lt;line&gt;"));
  EXPECT_THAT(page.body, HasSubstr("<meta http-equiv=\"refresh\""));
  EXPECT_EQ(get("/customizations/" + id).status, 200);
  EXPECT_EQ(get("/customizations/none").status, 404);
  EXPECT_THAT(get("/customizations/first/live").body, testing::StartsWith(R"(<div data-state="running">)"));
}

TEST_F(Pages, have_their_files_where_they_link_to) {
  create("first", "m");
  const std::string page = get("/customizations/first").body;
  for (const std::string name : {"style.css", "charts.css", "live.js", "icon.svg"}) {
    const auto at = page.find("\"../-/assets/" + name);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_EQ(get(page.substr(at + 3, page.find('"', at + 1) - at - 3)).status, 200) << name;
  }
}

}  // namespace
}  // namespace stackgate::customizer
