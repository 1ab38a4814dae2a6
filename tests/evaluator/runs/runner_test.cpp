// What the sweep does with what nobody uses any more: collections of vectors, and keys in SQLite's files.
#include "services/evaluator/runs/runner.hpp"

#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include <gmock/gmock.h>

#include "services/kit/log/log.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::evaluator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    auto opened = sql::Database::open("sqlite:" + (dir_ / "e.db"), "", {.erase = true});
    ASSERT_TRUE(opened) << opened.error();
    database_ = std::move(*opened);
    ASSERT_TRUE(sql::migrate(*database_, evaluation_migrations()));
    milvus_ = web::test::start(
        {{"POST", "/v2/vectordb/collections/drop", [this](web::Call& call) {
            const std::scoped_lock lock(mutex_);
            dropped_.emplace_back(call.body().value_or(""));
            const bool fails = dropped_.size() == 1;
            return http::Response{
                200, "application/json", {}, fails ? R"({"code":1,"message":"busy"})" : R"({"code":0})"};
          }}});
    start_anew();
  }
  void start_anew() {
    RunnerOptions options{.sweep = std::chrono::milliseconds(20)};
    options.run.retrieval.database.url = "http://127.0.0.1:" + std::to_string(milvus_->port());
    runner_.emplace(*database_, std::move(options), metrics_);
  }
  std::string create(const std::string& name) {
    const auto made = runner_->records().create({.name = name,
                                                 .framework = "custom",
                                                 .request = "{}",
                                                 .warnings = "[]",
                                                 .secrets = R"({"model":"sk-very-secret"})"});
    return made && *made ? **made : std::string();
  }
  std::vector<std::string> dropped() {
    const std::scoped_lock lock(mutex_);
    return dropped_;
  }
  /// Of all files of the database.
  std::string bytes() {
    std::ostringstream out;
    for (const auto& each : std::filesystem::directory_iterator(dir_ / ""))
      out << std::ifstream(each.path(), std::ios::binary).rdbuf();
    return out.str();
  }

  test::TempDir dir_{};
  std::unique_ptr<sql::Database> database_{};
  metrics::Registry registry_{};
  RunMetrics metrics_{registry_};
  std::mutex mutex_{};
  std::vector<std::string> dropped_{};
  std::unique_ptr<web::App> milvus_{};
  std::optional<Runner> runner_{};
};

TEST_F(RunnerTest, drops_collections_of_deleted_evaluations_until_it_is_done) {
  Records& records = runner_->records();
  const std::string a = create("a"), b = create("b");
  ASSERT_TRUE(records.use_collection(a, "stackgate_of_a"));
  ASSERT_TRUE(records.use_collection(a, "stackgate_shared"));
  ASSERT_TRUE(records.use_collection(b, "stackgate_shared"));
  for (const char* each : {"a", "b"})
    ASSERT_TRUE(records.finish(records.find(each).value()->id, State::completed, "", ""));
  ASSERT_TRUE(records.remove("a"));
  runner_->start(nullptr);
  ASSERT_TRUE(web::test::soon([&] { return dropped().size() == 2; })) << "refused once, asked again";
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(dropped(), ElementsAre(HasSubstr("stackgate_of_a"), HasSubstr("stackgate_of_a")));
}

TEST_F(RunnerTest, erases_keys_of_what_was_cancelled_before_it_began) {
  runner_->start(nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // a few sweeps: nothing is left of the start
  ASSERT_NE(create("a"), "");
  EXPECT_THAT(bytes(), HasSubstr("sk-very-secret"));
  ASSERT_TRUE(runner_->cancel(runner_->records().find("a").value().value()));
  EXPECT_TRUE(web::test::soon([&] { return bytes().find("sk-very-secret") == std::string::npos; }));
}

TEST_F(RunnerTest, erases_keys_that_a_process_left_which_ended_before_it_did) {
  ASSERT_NE(create("a"), "");
  ASSERT_TRUE(runner_->cancel(runner_->records().find("a").value().value()));
  start_anew();
  EXPECT_THAT(bytes(), HasSubstr("sk-very-secret"));
  runner_->start(nullptr);
  EXPECT_TRUE(web::test::soon([&] { return bytes().find("sk-very-secret") == std::string::npos; }));
}

}  // namespace
}  // namespace stackgate::evaluator
