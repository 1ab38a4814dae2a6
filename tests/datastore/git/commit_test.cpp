#include <thread>

#include <gtest/gtest.h>

#include "services/datastore/git/objects.hpp"
#include "tests/datastore/git/real_git_support.hpp"

namespace stackgate::datastore::git::test {
namespace {

const Signature ann{"Ann", "ann@example.org", 1'700'000'000, -330};

Expected<Committed> change(const Fresh& fresh, const std::vector<Change>& changes,
                           CommitRequest request = {"main", "m", ann, ann}) {
  return commit_changes(fresh.path, request, changes);
}

TEST(Commits, AreGoodForGitItself) {
  const Fresh fresh;
  const auto first = change(fresh, {{Change::Kind::put, "a.txt", "one\n"},
                                    {Change::Kind::put, "d/e/f.txt", "two\n"},
                                    {Change::Kind::put, "d.txt", "three"},
                                    {Change::Kind::put, "d0", ""}});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->changed);
  EXPECT_EQ(first->before, "");
  EXPECT_EQ(shell_git(fresh.path, "fsck --full --strict 2>&1"), "");
  EXPECT_EQ(shell_git(fresh.path, "rev-parse main"), first->oid);
  EXPECT_EQ(shell_git(fresh.path, "ls-tree -r --name-only main"), "a.txt\nd.txt\nd/e/f.txt\nd0");
  EXPECT_EQ(shell_git(fresh.path, "cat-file blob main:d/e/f.txt"), "two");
  EXPECT_EQ(shell_git(fresh.path, "log -1 --format='%an|%ae|%ai|%s' main"),
            "Ann|ann@example.org|2023-11-14 16:43:20 -0530|m");
}

TEST(Commits, HaveTheTreeThatGitWouldMake) {
  const Fresh fresh;
  std::vector<Change> changes;
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i * 7919 % 1000);
    changes.push_back({Change::Kind::put, i % 3 == 0 ? n : i % 3 == 1 ? "d" + n + "/x" : "d/" + n + ".txt", n});
  }
  ASSERT_TRUE(change(fresh, changes));
  shell(
      "cd '" + fresh.path +
      "' && export GIT_INDEX_FILE=idx && git read-tree main && test $(git write-tree) = $(git rev-parse main^{tree})");
}

TEST(Commits, ReplaceRemoveAndKeepWhatTheyDoNotTouch) {
  const Fresh fresh;
  commit_files(fresh.path,
               {{"keep/a", "1"}, {"gone", "2"}, {"dir/x", "3"}, {"dir/y", "4"}, {"last/only", "5"}, {"f", "6"}});
  const auto second = change(fresh, {{Change::Kind::remove, "gone"},
                                     {Change::Kind::remove_folder, "dir"},
                                     {Change::Kind::remove, "last/only"},
                                     {Change::Kind::remove, "f"},
                                     {Change::Kind::put, "f/g", "7"},
                                     {Change::Kind::put, "dir/z", "8"}});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(shell_git(fresh.path, "ls-tree -r --name-only main"), "dir/z\nf/g\nkeep/a");
  EXPECT_EQ(shell_git(fresh.path, "fsck --full --strict 2>&1"), "");
}

TEST(Commits, RefuseToPutAFileWhereAFolderIsOrBelowAFile) {
  const Fresh fresh;
  const Oid tip = commit_files(fresh.path, {{"README.md", "1"}, {"d/x", "2"}, {"d/e/y", "3"}});
  struct Case {
    std::vector<Change> changes;
    const char* named;
  };
  for (const Case& each : std::vector<Case>{
           {{{Change::Kind::put, "d", "4"}}, "\"d\" is a folder and would become a file"},
           {{{Change::Kind::put, "d/e", "4"}}, "\"d/e\" is a folder and would become a file"},
           {{{Change::Kind::remove, "d/x"}, {Change::Kind::put, "d", "4"}}, "\"d\" is a folder"},
           {{{Change::Kind::put, "README.md/a/b", "4"}}, "\"README.md\" is a file and would become a folder"},
           {{{Change::Kind::put, "d/x/y", "4"}}, "\"d/x\" is a file and would become a folder"}}) {
    const auto done = change(fresh, each.changes);
    ASSERT_FALSE(done) << each.named;
    EXPECT_EQ(done.error().fault, Fault::invalid);
    EXPECT_NE(done.error().message.find(each.named), std::string::npos) << done.error().message;
    EXPECT_EQ(shell_git(fresh.path, "rev-parse main"), tip);
  }
}

