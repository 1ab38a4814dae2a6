#include "services/entitystore/adapters/catalogue.hpp"

#include <gmock/gmock.h>

#include "services/entitystore/adapters/access_log.hpp"
#include "services/entitystore/adapters/rows.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::entitystore {
namespace {

using testing::ElementsAre;

class Rows : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = sql::Database::open("sqlite:" + dir_ / "test.db", "");
    ASSERT_TRUE(opened) << opened.error();
    database_ = std::move(*opened);
    const auto migrated = sql::migrate(*database_, migrations());
    ASSERT_TRUE(migrated) << migrated.error().message;
  }
  Record record(std::string id, std::string name, std::string version) {
    Record r;
    r.id = std::move(id);
    r.name = std::move(name);
    r.version = std::move(version);
    r.base_model = "m";
    r.created_at = r.updated_at = timestamp();
    r.repository = "adapters/default--" + r.name;
    r.archive_sha256 = "00";
    r.lora.target_modules = {"q_proj"};
    r.tags = {"t"};
    r.hyperparameters = R"({"epochs":3})";
    return r;
  }
  Inserted::Outcome insert(const Record& r, const Lease& lease = {"me", 60}) {
    auto done = insert_adapter(*database_, r, {{"adapter_config.json", 2, "11", false}}, lease);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return done ? done->outcome : Inserted::Outcome::exists;
  }
  std::vector<std::string> ids(const Catalogue& catalogue) {
    std::vector<std::string> out;
    for (const auto& row : catalogue.snapshot()->all()) out.push_back(row->record.id);
    return out;
  }

  test::TempDir dir_;
  std::unique_ptr<sql::Database> database_;
};

TEST_F(Rows, ARepositoryIsKnownWhenItWasMadeHereOrHoldsSomethingOfOurs) {
  const auto known = [&](std::string_view repository) {
    const auto answer = is_known(*database_, repository);
    EXPECT_TRUE(answer);
    return answer && *answer;
  };
  EXPECT_FALSE(known("adapters/default--bot"));
  insert(record("a", "bot", "1.0.0"));
  EXPECT_FALSE(known("adapters/default--bot")) << "an upload that has only been accepted put nothing there";
  ASSERT_TRUE(note_step(*database_, "a", "stored", "", {"me", 60}).value_or(false));
  EXPECT_TRUE(known("Adapters/default--BOT"));
  ASSERT_TRUE(set_purged(*database_, "a"));
  EXPECT_FALSE(known("adapters/default--bot"));
  ASSERT_TRUE(note_made(*database_, "adapters/default--Bot"));
  ASSERT_TRUE(note_made(*database_, "adapters/default--bot"));
  EXPECT_TRUE(known("adapters/default--bot"));
  ASSERT_TRUE(forget_made(*database_, "adapters/default--BOT"));
  EXPECT_FALSE(known("adapters/default--bot"));
}

TEST_F(Rows, ComeBackAsTheyWentIn) {
  Record r = record("a", "bot", "1.0.0");
  r.lora = {.rank = 8, .alpha = 0.5, .dropout = 0.1, .target_modules = {"q", "k"}};
  r.notes = {"a note with \"quotes\""};
  r.metrics = R"({"loss":0.1})";
  insert(r);
  const auto rows = read_changed(*database_, -1);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1U);
  const Record& back = rows->front();
  EXPECT_EQ(back.lora.alpha, 0.5);
  EXPECT_EQ(back.lora.target_modules, r.lora.target_modules);
  EXPECT_EQ(back.notes, r.notes);
  EXPECT_EQ(back.metrics, r.metrics);
  EXPECT_EQ(back.hyperparameters, r.hyperparameters);
  EXPECT_EQ(back.status, Status::uploading);
  EXPECT_EQ(read_files(*database_, "a")->size(), 1U);
}

