#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "services/datastore/git/lfs_pointer.hpp"
#include "tests/datastore/git/real_git_support.hpp"

namespace stackgate::datastore::git::test {
namespace {

std::unique_ptr<Repository> opened(const std::string& path) {
  auto repository = Repository::open(path);
  if (!repository) throw std::runtime_error(repository.error().message);
  return std::move(*repository);
}

std::string names(const std::vector<Entry>& entries) {
  std::string out;
  for (const Entry& each : entries) out += each.path + (each.kind == EntryKind::folder ? "/ " : " ");
  return out;
}

const Signature bob{"Bob", "b@b", 1'700'000'000, 0};

TEST(Reading, AnEmptyRepositoryHasABranchToBeBornAndNothingElse) {
  const Fresh fresh("trunk");
  const auto repository = opened(fresh.path);
  EXPECT_EQ(shell_git(fresh.path, "symbolic-ref HEAD"), "refs/heads/trunk");
  EXPECT_TRUE(repository->refs()->empty());
  for (const std::string_view revision : {"HEAD", "trunk", "1234567", "", "a b", "refs/heads/trunk"}) {
    const auto none = repository->resolve(revision);
    ASSERT_FALSE(none) << revision;
    EXPECT_EQ(none.error().fault, Fault::missing) << none.error().message;
  }
}

TEST(Reading, ARepositoryThatIsGoneOrDamagedIsBrokenAndNamesItsFolder) {
  const auto none = Repository::open("/nonexistent/x.git");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().fault, Fault::broken);
  EXPECT_NE(none.error().message.find("/nonexistent/x.git"), std::string::npos);
  const Fresh without_head;
  shell("rm '" + without_head.path + "/HEAD'");
  EXPECT_EQ(Repository::open(without_head.path).error().fault, Fault::broken);
  const Fresh without_objects;
  commit_files(without_objects.path, {{"a", "1"}});
  shell("rm -rf '" + without_objects.path + "'/objects/*");
  const auto open = Repository::open(without_objects.path);
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_EQ((*open)->resolve("main").error().fault, Fault::broken);
  EXPECT_NE((*open)->resolve("main").error().message.find(without_objects.path), std::string::npos);
  EXPECT_EQ((*open)->resolve("other").error().fault, Fault::missing);
}

TEST(Reading, AReferenceWithoutContentIsBrokenAndAFolderOfReferencesIsMissing) {
  const Fresh fresh;
  const Oid one = commit_files(fresh.path, {{"a", "1"}});
  ASSERT_TRUE(create_branch(fresh.path, "feature/x", one, false));
  const auto repository = opened(fresh.path);
  for (const std::string_view revision : {"feature", "main/x", "feature/x/y"})
    EXPECT_EQ(repository->resolve(revision).error().fault, Fault::missing) << revision;
  EXPECT_EQ(repository->resolve(std::string(300, 'a')).error().fault, Fault::missing);
  shell(": >'" + fresh.path + "/refs/heads/main'");
  EXPECT_EQ(repository->resolve("main").error().fault, Fault::broken);
  EXPECT_EQ(repository->resolve("feature/x").value_or("?"), one);
}

TEST(Reading, RevisionsAreBranchesThenTagsThenReferencesThenIds) {
  const Fresh fresh;
  const Oid one = commit_files(fresh.path, {{"a", "1"}}), two = commit_files(fresh.path, {{"a", "2"}});
  ASSERT_TRUE(create_tag(fresh.path, "v1", one, "first", bob));
  ASSERT_TRUE(create_tag(fresh.path, "both", one, "", bob));
  ASSERT_TRUE(create_branch(fresh.path, "both", two, false));
  ASSERT_TRUE(create_branch(fresh.path, "a/b", one, false));
  const auto repository = opened(fresh.path);
  EXPECT_EQ(repository->resolve("HEAD").value_or("?"), two);
  EXPECT_EQ(repository->resolve("main").value_or("?"), two);
  EXPECT_EQ(repository->resolve("v1").value_or("?"), one);
  EXPECT_EQ(repository->resolve("both").value_or("?"), two);
  EXPECT_EQ(repository->resolve("a/b").value_or("?"), one);
  EXPECT_EQ(repository->resolve("refs/tags/both").value_or("?"), one);
  EXPECT_EQ(repository->resolve(one).value_or("?"), one);
  EXPECT_EQ(repository->resolve(one.substr(0, 7)).value_or("?"), one);
  EXPECT_FALSE(repository->resolve(one.substr(0, 6)));
  EXPECT_EQ(repository->resolve(repository->commit(one)->tree).error().fault, Fault::missing);
  const auto refs = repository->refs();
  ASSERT_TRUE(refs);
  std::string listed;
  for (const Ref& each : *refs) listed += each.name + (each.peeled == one ? "^ " : " ");
  EXPECT_EQ(listed, "refs/heads/a/b refs/heads/both refs/heads/main refs/tags/both refs/tags/v1^ ");
}

TEST(Reading, TreesAreListedWithSizesPointersAndPages) {
  const Fresh fresh;
  const std::string pointer = format_lfs_pointer(std::string(64, 'b'), 1U << 30U);
  const Oid tip =
      commit_files(fresh.path, {{"b/c/d", "12"}, {"b/e", "123"}, {"b.txt", ""}, {"big", pointer}, {"z", "1"}});
  const auto repository = opened(fresh.path);
  EXPECT_EQ(names(*repository->tree(tip, "", {})), "b.txt b/ big z ");
  EXPECT_EQ(names(*repository->tree(tip, "b", {})), "b/c/ b/e ");
  EXPECT_EQ(names(*repository->tree(tip, "", {.recursive = true})), "b.txt b/ b/c/ b/c/d b/e big z ");
  const auto all = *repository->tree(tip, "", {.recursive = true, .lfs = true});
  EXPECT_EQ(all[3].size, 2U);
  ASSERT_TRUE(all[5].lfs);
  EXPECT_EQ(all[5].lfs->size, 1U << 30U);
  // Any page mark leads to what follows it.
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto rest = repository->tree(tip, "", {.recursive = true, .after = all[i].path});
    ASSERT_TRUE(rest);
    EXPECT_EQ(names(*rest), names({all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end()})) << all[i].path;
  }
  EXPECT_EQ(names(*repository->tree(tip, "", {.recursive = true, .limit = 3})), "b.txt b/ b/c/ ");
  EXPECT_EQ(repository->tree(tip, "nope", {}).error().fault, Fault::missing);
  EXPECT_EQ(repository->tree(tip, "z", {}).error().fault, Fault::invalid);
  EXPECT_EQ(repository->entry(tip, "b/c/d")->size, 2U);
  EXPECT_TRUE(repository->entry(tip, "big")->lfs);
  EXPECT_EQ(repository->entry(tip, "b/c")->kind, EntryKind::folder);
  EXPECT_EQ(repository->entry(tip, "")->kind, EntryKind::folder);
  EXPECT_EQ(repository->entry(tip, "b/c/x").error().fault, Fault::missing);
  EXPECT_EQ(repository->entry(tip, "z/x").error().fault, Fault::missing);
}

TEST(Reading, LinksExecutablesAndSubmodulesAreTold) {
  const Fresh fresh;
  shell("cd '" + fresh.path +
        "' && b=$(printf a | git hash-object -w --stdin) && t=$(printf '100755 blob %s\\trun\\n120000 blob "
        "%s\\tlink\\n160000 commit "
        "1111111111111111111111111111111111111111\\tmod\\n' $b $b | git mktree --missing) && git update-ref "
        "refs/heads/main $(git commit-tree -m x $t)");
  const auto repository = opened(fresh.path);
  const auto entries = *repository->tree(*repository->resolve("main"), "", {.lfs = true});
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].kind, EntryKind::symlink);
  EXPECT_EQ(entries[1].kind, EntryKind::submodule);
  EXPECT_EQ(entries[2].kind, EntryKind::executable);
}