TEST(Commits, TurnAFileIntoAFolderAndBackWhenTheyDeleteWhatIsInTheWay) {
  struct Case {
    std::vector<Change> changes;
    const char* tree;
  };
  for (const Case& each : std::vector<Case>{
           {{{Change::Kind::remove_folder, "d"}, {Change::Kind::put, "d", "4"}}, "README.md\nd"},
           {{{Change::Kind::put, "d", "4"}, {Change::Kind::remove_folder, "d"}}, "README.md\nd"},
           {{{Change::Kind::remove, "d/x"}, {Change::Kind::put, "d", "4"}, {Change::Kind::remove, "d/e/y"}},
            "README.md\nd"},
           {{{Change::Kind::remove, "README.md"}, {Change::Kind::put, "README.md/a", "4"}}, "README.md/a\nd/e/y\nd/x"},
           {{{Change::Kind::put, "README.md/a", "4"}, {Change::Kind::remove, "README.md"}},
            "README.md/a\nd/e/y\nd/x"}}) {
    const Fresh fresh;
    commit_files(fresh.path, {{"README.md", "1"}, {"d/x", "2"}, {"d/e/y", "3"}});
    const auto done = change(fresh, each.changes);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(shell_git(fresh.path, "ls-tree -r --name-only main"), each.tree);
    EXPECT_EQ(shell_git(fresh.path, "fsck --full --strict 2>&1"), "");
  }
}

TEST(Commits, MayEmptyTheRepository) {
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "1"}});
  ASSERT_TRUE(change(fresh, {{Change::Kind::remove, "a"}}));
  EXPECT_EQ(shell_git(fresh.path, "rev-parse main^{tree}"), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
}

TEST(Commits, ThatChangeNothingAreTheTip) {
  const Fresh fresh;
  const Oid tip = commit_files(fresh.path, {{"a", "1"}});
  const auto same = change(fresh, {{Change::Kind::put, "a", "1"}});
  ASSERT_TRUE(same);
  EXPECT_FALSE(same->changed);
  EXPECT_EQ(same->oid, tip);
  const auto forced =
      change(fresh, {}, {.branch = "main", .message = "empty", .author = ann, .committer = ann, .allow_empty = true});
  ASSERT_TRUE(forced);
  EXPECT_NE(forced->oid, tip);
}

TEST(Commits, KeepTheExecutableBit) {
  const Fresh fresh;
  shell("cd '" + fresh.path +
        "' && b=$(echo hi | git hash-object -w --stdin) && t=$(printf '100755 blob %s\\trun\\n' $b | git mktree) && "
        "c=$(git commit-tree -m x $t) && git update-ref refs/heads/main $c");
  ASSERT_TRUE(change(fresh, {{Change::Kind::put, "run", "new"}}));
  EXPECT_EQ(shell_git(fresh.path, "ls-tree main").substr(0, 6), "100755");
}

TEST(Commits, SayWhatIsNotThereToDelete) {
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "1"}, {"d/x", "2"}});
  for (const Change& each : std::vector<Change>{{Change::Kind::remove, "b"},
                                                {Change::Kind::remove, "d"},
                                                {Change::Kind::remove_folder, "a"},
                                                {Change::Kind::remove, "d/y"}}) {
    const auto done = change(fresh, {each});
    ASSERT_FALSE(done) << each.path;
    EXPECT_EQ(done.error().fault, Fault::missing);
    EXPECT_NE(done.error().message.find(each.path), std::string::npos);
  }
}

TEST(Commits, RefuseBadPathsAndContradictions) {
  const Fresh fresh;
  for (const auto& list :
       std::vector<std::vector<Change>>{{{Change::Kind::put, "../x", "1"}},
                                        {{Change::Kind::put, "a/.GIT/config", "1"}},
                                        {{Change::Kind::put, "a", "1"}, {Change::Kind::put, "a/b", "2"}},
                                        {{Change::Kind::put, "a/b", "1"}, {Change::Kind::put, "a", "2"}}}) {
    const auto done = change(fresh, list);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, Fault::invalid) << done.error().message;
  }
  EXPECT_EQ(shell("ls '" + fresh.path + "/objects/pack'"), "");
}

