#include "services/puller/plan/files.hpp"

#include <gtest/gtest.h>

#include "services/puller/plan/listing.hpp"

namespace stackgate::puller {
namespace {

const std::string sum(64, 'a'), blob(40, 'b');

TEST(PullerPaths, AreKeptAsTheyAreOrRefused) {
  for (const char* good : {"config.json", "a/b/c.safetensors", ".gitattributes", "a b", "ü.json", "a..b", "...", "-x"})
    EXPECT_FALSE(fault_of_path(good)) << good;
  for (const char* bad : {"", "/etc/passwd", "..", "../x", "a/../b", "a/..", "./a", "a/./b", "a//b", "a/", "a\\b",
                          "a\nb", "a\x7f", "\xff", ".stackgate-pull/lock", ".stackgate-model.json", ".stackgate-pull"})
    EXPECT_TRUE(fault_of_path(bad)) << bad;
  EXPECT_TRUE(fault_of_path(std::string(256, 'a')));
  EXPECT_TRUE(fault_of_path(std::string_view("a\0b", 3)));
  std::string deep;
  while (deep.size() < 1030) deep += "abcdefg/";
  EXPECT_TRUE(fault_of_path(deep + "x"));
}

TEST(PullerListing, IsRefusedAsAWhole) {
  const auto cause = [](const std::vector<RemoteFile>& files) {
    const auto checked = check_listing(files);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(cause({{.path = "a", .size = 1, .sha256 = sum}, {.path = "b", .size = 0, .blob = blob}}), "");
  EXPECT_TRUE(cause({{.path = "a", .sha256 = sum}, {.path = "a", .sha256 = sum}}).contains("named twice"));
  EXPECT_TRUE(cause({{.path = "a", .sha256 = sum}, {.path = "a/b", .sha256 = sum}}).contains("is a file as well"));
  EXPECT_TRUE(cause({{.path = "a"}}).contains("no checksum"));
  EXPECT_TRUE(cause({{.path = "a", .sha256 = "AB"}}).contains("SHA-256"));
  EXPECT_TRUE(cause({{.path = "a", .blob = std::string(40, 'G')}}).contains("Git object id"));
  EXPECT_TRUE(cause({{.path = "a", .size = ~0ULL, .sha256 = sum}}).contains("bytes"));
  EXPECT_EQ(cause({{.path = "../\x1b[2J", .sha256 = sum}}).find('\x1b'), std::string::npos) << "safe for a terminal";
  EXPECT_FALSE(cause(std::vector<RemoteFile>(most_files + 1)).empty());
}

TEST(PullerListing, ReadsARevision) {
  EXPECT_EQ(*read_revision(R"({"id":"a/b","sha":")" + blob + "\"}"), blob);
  for (const char* bad : {"", "[]", "{}", R"({"sha":"main"})", R"({"sha":1})", "<html>"})
    EXPECT_EQ(read_revision(bad).error().cause, Cause::bad_answer) << bad;
}

TEST(PullerListing, ReadsATree) {
  const auto tree = read_tree_page(R"([{"type":"directory","path":"x","oid":"1"},
    {"type":"file","path":"config.json","size":5,"oid":")" +
                                   blob + R"("},
    {"type":"file","path":"x/m.safetensors","size":9,"oid":")" +
                                   blob + R"(","lfs":{"oid":")" + sum + R"(","size":9}}])");
  ASSERT_TRUE(tree);
  const std::vector<RemoteFile> wanted{{.path = "config.json", .size = 5, .blob = blob},
                                       {.path = "x/m.safetensors", .size = 9, .sha256 = sum}};
  EXPECT_EQ(*tree, wanted) << "the Git id of a large file is its pointer's";
  EXPECT_EQ(read_tree_page("{").error().cause, Cause::bad_answer);
  EXPECT_TRUE(read_tree_page(R"({"error":"x"})")->empty());
}

TEST(PullerListing, ReadsAChecksumList) {
  const auto list = read_checksum_list("# made by hand\n" + sum + "  ./config.json\r\n\n" + std::string(64, 'C') +
                                       " *a b/m.safetensors\n");
  ASSERT_TRUE(list) << list.error().message;
  const std::vector<RemoteFile> wanted{{.path = "config.json", .sha256 = sum},
                                       {.path = "a b/m.safetensors", .sha256 = std::string(64, 'c')}};
  EXPECT_EQ(*list, wanted);
  for (const std::string& bad : {std::string(), std::string("#\n"), sum, sum + "  ", sum + "\tx", "x" + sum + "  x",
                                 sum + "  ../x", sum + "  /x", std::string("<html>\n"), std::string(64, 'g') + "  x"})
    EXPECT_EQ(read_checksum_list(bad).error().cause, Cause::bad_answer) << bad;
  EXPECT_TRUE(read_checksum_list(sum + "  a\nnonsense\n").error().message.contains("line 2"));
}

TEST(PullerListing, ReadsWhatAModelIsCalled) {
  EXPECT_EQ(read_model("gpt2")->repository, "gpt2");
  EXPECT_EQ(read_model("a/b@refs/pr/1")->revision, "refs/pr/1");
  for (const char* bad :
       {"", "a/b/c", "/b", "a/", "a/..", "../b", "a b", "a/b@", "a/b@..", "a/b@x y", "a/b?x=1", "@main"})
    EXPECT_EQ(read_model(bad).error().cause, Cause::settings) << bad;
  EXPECT_EQ(*read_profiles(""), "");
  EXPECT_EQ(*read_profiles(R"(["a/b@v1"])"), "a/b@v1");
  for (const char* bad : {"a/b", "[]", R"(["a","b"])", R"(["all"])", "{}"})
    EXPECT_EQ(read_profiles(bad).error().cause, Cause::settings) << bad;
}

}  // namespace
}  // namespace stackgate::puller