TEST(Reading, BlobsComeWholeOrInPieces) {
  const Fresh fresh;
  std::string large(20U << 20U, 'x');
  for (std::size_t i = 0; i < large.size(); i += 4099) large[i] = static_cast<char>(i);
  const Oid tip = commit_files(fresh.path, {{"small", "hello"}, {"large", large}});
  const auto repository = opened(fresh.path);
  const Oid small_id = repository->entry(tip, "small")->oid, large_id = repository->entry(tip, "large")->oid;
  EXPECT_EQ(repository->blob(small_id, 5).value_or("?"), "hello");
  EXPECT_EQ(repository->blob(small_id, 4).error().fault, Fault::too_large);
  EXPECT_EQ(repository->blob(std::string(40, '1'), 4).error().fault, Fault::missing);
  EXPECT_EQ(repository->blob("junk", 4).error().fault, Fault::invalid);
  EXPECT_EQ(repository->blob(repository->commit(tip)->tree, 100).error().fault, Fault::missing);
  std::string back;
  ASSERT_TRUE(repository->stream_blob(large_id, [&](std::string_view piece) {
    back += piece;
    return true;
  }));
  EXPECT_TRUE(back == large);
  int pieces = 0;
  ASSERT_TRUE(repository->stream_blob(large_id, [&](std::string_view) { return ++pieces < 2; }));
  EXPECT_EQ(pieces, 2);
}

