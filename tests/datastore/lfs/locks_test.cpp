#include "services/datastore/lfs/locks.hpp"

#include <gmock/gmock.h>

#include "tests/datastore/lfs/files_support.hpp"

namespace stackgate::datastore::lfs {
namespace {

class Locks : public Files {
 protected:
  Lock take(std::int64_t repository, const std::string& path, std::int64_t owner = 5) {
    auto taken = take_lock(*database, {.repository = repository, .owner = owner, .path = path, .owner_name = "ada"});
    EXPECT_TRUE(taken && taken->fresh);
    return taken->lock;
  }
};

TEST_P(Locks, AreTakenOnce) {
  const Lock first = take(1, "a.bin");
  const auto second = take_lock(*database, {.repository = 1, .owner = 6, .path = "a.bin", .owner_name = "bob"});
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->fresh);
  EXPECT_EQ(second->lock.id, first.id);
  EXPECT_EQ(second->lock.owner_name, "ada");
  take(2, "a.bin");
}

TEST_P(Locks, ComeInPagesByAge) {
  std::vector<std::string> taken;
  for (int i = 0; i < 5; ++i) taken.push_back(take(1, "f" + std::to_string(i)).id);
  std::ranges::sort(taken);
  std::vector<std::string> seen;
  LockFilter filter{.limit = 2};
  do {
    const auto page = list_locks(*database, 1, filter);
    ASSERT_TRUE(page);
    EXPECT_LE(page->locks.size(), 2U);
    for (const Lock& lock : page->locks) seen.push_back(lock.id);
    filter.cursor = page->next;
  } while (!filter.cursor.empty());
  EXPECT_EQ(seen, taken);
}

TEST_P(Locks, AreFoundByPathAndId) {
  const Lock lock = take(1, "dir/a b.bin");
  take(1, "other");
  EXPECT_EQ(list_locks(*database, 1, {.path = "dir/a b.bin"})->locks.at(0).id, lock.id);
  EXPECT_EQ(list_locks(*database, 1, {.id = lock.id})->locks.size(), 1U);
  EXPECT_EQ(list_locks(*database, 1, {.path = "none"})->locks.size(), 0U);
  EXPECT_EQ((*find_lock(*database, 1, lock.id))->path, "dir/a b.bin");
  EXPECT_EQ(*find_lock(*database, 2, lock.id), std::nullopt) << "another repository's";
  EXPECT_EQ(*find_lock(*database, 1, ""), std::nullopt);
}

TEST_P(Locks, AreDroppedOnce) {
  const Lock lock = take(1, "a");
  EXPECT_FALSE(*drop_lock(*database, 2, lock.id));
  EXPECT_TRUE(*drop_lock(*database, 1, lock.id));
  EXPECT_FALSE(*drop_lock(*database, 1, lock.id));
  take(1, "a");
}

TEST(LockJson, IsWhatGitLfsReads) {
  EXPECT_EQ(
      to_json(Lock{.id = "1", .path = "a\"b", .owner = 1, .owner_name = "ada", .locked_at = "2026-01-01T00:00:00Z"}),
      R"({"id":"1","path":"a\"b","locked_at":"2026-01-01T00:00:00Z","owner":{"name":"ada"}})");
}

INSTANTIATE_TEST_SUITE_P(On, Locks, both_engines, engine_name);

}  // namespace
}  // namespace stackgate::datastore::lfs
