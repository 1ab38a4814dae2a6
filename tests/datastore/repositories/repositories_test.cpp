#include "services/datastore/repositories/repositories.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/datastore/accounts/accounts.hpp"
#include "services/datastore/migrations.hpp"
#include "tests/kit/sql/engines.hpp"

namespace stackgate::datastore {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using Fault = ServiceFault;

class RepositoriesOnBoth : public sql::test::OnBothEngines {
 protected:
  void SetUp() override {
    OnBothEngines::SetUp();
    if (IsSkipped()) return;
    std::vector<sql::Migration> steps;
    for (const auto part : {account_migrations(), repository_migrations()})
      steps.insert(steps.end(), part.begin(), part.end());
    auto done = sql::migrate(*database_, steps);
    ASSERT_TRUE(done) << done.error().message;
    data_ = folder_ / "data";
    fs::create_directories(data_);
    repositories_ = std::make_unique<Repositories>(*database_, data_);
    Accounts accounts(*database_, {});
    ann_ = accounts.create_user("Ann", "", false)->id;
    bob_ = accounts.create_user("Bob", "", false)->id;
    team_ = accounts.create_organization("Team", ann_)->id;
  }
  std::int64_t made(const std::string& name, bool is_private = false) {
    auto out = repositories_->create({.owner_id = ann_, .name = name, .is_private = is_private});
    EXPECT_TRUE(out) << out.error().message;
    return out ? out->id : 0;
  }
  std::vector<std::string> names(const Identity& viewer, const RepositoryFilter& filter = {}) {
    std::vector<std::string> out;
    auto page = repositories_->list(viewer, filter);
    EXPECT_TRUE(page) << page.error().message;
    if (page)
      for (const auto& each : page->items) out.push_back(each.full_name());
    return out;
  }
  static void make_old(const std::string& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }

  std::string data_;
  std::unique_ptr<Repositories> repositories_;
  std::int64_t ann_ = 0, bob_ = 0, team_ = 0;
};
ON_BOTH_ENGINES(RepositoriesOnBoth);

TEST_P(RepositoriesOnBoth, ARepositoryIsMadeWithItsFolderAndFoundInAnyCaseWithOrWithoutGit) {
  const auto id = made("First");
  EXPECT_TRUE(fs::exists(repositories_->path(id) + "/HEAD"));
  EXPECT_EQ(repositories_->path(id), data_ + "/repositories/0/" + std::to_string(id) + ".git");
  for (const char* name : {"First", "first", "FIRST.git"}) {
    auto found = repositories_->find("ann", name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->full_name(), "Ann/First");
  }
  EXPECT_EQ(repositories_->find("ann", "second").error().fault, Fault::missing);
}

TEST_P(RepositoriesOnBoth, ANameThatIsNoTextIsTheCallersFault) {
  for (const std::string_view name : {std::string_view("a\0b", 3), std::string_view("\xc0\xae")})
    EXPECT_EQ(repositories_->find("ann", name).error().fault, ServiceFault::invalid);
}

TEST_P(RepositoriesOnBoth, ANameIsTakenOnceWithoutCase) {
  made("first");
  auto again = repositories_->create({.owner_id = ann_, .name = "FIRST"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().fault, Fault::exists);
  EXPECT_TRUE(repositories_->create({.owner_id = bob_, .name = "first"}));
  EXPECT_EQ(repositories_->create({.owner_id = ann_, .name = "a b"}).error().fault, Fault::invalid);
  EXPECT_EQ(repositories_->create({.owner_id = 999, .name = "x"}).error().fault, Fault::missing);
}

TEST_P(RepositoriesOnBoth, OfManyWhoMakeTheSameNameAtOnceOneWinsAndNoFolderStays) {
  std::atomic<int> won = 0, lost = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&] {
        auto out = repositories_->create({.owner_id = ann_, .name = "race"});
        if (out) ++won;
        if (!out && out.error().fault == Fault::exists) ++lost;
      });
  }
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, 5);
  EXPECT_EQ(std::distance(fs::directory_iterator(data_ + "/repositories/0"), fs::directory_iterator{}), 1);
}

TEST_P(RepositoriesOnBoth, AFolderThatARestoredDatabaseForgotIsPassedOver) {
  const auto id = made("first");
  must("DELETE FROM repositories");
  must("UPDATE repository_ids SET last = 0");
  EXPECT_EQ(made("second"), id + 1);
}

TEST_P(RepositoriesOnBoth, ARenamedRepositoryAnswersUnderItsFormerNameUntilSomebodyTakesIt) {
  const auto id = made("old");
  auto renamed = repositories_->update(id, {.name = "new"});
  ASSERT_TRUE(renamed) << renamed.error().message;
  EXPECT_EQ(repositories_->find("ann", "old")->full_name(), "Ann/new");
  auto moved = repositories_->update(id, {.owner_id = team_});
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->full_name(), "Team/new");
  EXPECT_EQ(moved->steward_id, ann_);
  EXPECT_EQ(repositories_->find("ann", "old")->full_name(), "Team/new");
  EXPECT_EQ(repositories_->find("ann", "new")->full_name(), "Team/new");
  const auto other = made("old");
  EXPECT_EQ(repositories_->find("ann", "old")->id, other);
  EXPECT_EQ(repositories_->update(id, {.name = "OLD", .owner_id = ann_}).error().fault, Fault::exists);
}