/// A history with merges, made by git, and its own answers.
struct History {
  Fresh fresh;
  History() {
    shell("cd '" + fresh.folder.operator/("") +
          "' && git init -q -b main w && cd w && n=1700000000; "
          "c() { n=$((n+60)); GIT_AUTHOR_DATE=\"$n +0000\" GIT_COMMITTER_DATE=\"$n +0000\" git commit -q -m \"$1\"; }; "
          "mkdir d; echo 1 > a; echo 1 > d/x; git add .; c one; echo 2 > a; git add .; c two; git checkout -q -b side; "
          "echo 3 > d/x; git add .; c three; "
          "git checkout -q main; echo 4 > b; git add .; c four; n=$((n+60)); GIT_COMMITTER_DATE=\"$n +0000\" git merge "
          "-q --no-ff -m five side; "
          "echo 6 > d/y; git add .; c six; git rm -q a; c seven; chmod +x b; git add .; c eight; git push -q '" +
          fresh.path + "' main");
  }
};

TEST(History, IsThatOfGitLog) {
  const History history;
  const auto repository = opened(history.fresh.path);
  const Oid tip = *repository->resolve("main");
  for (const std::string path : {"", "a", "b", "d", "d/x", "d/y", "nope"}) {
    const auto log = repository->log(tip, path, 0, 100);
    ASSERT_TRUE(log);
    std::string ours;
    for (const Commit& each : *log) ours += (ours.empty() ? "" : "\n") + each.oid;
    EXPECT_EQ(ours, shell_git(history.fresh.path, "log --format=%H main " + (path.empty() ? "" : "-- " + path)))
        << path;
    const auto second = repository->log(tip, path, 1, 1);
    EXPECT_EQ(second->size(), log->size() > 1 ? 1U : 0U);
    if (log->size() > 1) {
      EXPECT_EQ((*second)[0].oid, (*log)[1].oid);
    }
  }
  EXPECT_EQ(repository->count_commits(tip, 100).value_or(0), 8U);
  EXPECT_EQ(repository->count_commits(tip, 3).value_or(0), 3U);
}

TEST(History, TellsTheLastCommitOfEachName) {
  const History history;
  const auto repository = opened(history.fresh.path);
  const Oid tip = *repository->resolve("main");
  const std::vector<std::pair<std::string, std::vector<std::string>>> folders = {{"", {"b", "d", "gone"}},
                                                                                 {"d", {"x", "y"}}};
  for (const auto& [folder, inside] : folders) {
    const auto last = repository->last_commits(tip, folder, inside, 1000);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->size(), 2U);
    for (const auto& [name, commit] : *last)
      EXPECT_EQ(commit.oid, shell_git(history.fresh.path,
                                      "log -1 --format=%H main -- " + (folder.empty() ? "" : folder + "/") + name))
          << name;
  }
}

