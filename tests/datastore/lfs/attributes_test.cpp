#include "services/datastore/lfs/attributes.hpp"

#include <gtest/gtest.h>

namespace stackgate::datastore::lfs {
namespace {

TEST(Pattern, MatchesAsGitDoes) {
  const struct {
    std::string_view pattern, path;
    bool matches;
  } cases[] = {
      {"*.bin", "a.bin", true},
      {"*.bin", "dir/a.bin", true},
      {"*.bin", "a.binary", false},
      {"a.bin", "dir/a.bin", true},
      {"/a.bin", "dir/a.bin", false},
      {"/a.bin", "a.bin", true},
      {"dir/*.bin", "dir/a.bin", true},
      {"dir/*.bin", "dir/sub/a.bin", false},
      {"dir/**", "dir/sub/a.bin", true},
      {"dir/**/a.bin", "dir/a.bin", true},
      {"dir/**/a.bin", "dir/x/y/a.bin", true},
      {"dir/**/a.bin", "dir/xa.bin", false},
      {"**/a.bin", "a.bin", true},
      {"**/a.bin", "x/y/a.bin", true},
      {"saved_model/**/*", "saved_model/a", true},
      {"saved_model/**/*", "saved_model/x/a", true},
      {"*tfevents*", "logs/events.out.tfevents.123", true},
      {"?.txt", "a.txt", true},
      {"?.txt", "ab.txt", false},
      {"a?b/c", "a/b/c", false},
      {"[abc].txt", "b.txt", true},
      {"[!abc].txt", "b.txt", false},
      {"[a-f]x", "ex", true},
      {"[]]x", "]x", true},
      {"[abc", "[abc", true},
      {"a[[:space:]]b", "a b", true},
      {"a[[:space:]]b", "a_b", false},
      {"\\*.txt", "*.txt", true},
      {"\\*.txt", "a.txt", false},
      {"build/", "build", false},
      {"", "a", false},
      {"*", "", true},
  };
  for (const auto& c : cases) EXPECT_EQ(pattern_matches(c.pattern, c.path), c.matches) << c.pattern << " on " << c.path;
}

TEST(Pattern, TakesNoLongerForStars) {
  std::string pattern, path(2000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(pattern_matches(pattern + "b", path));
}

TEST(Attributes, TakesTheLastLineThatSpeaksOfThePath) {
  const Attributes attributes = Attributes::parse(
      "# large files\n"
      "*.bin filter=lfs diff=lfs merge=lfs -text\r\n"
      "small.bin !filter\n"
      "text.bin -filter\n"
      "other.bin filter=other\n"
      "*.txt text eol=lf\n"
      "\"quoted name.dat\" filter=lfs\n"
      "[attr]binary -diff\n");
  EXPECT_EQ(attributes.in_lfs("a.bin"), true);
  EXPECT_EQ(attributes.in_lfs("dir/a.bin"), true);
  EXPECT_EQ(attributes.in_lfs("small.bin"), std::nullopt);
  EXPECT_EQ(attributes.in_lfs("text.bin"), false);
  EXPECT_EQ(attributes.in_lfs("other.bin"), false);
  EXPECT_EQ(attributes.in_lfs("a.txt"), std::nullopt);
  EXPECT_EQ(attributes.in_lfs("quoted name.dat"), true);
  EXPECT_EQ(Attributes::parse("").in_lfs("a"), std::nullopt);
}

TEST(LfsLine, MatchesItsOwnPathAndNoOther) {
  for (const std::string path :
       {"a.bin", "dir/a.bin", "a b.bin", "x/we[ir]d*?.bin", "#hash", "!bang", "back\\slash", "\"quoted\"", "ünïcode"}) {
    const Attributes attributes = Attributes::parse(lfs_line(path));
    EXPECT_EQ(attributes.in_lfs(path), true) << lfs_line(path);
    EXPECT_EQ(attributes.in_lfs("other/" + path), std::nullopt) << lfs_line(path);
    EXPECT_EQ(attributes.in_lfs("x" + path), std::nullopt) << lfs_line(path);
  }
  EXPECT_EQ(with_lfs_lines("*.txt text", {"a b"}), "*.txt text\n/a[[:space:]]b filter=lfs diff=lfs merge=lfs -text\n");
}

TEST(IgnoreList, FollowsFoldersAndExceptions) {
  const IgnoreList ignore = IgnoreList::parse("*.tmp\nbuild/\n!keep.tmp\n/root.txt\n# comment\n\ndeep/*.log\n");
  const struct {
    std::string_view path;
    bool ignored;
  } cases[] = {
      {"a.tmp", true},      {"x/a.tmp", true},       {"keep.tmp", false},      {"build/a.cpp", true},
      {"x/build/a", true},  {"build", false},        {"root.txt", true},       {"x/root.txt", false},
      {"deep/a.log", true}, {"deep/x/a.log", false}, {"build/keep.tmp", true}, {"src/a.cpp", false},
  };
  for (const auto& c : cases) EXPECT_EQ(ignore.ignores(c.path), c.ignored) << c.path;
}

}  // namespace
}  // namespace stackgate::datastore::lfs
