// Pages over a database, as the program mounts them, and POST /v1/comparisons' look-ups.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/evaluator/front/comparisons.hpp"
#include "services/evaluator/pages/pages.hpp"
#include "services/evaluator/suite/results.hpp"
#include "services/kit/sql/migrate.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::evaluator {
namespace {

using testing::HasSubstr;
using testing::Not;

class Pages : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = sql::Database::open("sqlite:" + (folder_ / "test.db"), "", {});
    ASSERT_TRUE(opened) << opened.error();
    database_ = *std::move(opened);
    ASSERT_TRUE(sql::migrate(*database_, evaluation_migrations()));
    records_.emplace(*database_);
    app_ = web::test::start(page_routes({.records = *records_, .compare = [this](const ComparisonRequest& request) {
                                           return compare_stored(*records_, request);
                                         }}));
  }

  /// `right` of 40 samples are right.
  void complete(const std::string& name, int right, int seed = 1) {
    const auto id = records_->create(
        {.name = name,
         .framework = "custom",
         .request = fmt::format(R"({{"name":"{}","framework":"custom","model":"m","seed":{}}})", name, seed),
         .warnings = "[]",
         .secrets = "{}"});
    ASSERT_TRUE(id && *id);
    TaskResult task{.name = "qa", .version = "1", .samples = 40};
    task.scores = {{.metric = "acc", .name = "acc", .value = right / 40.0, .error = 0.08, .count = 40}};
    std::vector<Sample> samples;
    for (int i = 0; i < 40; ++i)
      samples.push_back(
          {.task = "qa",
           .number = i,
           .record = fmt::format(R"({{"prompt":"q{}","reference":"yes","output_text":"{}","scores":{{"acc":{}}}}})", i,
                                 i < right ? "yes" : "<no>", i < right ? 1 : 0)});
    ASSERT_TRUE(records_->add_samples(**id, samples));
    ASSERT_TRUE(records_->move(**id, State::running, ""));
    ASSERT_TRUE(records_->add_event(**id, "task qa: 40 samples"));
    ASSERT_TRUE(records_->finish(**id, State::completed, "", results_json({&task, 1}, true)));
  }
  web::test::Reply get(const std::string& path) const { return web::test::ask(*app_, "GET " + path); }

  test::TempDir folder_;
  std::unique_ptr<sql::Database> database_;
  std::optional<Records> records_;
  std::unique_ptr<web::App> app_;
};

TEST_F(Pages, list_evaluations_and_filter_them) {
  EXPECT_THAT(get("/").body, HasSubstr("There are no evaluations yet"));
  complete("first", 10);
  const auto page = get("/?state=completed&framework=custom");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.header("Content-Security-Policy"), HasSubstr("script-src 'self'"));
  EXPECT_THAT(page.body, HasSubstr(R"(<a href="./evaluations/first">first</a>)"));
  EXPECT_THAT(get("/?state=failed").body, Not(HasSubstr("/evaluations/first")));
  EXPECT_THAT(get("/?state=%3Cb%3E&page=x").body, HasSubstr("/evaluations/first")) << "no filter";
}

TEST_F(Pages, have_their_files_at_addresses_that_change_with_them) {
  const std::string page = get("/").body;
  for (const std::string name : {"style.css", "charts.css", "live.js", "icon.svg"}) {
    const auto at = page.find("\"./-/assets/" + name);
    ASSERT_NE(at, std::string::npos) << name;
    const auto file = get(page.substr(at + 2, page.find('"', at + 1) - at - 2));
    EXPECT_EQ(file.status, 200) << name;
    EXPECT_THAT(file.header("Cache-Control"), HasSubstr("immutable"));
  }
}

TEST_F(Pages, show_one_evaluation_by_name_or_id) {
  complete("first", 10);
  const auto page = get("/evaluations/first");
  EXPECT_THAT(page.body, HasSubstr("task qa: 40 samples"));
  EXPECT_THAT(page.body, HasSubstr("0.25 <span class=\"quiet\">± 0.08</span>"));
  EXPECT_EQ(get("/evaluations/" + records_->find("first").value()->id).status, 200);
  EXPECT_EQ(get("/evaluations/none").status, 404);
  EXPECT_THAT(get("/evaluations/first/live").body, testing::StartsWith(R"(<div data-state="final">)"));
}

TEST_F(Pages, turn_samples_page_by_page) {
  complete("first", 10);
  const auto first = get("/evaluations/first/samples");
  EXPECT_THAT(first.body, HasSubstr("Sample 19<"));
  EXPECT_THAT(first.body, Not(HasSubstr("Sample 20<")));
  EXPECT_THAT(first.body, HasSubstr("/evaluations/first/samples?task=qa&amp;after=19"));
  EXPECT_THAT(first.body, HasSubstr("<ins>&lt;no&gt;</ins>"));
  const auto second = get("/evaluations/first/samples?task=qa&after=19");
  EXPECT_THAT(second.body, HasSubstr("Sample 39<"));
  EXPECT_THAT(second.body, Not(HasSubstr("Next page")));
  EXPECT_THAT(get("/evaluations/first/samples?task=none").body, HasSubstr("There are no samples here"));
}

TEST_F(Pages, compare_what_was_chosen_by_boxes_or_a_link) {
  complete("first", 10);
  complete("second", 30);
  for (const std::string query : {"evaluations=first&evaluations=second", "evaluations=first,second"}) {
    const auto page = get("/comparisons?" + query);
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.body, HasSubstr("second wins 1 of 1 score"));
    EXPECT_THAT(page.body, HasSubstr("McNemar")) << "samples are paired";
    EXPECT_THAT(page.body, HasSubstr("<svg"));
  }
}

TEST_F(Pages, say_what_cannot_be_compared) {
  complete("first", 10);
  complete("other-seed", 30, 2);
  EXPECT_EQ(get("/comparisons").status, 422);
  const auto unknown = get("/comparisons?evaluations=first,none");
  EXPECT_EQ(unknown.status, 422);
  EXPECT_THAT(unknown.body, HasSubstr("there is no evaluation &quot;none&quot;"));
  EXPECT_THAT(unknown.body, Not(HasSubstr("nevertheless")));
  const auto refused = get("/comparisons?evaluations=first,other-seed");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, HasSubstr("the seed of &quot;other-seed&quot; is &quot;2&quot;"));
  EXPECT_THAT(refused.body, HasSubstr("evaluations=first%2Cother-seed&amp;force=1"));
  EXPECT_THAT(get("/comparisons?evaluations=first%2Cother-seed&force=1").body, HasSubstr("two means, normal"));

  ASSERT_TRUE(
      records_->create({.name = "new", .framework = "custom", .request = "{}", .warnings = "[]", .secrets = "{}"})
          .value());
  const auto unfinished = compare_stored(*records_, {.evaluations = {"first", "new"}, .baseline = "first"});
  ASSERT_FALSE(unfinished);
  EXPECT_EQ(unfinished.error().status, 409);
  EXPECT_THAT(unfinished.error().message, HasSubstr("\"new\" is created"));
  const auto missing = compare_stored(*records_, {.evaluations = {"x", "new", "y"}, .baseline = "x"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().findings.size(), 2U) << "each at once";
}

}  // namespace
}  // namespace stackgate::evaluator
