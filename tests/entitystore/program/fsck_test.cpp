// fsck and whose the repositories say that they are: a real database against what a datastore answers.
#include <gmock/gmock.h>

#include "services/entitystore/adapters/rows.hpp"
#include "services/entitystore/program/program.hpp"
#include "services/entitystore/registration/registrar.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::entitystore {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::string other_id(32, 'b');

class Fsck : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    auto database = sql::Database::open("sqlite:" + (dir_ / "db"), "");
    ASSERT_TRUE(database && sql::migrate(**database, migrations()));
    database_ = std::move(*database);
    ours_ = *shared_setting(*database_, "database-id", std::string(32, 'a'));
    app_ = web::test::start({{"GET", "/v1/hf/api/models", [this](web::Call& call) {
                                EXPECT_EQ(call.query().get("author"), "adapters");
                                return http::Response{200, "application/json", {}, list()};
                              }}});
  }
  std::string list() const {
    std::string out;
    json::Writer w(out);
    w.array([&] {
      for (const auto& [name, description] : there_)
        w.object([&] {
          w.member("id", std::string_view(name));
          w.member("description", std::string_view(description));
        });
    });
    return out;
  }
  /// The exit status and what was printed.
  std::pair<int, std::string> run() {
    datastore_client::Datastore datastore(
        {.url = "http://127.0.0.1:" + std::to_string(app_->port()), .username = {}, .password = {}});
    testing::internal::CaptureStdout();
    const int status = fsck(*database_, datastore, "adapters");
    std::fflush(stdout);
    return {status, testing::internal::GetCapturedStdout()};
  }

  stackgate::test::TempDir dir_;
  std::unique_ptr<sql::Database> database_;
  std::string ours_;
  std::vector<std::pair<std::string, std::string>> there_;
  std::unique_ptr<web::App> app_;
};

TEST_F(Fsck, FindsNothingWhereMarksAndRecordsFit) {
  there_ = {{"adapters/ours", mark_of(ours_)}, {"adapters/by-hand", "a person's"}};
  ASSERT_TRUE(note_made(*database_, "adapters/ours"));
  EXPECT_EQ(run(), std::pair(0, std::string("0 adapters, 0 faults\n")));
}

TEST_F(Fsck, TellsARepositoryThatIsMarkedForAnotherDatabaseThanTheOneThatKnowsIt) {
  there_ = {{"adapters/Both", mark_of(other_id)}};
  ASSERT_TRUE(note_made(*database_, "adapters/both"));
  const auto [status, text] = run();
  EXPECT_EQ(status, 1);
  EXPECT_THAT(text, AllOf(HasSubstr("adapters/Both: is marked for the database " + other_id), HasSubstr(ours_),
                          EndsWith("0 adapters, 1 faults\n")));
}

TEST_F(Fsck, TellsARepositoryThatIsMarkedForThisDatabaseAndUnknownToIt) {
  there_ = {{"adapters/lost", mark_of(ours_)}};
  const auto [status, text] = run();
  EXPECT_EQ(status, 1);
  EXPECT_THAT(text, HasSubstr("adapters/lost: is marked for this database, which has no record of it"));
}

TEST_F(Fsck, RemarksOnWhatIsNotMarkedYetAndOnNeighbours) {
  there_ = {{"adapters/old", ""}, {"adapters/theirs", mark_of(other_id)}};
  ASSERT_TRUE(note_made(*database_, "adapters/old"));
  const auto [status, text] = run();
  EXPECT_EQ(status, 0) << "no faults";
  EXPECT_THAT(text, AllOf(HasSubstr("adapters/old: bears no mark"),
                          HasSubstr("adapters/theirs: belongs to the entitystore with the database " + other_id),
                          EndsWith("0 adapters, 0 faults\n"), Not(HasSubstr("1 faults"))));
}

}  // namespace
}  // namespace stackgate::entitystore