TEST_F(Rows, AVersionExistsOnceUnlessItFailedOrIsDeleted) {
  EXPECT_EQ(insert(record("a", "bot", "1.0.0")), Inserted::Outcome::inserted);
  EXPECT_EQ(insert(record("b", "BOT", "1.0.0")), Inserted::Outcome::exists);
  EXPECT_EQ(insert(record("c", "bot", "1.0.1")), Inserted::Outcome::inserted);
  ASSERT_TRUE(move_status(*database_, "a", Status::uploading, Status::failed, "why").value());
  EXPECT_EQ(insert(record("d", "bot", "1.0.0")), Inserted::Outcome::inserted);
  ASSERT_TRUE(mark_deleted(*database_, "d").value());
  EXPECT_FALSE(mark_deleted(*database_, "d").value());
  EXPECT_EQ(insert(record("e", "bot", "1.0.0")), Inserted::Outcome::inserted);
  const auto left = read_unpurged(*database_);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->size(), 2U);  // a, d
}

TEST_F(Rows, StatusesMoveOnlyFromWhereTheyAre) {
  insert(record("a", "bot", "1.0.0"));
  EXPECT_FALSE(move_status(*database_, "a", Status::pending, Status::ready, "").value());
  EXPECT_TRUE(move_status(*database_, "a", Status::uploading, Status::ready, "").value());
  EXPECT_FALSE(note_step(*database_, "a", "committed", "", {"me", 60}).value());  // not uploading any more
}

TEST_F(Rows, AreTakenOverOnlyWhenTheirLeaseHasRunOut) {
  insert(record("a", "bot", "1.0.0"), {"other", 60});
  insert(record("b", "bot", "1.0.1"), {"other", -5});
  const auto works = read_uploading(*database_);
  ASSERT_TRUE(works);
  ASSERT_EQ(works->size(), 2U);
  for (const Work& work : *works) {
    const bool stale = work.record.id == "b";
    EXPECT_EQ(take_over(*database_, work, {"me", 60}).value(), stale);
    EXPECT_FALSE(take_over(*database_, work, {"third", 60}).value());
    EXPECT_EQ(note_step(*database_, work.record.id, "accepted", "", {"other", 60}).value(), !stale);
  }
}

TEST_F(Rows, ALeaseIsRenewedByItsOwnerOnly) {
  insert(record("a", "bot", "1.0.0"), {"other", -5});
  ASSERT_TRUE(renew_lease(*database_, "a", {"me", 60}));
  const std::int64_t before = read_work(*database_, "a").value()->lease_until;
  ASSERT_TRUE(renew_lease(*database_, "a", {"other", 60}));
  EXPECT_GT(read_work(*database_, "a").value()->lease_until, before + 50);
}

TEST_F(Rows, ARepositoryHasOneWorkerAtATime) {
  EXPECT_TRUE(lease_repository(*database_, "adapters/x", {"a", 60}).value());
  EXPECT_FALSE(lease_repository(*database_, "adapters/X", {"b", 60}).value());
  ASSERT_TRUE(release_repository(*database_, "adapters/x", {"b", 60}));
  EXPECT_FALSE(lease_repository(*database_, "adapters/x", {"b", 60}).value());
  ASSERT_TRUE(release_repository(*database_, "adapters/x", {"a", 60}));
  EXPECT_TRUE(lease_repository(*database_, "adapters/x", {"b", -5}).value());
  EXPECT_TRUE(lease_repository(*database_, "adapters/x", {"c", 60}).value());
}

TEST_F(Rows, TellWhoStillNeedsARepository) {
  insert(record("a", "bot", "1.0.0"));
  EXPECT_FALSE(usage_of(*database_, record("a", "bot", "1.0.0"))->repository);
  insert(record("b", "bot", "1.0.1"));
  const auto needed = usage_of(*database_, record("a", "bot", "1.0.0"));
  EXPECT_TRUE(needed->repository);
  EXPECT_FALSE(needed->version);
  EXPECT_TRUE(usage_of(*database_, record("z", "bot", "1.0.1"))->version);
}

