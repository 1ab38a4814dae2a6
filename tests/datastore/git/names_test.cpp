#include "services/datastore/git/names.hpp"

#include <gtest/gtest.h>

namespace stackgate::datastore::git {
namespace {

TEST(Paths, AreTakenAsAnyCheckoutMayWriteThem) {
  for (const std::string_view path : std::initializer_list<std::string_view>{
           "a", "a/b/c", ".gitignore", ".gitattributes", "a b", "ä/ö", "a%2f", "git", "git~2", ".github/x", "...",
           "a..b", "-x", "~", "a/.git0", "#1", "con"})
    EXPECT_EQ(fault_of_path(path), std::nullopt) << path;
}

TEST(Paths, AreRefusedWhenTheyLeaveTheTreeOrMeanDotGit) {
  const std::string nul("a\0b", 3);
  for (const std::string_view path : std::initializer_list<std::string_view>{"",
                                                                             "/a",
                                                                             "a/",
                                                                             "a//b",
                                                                             ".",
                                                                             "..",
                                                                             "../a",
                                                                             "a/../b",
                                                                             "a/./b",
                                                                             ".git",
                                                                             "a/.git/config",
                                                                             ".GIT",
                                                                             ".Git/x",
                                                                             "git~1",
                                                                             "GIT~1/x",
                                                                             ".git ",
                                                                             ".git.",
                                                                             ".git . .",
                                                                             ".git::$INDEX_ALLOCATION/x",
                                                                             ".git:x",
                                                                             "a\\b",
                                                                             "..\\a",
                                                                             "a\nb",
                                                                             "a\x7f",
                                                                             ".g\xe2\x80\x8cit",
                                                                             ".git\xe2\x80\xae",
                                                                             "\xef\xbb\xbf.git",
                                                                             "\xe2\x81\xaa.git",
                                                                             std::string_view(nul)})
    EXPECT_NE(fault_of_path(path), std::nullopt) << path;
  EXPECT_NE(fault_of_path(std::string(4097, 'a')), std::nullopt);
  EXPECT_NE(fault_of_path(std::string(256, 'a')), std::nullopt);
}

TEST(ReferenceNames, FollowGitCheckRefFormat) {
  for (const std::string_view name :
       std::initializer_list<std::string_view>{"refs/heads/main", "refs/heads/a/b", "refs/heads/ä", "refs/heads/@",
                                               "refs/heads/a.b", "refs/heads/-a", "refs/heads/a@b"})
    EXPECT_TRUE(is_reference_name(name)) << name;
  for (const std::string_view name : std::initializer_list<std::string_view>{
           "",          "main",      "refs//a", "/refs/a",   "refs/a/", "refs/.a", "refs/a.lock", "refs/a.lock/b",
           "refs/a..b", "refs/a b",  "refs/a~", "refs/a^",   "refs/a:", "refs/a?", "refs/a*",     "refs/a[",
           "refs/a\\",  "refs/a@{b", "refs/a.", "refs/a\x01"})
    EXPECT_FALSE(is_reference_name(name)) << name;
}

TEST(BranchNames, ThatWouldMisleadAreRefused) {
  for (const std::string_view name : std::initializer_list<std::string_view>{"main", "feature/x", "v1.0", "ünï"})
    EXPECT_EQ(fault_of_branch_name(name), std::nullopt);
  for (const std::string_view name : std::initializer_list<std::string_view>{
           "", "HEAD", "@", "-x", "0123456789012345678901234567890123456789", "a b", "a..b"})
    EXPECT_NE(fault_of_branch_name(name), std::nullopt) << name;
}

}  // namespace
}  // namespace stackgate::datastore::git
