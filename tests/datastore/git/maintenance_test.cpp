#include "services/datastore/git/maintenance.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "services/datastore/git/lfs_pointer.hpp"
#include "services/datastore/git/push.hpp"
#include "tests/datastore/git/real_git_support.hpp"

namespace stackgate::datastore::git::test {
namespace {

TEST(Maintenance, PacksManyPacksTogetherWhileReadersKeepReading) {
  const Fresh fresh;
  const Oid first = commit_files(fresh.path, {{"f0", "0"}});
  auto reader = Repository::open(fresh.path);
  ASSERT_TRUE(reader);
  for (int i = 1; i < 25; ++i) commit_files(fresh.path, {{"f" + std::to_string(i), std::to_string(i)}});
  ASSERT_EQ((*reader)->tree(first, "", {})->size(), 1U);
  EXPECT_TRUE(maintain(fresh.path, Upkeep::when_needed).value_or(false));
  EXPECT_LT(std::stoi(shell("ls '" + fresh.path + "/objects/pack' | grep -c 'pack$'")), 5);
  const auto tip = (*reader)->resolve("main");
  ASSERT_TRUE(tip);
  EXPECT_EQ((*reader)->tree(*tip, "", {})->size(), 25U);
  EXPECT_FALSE(maintain(fresh.path, Upkeep::when_needed).value_or(true));
  EXPECT_TRUE(maintain(fresh.path, Upkeep::thorough).value_or(false));
  EXPECT_EQ((*reader)->count_commits(*tip, 100).value_or(0), 25U);
  EXPECT_TRUE(fsck(fresh.path)->empty());
  EXPECT_GT(disk_size(fresh.path).value_or(0), 1000U);
}

TEST(Maintenance, RemovesWhatKilledProcessesLeft) {
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "1"}});
  shell("cd '" + fresh.path +
        "' && mkdir objects/tmp_objdir-incoming-x && touch objects/tmp_objdir-incoming-x/y objects/pack/tmp_pack_z && "
        "touch -d '2 days ago' objects/tmp_objdir-incoming-x objects/pack/tmp_pack_z && touch "
        "objects/pack/tmp_pack_young refs/heads/main.lock");
  EXPECT_TRUE(maintain(fresh.path, Upkeep::when_needed).value_or(false));
  EXPECT_EQ(shell("cd '" + fresh.path + "' && find . -name 'tmp_*' -o -name '*.lock'"),
            "./objects/pack/tmp_pack_young\n");
}

TEST(Maintenance, LeavesTheLocksOfLivingWriters) {
  const Fresh fresh;
  const auto writer = WriterLock::share(fresh.path);
  ASSERT_TRUE(writer);
  shell("touch '" + fresh.path + "/refs/heads/main.lock'");
  EXPECT_FALSE(maintain(fresh.path, Upkeep::when_needed).value_or(true));
  EXPECT_EQ(shell("ls '" + fresh.path + "/refs/heads'"), "main.lock\n");
}

TEST(Fsck, NamesWhatIsBroken) {
  const Fresh fresh;
  EXPECT_TRUE(fsck(fresh.path)->empty());
  commit_files(fresh.path, {{"a", "1"}});
  EXPECT_TRUE(fsck(fresh.path)->empty());
  shell("chmod u+w '" + fresh.path + "'/objects/pack/*.pack && printf xxxx | dd of=$(ls '" + fresh.path +
        "'/objects/pack/*.pack) bs=1 seek=20 conv=notrunc 2>/dev/null");
  EXPECT_FALSE(fsck(fresh.path)->empty());
}

TEST(LfsPointers, AreFoundWhereverTheyAre) {
  const Fresh fresh;
  commit_files(fresh.path, {{"a", format_lfs_pointer(std::string(64, 'a'), 1)}, {"b", "no pointer"}});
  commit_files(fresh.path, {{"a", format_lfs_pointer(std::string(64, 'b'), 2)}});
  std::string found;
  ASSERT_TRUE(each_lfs_pointer(fresh.path, [&](const LfsPointer& each) { found += each.oid[0]; }));
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, "ab");
}

TEST(Pushes, SettleTheDefaultBranchOfAnEmptyRepository) {
  const Fresh fresh("main");
  const Oid tip = commit_files(fresh.path, {{"a", "1"}}, "trunk");
  const std::string zero(40, '0');
  const Pushed pushed = settle_push(fresh.path, {{zero, tip, "refs/heads/trunk"}, {zero, tip, "refs/heads/refused"}});
  EXPECT_EQ(pushed.moved, 1U);
  EXPECT_EQ(pushed.new_default, "trunk");
  EXPECT_EQ(shell_git(fresh.path, "symbolic-ref HEAD"), "refs/heads/trunk");
  EXPECT_EQ(settle_push(fresh.path, {{zero, tip, "refs/heads/trunk"}}).new_default, "");
}

}  // namespace
}  // namespace stackgate::datastore::git::test