TEST_P(RepositoriesOnBoth, ARenameBackTakesItsOwnRedirect) {
  const auto id = made("old");
  ASSERT_TRUE(repositories_->update(id, {.name = "new"}));
  ASSERT_TRUE(repositories_->update(id, {.name = "old"}));
  EXPECT_EQ(repositories_->find("ann", "old")->id, id);
  EXPECT_EQ(repositories_->find("ann", "new")->full_name(), "Ann/old");
}

TEST_P(RepositoriesOnBoth, OnlyWhatTheViewerMaySeeIsListed) {
  made("open");
  made("closed", true);
  ASSERT_TRUE(repositories_->create({.owner_id = team_, .name = "plans", .is_private = true}));
  EXPECT_THAT(names({}), ElementsAre("Ann/open"));
  EXPECT_THAT(names({.account = bob_, .name = "Bob"}), ElementsAre("Ann/open"));
  EXPECT_THAT(names({.account = ann_, .name = "Ann"}), ElementsAre("Ann/closed", "Ann/open", "Team/plans"));
  EXPECT_THAT(names({.account = bob_, .name = "Bob", .admin = true}),
              ElementsAre("Ann/closed", "Ann/open", "Team/plans"));
}

TEST_P(RepositoriesOnBoth, ListsAreFilteredSortedAndPaged) {
  const Identity ann{.account = ann_, .name = "Ann"};
  for (const char* name : {"b", "a", "c_x", "cyx"}) made(name);
  ASSERT_TRUE(repositories_->create(
      {.owner_id = bob_, .name = "d", .type = RepositoryType::dataset, .description = "Weather"}));
  EXPECT_THAT(names(ann, {.search = "C_X"}), ElementsAre("Ann/c_x"));
  EXPECT_THAT(names(ann, {.search = "weather"}), ElementsAre("Bob/d"));
  EXPECT_THAT(names(ann, {.search = "bob/"}), ElementsAre("Bob/d"));
  EXPECT_THAT(names(ann, {.owner = "ANN", .order = RepositoryOrder::id, .limit = 2}), ElementsAre("Ann/b", "Ann/a"));
  EXPECT_THAT(names(ann, {.descending = true, .skip = 1, .limit = 2}), ElementsAre("Ann/cyx", "Ann/c_x"));
  EXPECT_THAT(names(ann, {.type = RepositoryType::model, .untyped_too = false}), ElementsAre());
  EXPECT_EQ(names(ann, {.type = RepositoryType::model}).size(), 4U);
  EXPECT_EQ(repositories_->list(ann, {.limit = 1})->total, 5U);
}

TEST_P(RepositoriesOnBoth, ADeletedRepositoryIsGoneAndItsFolderInTheTrash) {
  const auto id = made("first");
  ASSERT_TRUE(repositories_->update(id, {.name = "second"}));
  ASSERT_TRUE(repositories_->remove(id));
  EXPECT_EQ(repositories_->find("ann", "second").error().fault, Fault::missing);
  EXPECT_EQ(repositories_->find("ann", "first").error().fault, Fault::missing);
  EXPECT_FALSE(fs::exists(repositories_->path(id)));
  EXPECT_EQ(std::distance(fs::directory_iterator(data_ + "/trash"), fs::directory_iterator{}), 1);
  EXPECT_EQ(repositories_->remove(id).error().fault, Fault::missing);
  EXPECT_NE(made("second"), id);
}

TEST_P(RepositoriesOnBoth, TheSweepTakesOldOrphansOnlyAndEmptiesTheTrash) {
  const auto kept = made("kept"), orphan = made("orphan"), fresh = made("fresh");
  must("DELETE FROM repositories WHERE id <> $1", {kept});
  for (const auto id : {kept, orphan}) make_old(repositories_->path(id));
  fs::create_directories(data_ + "/trash/deleted-1000-7.git");
  fs::create_directories(data_ + "/trash/not ours");
  auto swept = repositories_->sweep();
  ASSERT_TRUE(swept) << swept.error().message;
  EXPECT_EQ(swept->orphans, 1U);
  EXPECT_EQ(swept->trash, 1U);
  EXPECT_TRUE(fs::exists(repositories_->path(kept)));
  EXPECT_FALSE(fs::exists(repositories_->path(orphan)));
  EXPECT_TRUE(fs::exists(repositories_->path(fresh)));
  EXPECT_TRUE(fs::exists(data_ + "/trash/not ours"));
  EXPECT_EQ(swept->measured, 1U);
  EXPECT_EQ(repositories_->sweep()->measured, 0U);
}

TEST_P(RepositoriesOnBoth, NothingIsSweptWhenTheDatabaseIsOfAnotherVolume) {
  const auto id = made("first");
  make_old(repositories_->path(id));
  must("DELETE FROM repositories");
  must("UPDATE repository_ids SET last = 0");
  EXPECT_FALSE(repositories_->sweep());
  EXPECT_TRUE(fs::exists(repositories_->path(id)));
}

}  // namespace
}  // namespace stackgate::datastore
