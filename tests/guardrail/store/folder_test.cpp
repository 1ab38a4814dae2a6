#include "services/guardrail/store/folder.hpp"

#include <unistd.h>

#include "tests/guardrail/store/folder_support.hpp"

namespace stackgate::guardrail {
namespace {

std::string names(const FolderContent& content) {
  std::string out;
  for (const File& each : content.files) out += each.name + "=" + each.text + " ";
  return out;
}

std::string problems(const FolderContent& content) {
  std::string out;
  for (const validate::Finding& each : content.findings) {
    EXPECT_FALSE(each.fix.empty());
    out += each.path + ": " + each.problem + "\n";
  }
  return out;
}

std::string split(const std::vector<File>& files) {
  std::string out;
  for (const auto& [id, of] : configurations_of(files)) {
    out += id + "(";
    for (const File& each : of) out += each.name + " ";
    out += ")";
  }
  return out;
}

TEST(ConfigurationFolder, only_files_of_configurations_are_read) {
  test::Folder folder;
  folder.write("a/config.yml", "1");
  folder.write("a/kb/x.md", "2");
  folder.write("a/.railsignore", "3");
  folder.write("a/.git/config.yml", "no");
  folder.write("a/data.bin", "no");
  folder.write("a/__pycache__/x.pyc", "no");
  const auto got = read_folder(folder.path());
  EXPECT_EQ(names(got), "a/.railsignore=3 a/config.yml=1 a/kb/x.md=2 ");
  EXPECT_EQ(problems(got), "");
}

TEST(ConfigurationFolder, links_are_followed_inside_and_not_out) {
  test::Folder folder;
  folder.write("a/config.yml", "1");
  folder.link("b", "a");
  folder.link("a/again.yml", "config.yml");
  folder.link("a/outside.yml", "/etc/passwd");
  folder.link("outside", "/etc");
  folder.link("a/gone.yml", "nowhere.yml");
  const auto got = read_folder(folder.path());
  EXPECT_EQ(names(got), "a/again.yml=1 a/config.yml=1 b/again.yml=1 b/config.yml=1 ");
  EXPECT_EQ(problems(got),
            "a/gone.yml: leads nowhere\na/outside.yml: is a link that leads out of the folder\nb/gone.yml: leads "
            "nowhere\nb/outside.yml: is a link that leads out of the folder\noutside: is a link that leads out of the "
            "folder\n");
}

TEST(ConfigurationFolder, a_link_to_itself_ends) {
  test::Folder folder;
  folder.write("a/config.yml", "1");
  folder.link("a/loop", "../a");
  const auto got = read_folder(folder.path(), {.depth = 3});
  EXPECT_EQ(names(got), "a/config.yml=1 a/loop/config.yml=1 a/loop/loop/config.yml=1 ");
  EXPECT_EQ(problems(got), "a/loop/loop/loop: is nested more than 3 times\n");
}

TEST(ConfigurationFolder, limits) {
  test::Folder folder;
  folder.write("a/1.yml", "12345");
  folder.write("a/2.yml", "1");
  folder.write("a/3.yml", "1");
  EXPECT_EQ(problems(read_folder(folder.path(), {.file_bytes = 4})), "a/1.yml: is larger than 4 bytes\n");
  EXPECT_EQ(problems(read_folder(folder.path(), {.total_bytes = 6})), "a/3.yml: is beyond 6 bytes of all files\n");
  EXPECT_EQ(problems(read_folder(folder.path(), {.files = 2})).substr(3), ".yml: is one file more than 2\n");
  EXPECT_EQ(problems(read_folder(folder.path(), {.entries = 2})), "a/: has more than 2 entries\n");
}

TEST(ConfigurationFolder, what_cannot_be_read_is_told) {
  const auto got = read_folder("/nonexistent/folder");
  EXPECT_TRUE(got.files.empty());
  EXPECT_EQ(problems(got), ": the folder /nonexistent/folder cannot be read: No such file or directory\n");
}

TEST(ConfigurationFolder, its_mark_changes_with_it) {
  test::Folder folder;
  const auto mark = [&] { return list_folder(folder.path()).fingerprint; };
  const auto empty = mark();
  folder.write("a/config.yml", "1");
  const auto one = mark();
  EXPECT_NE(one, empty);
  EXPECT_EQ(mark(), one);
  folder.write("a/other.txt", "1");
  EXPECT_EQ(mark(), one);
  folder.write("a/config.yml", "22");
  const auto two = mark();
  EXPECT_NE(two, one);
  folder.remove("a");
  EXPECT_EQ(mark(), empty);
}

TEST(ConfigurationFolder, a_mounted_config_map) {
  test::Folder folder;
  folder.mount({{"strict__config.yml", "1"}, {"strict__kb__x.md", "2"}});
  const auto before = read_folder(folder.path());
  EXPECT_EQ(names(before), "strict__config.yml=1 strict__kb__x.md=2 ");
  EXPECT_EQ(problems(before), "");
  EXPECT_EQ(split(before.files), "strict(config.yml kb/x.md )");
  folder.mount({{"strict__config.yml", "1"}, {"loose__config.yml", "3"}});
  const auto after = read_folder(folder.path());
  EXPECT_EQ(names(after), "loose__config.yml=3 strict__config.yml=1 ");
  EXPECT_NE(after.fingerprint, before.fingerprint);
}

TEST(ConfigurationFolder, layouts) {
  const auto of = [](std::initializer_list<const char*> files) {
    std::vector<File> all;
    for (const char* each : files) all.push_back({.name = each, .text = {}, .shown = each});
    return split(all);
  };
  EXPECT_EQ(of({"a/config.yml", "a/kb/x.md", "b/config.yaml"}), "a(config.yml kb/x.md )b(config.yaml )");
  EXPECT_EQ(of({"a__config.yml", "b__config.yml"}), "a(config.yml )b(config.yml )");
  EXPECT_EQ(of({"a__config.yml", "b/config.yml"}), "a(config.yml )b(config.yml )");
  EXPECT_EQ(of({"config.yml", "rails.co", "kb/x.md"}), "default(config.yml rails.co kb/x.md )");
  EXPECT_EQ(of({"config.yml", "rails.co"}), "default(config.yml rails.co )");
  EXPECT_EQ(of({"readme.md"}), "");
}

}  // namespace
}  // namespace stackgate::guardrail