TEST_F(Rows, ACatalogueFollowsTheChangesOfAnotherReplica) {
  Catalogue one(*database_), two(*database_);
  insert(record("a", "bot", "1.0.0"));
  insert(record("b", "bot", "1.0.1"));
  ASSERT_TRUE(one.refresh());
  ASSERT_TRUE(two.refresh());
  const auto before = two.snapshot();
  EXPECT_THAT(ids(two), ElementsAre("a", "b"));
  ASSERT_TRUE(two.refresh());
  EXPECT_EQ(two.snapshot(), before);  // nothing changed: the same object
  ASSERT_TRUE(move_status(*database_, "a", Status::uploading, Status::ready, "").value());
  ASSERT_TRUE(mark_deleted(*database_, "b").value());
  insert(record("c", "art", "1.0.0"));
  ASSERT_TRUE(two.refresh());
  EXPECT_THAT(ids(two), ElementsAre("a", "c"));
  EXPECT_EQ(two.snapshot()->find("a")->record.status, Status::ready);
  EXPECT_EQ(two.snapshot()->find("b"), nullptr);
  EXPECT_THAT(ids(one), ElementsAre("a", "b"));
  EXPECT_EQ(before->find("a")->record.status, Status::uploading);
}

TEST_F(Rows, ACatalogueStartsAnewWhenTheCounterRunsBackwards) {
  Catalogue catalogue(*database_);
  insert(record("a", "bot", "1.0.0"));
  insert(record("b", "bot", "1.0.1"));
  ASSERT_TRUE(catalogue.refresh());
  ASSERT_TRUE(database_->run("UPDATE change_counter SET value = 1"));
  ASSERT_TRUE(database_->run("DELETE FROM adapter_file WHERE adapter_id = 'b'"));
  ASSERT_TRUE(database_->run("DELETE FROM provenance WHERE adapter_id = 'b'"));
  ASSERT_TRUE(database_->run("DELETE FROM adapter WHERE id = 'b'"));
  ASSERT_TRUE(catalogue.refresh());
  EXPECT_THAT(ids(catalogue), ElementsAre("a"));
}

TEST_F(Rows, AnswersAreRememberedForOneState) {
  Catalogue catalogue(*database_);
  ASSERT_TRUE(catalogue.refresh());
  auto answer = std::make_shared<Snapshot::Answer>();
  answer->etag = "x";
  answer->body = std::make_shared<std::string>(5U << 20U, 'x');
  catalogue.snapshot()->remember("q", answer);
  ASSERT_NE(catalogue.snapshot()->remembered("q"), nullptr);
  EXPECT_EQ(catalogue.snapshot()->remembered("q")->body, nullptr);  // too large to be kept
  insert(record("a", "bot", "1.0.0"));
  ASSERT_TRUE(catalogue.refresh());
  EXPECT_EQ(catalogue.snapshot()->remembered("q"), nullptr);
}

TEST_F(Rows, TheAccessLogIsWrittenInBatchesAndReadNewestFirst) {
  metrics::Registry registry;
  {
    AccessLog log(*database_, registry);
    for (int i = 0; i < 250; ++i)
      log.note({.adapter = "a", .at = timestamp(), .actor = "me", .action = "read", .bytes = std::uint64_t(i)});
    log.note({.adapter = "b", .at = timestamp(), .actor = "me", .action = "read"});
    ASSERT_TRUE(log.flush());
    const auto page = AccessLog::read(*database_, "a", 1, 2);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->total, 250U);
    ASSERT_EQ(page->rows.size(), 2U);
    EXPECT_EQ(page->rows[0].bytes, 248U);
    log.note({.adapter = "b", .at = timestamp(), .actor = "me", .action = "delete"});
  }
  EXPECT_EQ(AccessLog::read(*database_, "b", 0, 10)->total, 2U);  // what waited at the end was written
  EXPECT_EQ(AccessLog::forget(*database_, "9").value(), 252);
}

TEST_F(Rows, ASharedSettingIsDecidedByTheFirst) {
  EXPECT_EQ(shared_setting(*database_, "key", "one").value(), "one");
  EXPECT_EQ(shared_setting(*database_, "key", "two").value(), "one");
}

}  // namespace
}  // namespace stackgate::entitystore