TEST(Diffs, ShowAddedRemovedChangedRenamedAndBinary) {
  const Fresh fresh;
  const std::string text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const Oid one = commit_files(
      fresh.path, {{"change", text}, {"gone", "bye\n"}, {"from", text + text}, {"bin", std::string("\0\1", 2)}});
  CommitRequest request{"main", "m", bob, bob};
  const auto two = commit_changes(fresh.path, request,
                                  {{Change::Kind::put, "change", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"},
                                   {Change::Kind::remove, "gone"},
                                   {Change::Kind::remove, "from"},
                                   {Change::Kind::put, "to", text + text},
                                   {Change::Kind::put, "bin", std::string("\0\2", 2)},
                                   {Change::Kind::put, "new", "hi"}});
  ASSERT_TRUE(two);
  const auto repository = opened(fresh.path);
  const auto files = repository->diff(one, two->oid, {});
  ASSERT_TRUE(files) << files.error().message;
  std::string told;
  for (const DiffFile& file : *files)
    told += file.old_path + ">" + file.new_path + (file.binary ? " binary" : "") + " +" + std::to_string(file.added) +
            "-" + std::to_string(file.removed) + "\n";
  EXPECT_EQ(told, "bin>bin binary +0-0\nchange>change +1-1\ngone> +0-1\n>new +1-0\nfrom>to +0-0\n");
  EXPECT_EQ((*files)[1].hunks[0].header, "@@ -2,7 +2,7 @@");
  EXPECT_EQ((*files)[1].hunks[0].lines[4].text, "five");
  EXPECT_EQ(repository->diff({}, one, {})->size(), 4U);
  EXPECT_EQ(repository->diff({}, one, {.files = 2})->size(), 2U);
  EXPECT_TRUE((*repository->diff({}, one, {.lines_per_file = 3}))[1].truncated);
}

TEST(Branches, AreMadeMovedAndDeletedOnce) {
  const Fresh fresh;
  const Oid one = commit_files(fresh.path, {{"a", "1"}}), two = commit_files(fresh.path, {{"a", "2"}});
  ASSERT_TRUE(create_branch(fresh.path, "x", one, false));
  EXPECT_EQ(create_branch(fresh.path, "x", two, false).error().fault, Fault::exists);
  ASSERT_TRUE(create_branch(fresh.path, "x", two, true));
  EXPECT_EQ(shell_git(fresh.path, "rev-parse x"), two);
  EXPECT_EQ(create_branch(fresh.path, "y", std::string(40, '1'), false).error().fault, Fault::missing);
  EXPECT_EQ(create_branch(fresh.path, "x/y", one, false).error().fault, Fault::exists);
  shell_git(fresh.path, "pack-refs --all");
  EXPECT_EQ(create_branch(fresh.path, "x/y", one, false).error().fault, Fault::exists);
  ASSERT_TRUE(delete_branch(fresh.path, "x"));
  EXPECT_EQ(delete_branch(fresh.path, "x").error().fault, Fault::missing);
  ASSERT_TRUE(create_branch(fresh.path, "x/y", one, false));
  EXPECT_EQ(delete_branch(fresh.path, "main").error().fault, Fault::invalid);
  ASSERT_TRUE(set_default_branch(fresh.path, "x/y"));
  ASSERT_TRUE(delete_branch(fresh.path, "main"));
  EXPECT_EQ(shell_git(fresh.path, "for-each-ref --format='%(refname)'"), "refs/heads/x/y");
}

TEST(Tags, AreMadeOnceAndDeleted) {
  const Fresh fresh;
  const Oid one = commit_files(fresh.path, {{"a", "1"}});
  ASSERT_TRUE(create_tag(fresh.path, "v1", one, "the first\n", bob));
  ASSERT_TRUE(create_tag(fresh.path, "light", one, "", bob));
  EXPECT_EQ(create_tag(fresh.path, "v1", one, "again", bob).error().fault, Fault::exists);
  EXPECT_EQ(shell_git(fresh.path, "cat-file -t v1"), "tag");
  EXPECT_EQ(shell_git(fresh.path, "cat-file -t light"), "commit");
  EXPECT_EQ(shell_git(fresh.path, "fsck --full --strict 2>&1"), "");
  ASSERT_TRUE(delete_tag(fresh.path, "v1"));
  EXPECT_EQ(delete_tag(fresh.path, "v1").error().fault, Fault::missing);
}

TEST(Repositories, AreThereWholeOrNotAtAll) {
  const Fresh fresh;
  EXPECT_EQ(create_repository(fresh.path, "main").error().fault, Fault::exists);
  EXPECT_EQ(create_repository(fresh.path + "2", "a b").error().fault, Fault::invalid);
  EXPECT_EQ(shell("ls '" + (fresh.folder / "") + "'"), "it.git\n");
  EXPECT_EQ(shell_git(fresh.path, "rev-parse --is-bare-repository"), "true");
}

TEST(Read, EndsWalksThroughHistoryAtTheDeadline) {
  test::Fresh fresh;
  Oid tip;
  for (int i = 0; i < 5; ++i) tip = test::commit_files(fresh.path, {{"a.txt", std::to_string(i)}});
  auto repository = Repository::open(fresh.path);
  ASSERT_TRUE(repository);
  (*repository)->set_deadline(std::chrono::steady_clock::now() + std::chrono::hours(1));
  EXPECT_EQ((*repository)->log(tip, "a.txt", 0, 10)->size(), 5U);
  EXPECT_FALSE((*repository)->out_of_time());
  (*repository)->set_deadline(std::chrono::steady_clock::now() - std::chrono::hours(1));
  EXPECT_EQ((*repository)->log(tip, "a.txt", 0, 10)->size(), 0U);
  EXPECT_EQ((*repository)->last_commits(tip, "", {"a.txt"}, 10)->size(), 0U);
  EXPECT_TRUE((*repository)->out_of_time());
}

}  // namespace
}  // namespace stackgate::datastore::git::test