TEST(Commits, OnARepositoryThatIsGoneAreTheServersFault) {
  const Fresh fresh;
  shell("rm -rf '" + fresh.path + "'");
  const auto put = change(fresh, {{Change::Kind::put, "a", "1"}});
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().fault, Fault::broken) << put.error().message;
  EXPECT_NE(put.error().message.find(fresh.path), std::string::npos);
  const auto removal = change(fresh, {{Change::Kind::remove, "a"}});
  ASSERT_FALSE(removal);
  EXPECT_EQ(removal.error().fault, Fault::broken) << removal.error().message;
}

TEST(Commits, OnAStaleParentConflict) {
  const Fresh fresh;
  const Oid first = commit_files(fresh.path, {{"a", "1"}});
  commit_files(fresh.path, {{"a", "2"}});
  const auto late = change(fresh, {{Change::Kind::put, "a", "3"}},
                           {.branch = "main", .message = "m", .author = ann, .committer = ann, .parent = first});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().fault, Fault::conflict);
  EXPECT_NE(late.error().message.find(first), std::string::npos);
}

TEST(Commits, StartABranchFromItsParent) {
  const Fresh fresh;
  const Oid first = commit_files(fresh.path, {{"a", "1"}});
  const auto branched = change(fresh, {{Change::Kind::put, "b", "2"}},
                               {.branch = "x/y", .message = "m", .author = ann, .committer = ann, .parent = first});
  ASSERT_TRUE(branched) << branched.error().message;
  EXPECT_EQ(shell_git(fresh.path, "rev-parse x/y^"), first);
  const auto in_the_way =
      change(fresh, {{Change::Kind::put, "b", "2"}}, {.branch = "x", .message = "m", .author = ann, .committer = ann});
  ASSERT_FALSE(in_the_way);
  EXPECT_EQ(in_the_way.error().fault, Fault::exists);
}

TEST(Commits, FromManyThreadsAllArrive) {
  const Fresh fresh;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) commit_files(fresh.path, {{"t" + std::to_string(t) + "/" + std::to_string(i), "x"}});
    });
  threads.clear();
  EXPECT_EQ(shell_git(fresh.path, "rev-list --count main"), "80");
  EXPECT_EQ(shell("git -C '" + fresh.path + "' ls-tree -r main | wc -l"), "80\n");
  EXPECT_EQ(shell_git(fresh.path, "fsck --full --strict 2>&1"), "");
}

TEST(Commits, BesideGitMovingTheSameBranchLoseNothing) {
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "0"}});
  std::jthread other([&] {
    shell("cd '" + fresh.path +
          "' && n=0; while [ $n -lt 30 ]; do t=$(git rev-parse main); c=$(git commit-tree -p $t -m g $t^{tree}); "
          "git update-ref refs/heads/main $c $t 2>/dev/null && n=$((n+1)); done; git pack-refs --all");
  });
  for (int i = 1; i <= 30; ++i) commit_files(fresh.path, {{"a", std::to_string(i)}});
  other.join();
  EXPECT_EQ(shell_git(fresh.path, "rev-list --count main"), "61");
}

TEST(Commits, GetPastALockThatADeadWriterLeft) {
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "0"}});
  shell("touch '" + fresh.path + "/refs/heads/main.lock'");
  commit_files(fresh.path, {{"a", "1"}});
  EXPECT_EQ(shell_git(fresh.path, "rev-list --count main"), "2");
}

TEST(Commits, AfterPackRefsFindTheBranch) {
  const Fresh fresh;
  commit_files(fresh.path, {{"a", "0"}});
  shell_git(fresh.path, "pack-refs --all");
  commit_files(fresh.path, {{"a", "1"}});
  EXPECT_EQ(shell_git(fresh.path, "rev-list --count main"), "2");
}

}  // namespace
}  // namespace stackgate::datastore::git::test
