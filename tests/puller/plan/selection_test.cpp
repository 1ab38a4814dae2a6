#include "services/puller/plan/selection.hpp"

#include <gtest/gtest.h>

#include "services/puller/plan/manifest.hpp"

namespace stackgate::puller {
namespace {

std::vector<RemoteFile> files(std::initializer_list<const char*> paths) {
  std::vector<RemoteFile> out;
  for (const char* path : paths) out.push_back({.path = path, .size = 1, .sha256 = std::string(64, 'a')});
  return out;
}
std::string names(const std::vector<RemoteFile>& files) {
  std::string out;
  for (const RemoteFile& file : files) out += (out.empty() ? "" : " ") + file.path;
  return out;
}

TEST(PullerSelection, Globs) {
  struct Row {
    const char *pattern, *path;
    bool matches;
  };
  for (const auto& [pattern, path, wanted] : std::initializer_list<Row>{{"*", "a/b", true},
                                                                        {"", "", true},
                                                                        {"", "a", false},
                                                                        {"*.json", "a/b.json", true},
                                                                        {"*.json", "a.jsonl", false},
                                                                        {"a?c", "abc", true},
                                                                        {"a?c", "ac", false},
                                                                        {"config.json", "x/config.json", false},
                                                                        {"original/", "original/a/b", true},
                                                                        {"original/", "originals", false},
                                                                        {"*a*b*", "xxaxxbxx", true},
                                                                        {"*a*b", "aabba", false},
                                                                        {"[a]", "a", false}})
    EXPECT_EQ(matches(pattern, path), wanted) << pattern << " " << path;
  // Linear in each of the two: an exponential matcher would not come back.
  std::string stars;
  for (int i = 0; i < 60; ++i) stars += "*a";
  EXPECT_FALSE(matches(stars + "b", std::string(2000, 'a')));
}

TEST(PullerSelection, TakesWhatAModelIsServedFrom) {
  const auto offered =
      files({"config.json", "generation_config.json", "model.safetensors", "pytorch_model.bin", "a.pth", "q.gguf",
             "original/params.json", "tokenizer.model", "tokenizer.json", "chat_template.jinja", "merges.txt",
             "vocab.txt", "LICENSE", "README.md", ".gitattributes", "figures/x.png"});
  EXPECT_EQ(names(select(offered, {})),
            "config.json generation_config.json model.safetensors tokenizer.model tokenizer.json chat_template.jinja "
            "merges.txt vocab.txt LICENSE README.md");
  EXPECT_EQ(names(select(offered, {.include = {"*.bin", "*.gguf"}})), "pytorch_model.bin q.gguf");
  EXPECT_EQ(names(select(offered, {.include = {"*"}, .exclude = {"*.*"}})), "LICENSE");
  EXPECT_EQ(select(offered, {.everything = true}).size(), offered.size());
}

TEST(PullerSelection, AnIndexNamesExactlyTheShards) {
  const auto shards = read_shard_index(
      R"({"metadata":{},"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors","c":"m-1.safetensors"}})");
  ASSERT_TRUE(shards);
  EXPECT_EQ(shards->size(), 2U);
  const auto offered =
      files({"config.json", "m-1.safetensors", "m-2.safetensors", "consolidated.safetensors", "x/y.safetensors"});
  EXPECT_EQ(names(*with_shards(offered, select(offered, {}), *shards, {})),
            "config.json m-1.safetensors m-2.safetensors x/y.safetensors");
  const Patterns one{.exclude = {"m-2*"}};
  EXPECT_EQ(names(*with_shards(offered, select(offered, one), *shards, one)),
            "config.json m-1.safetensors x/y.safetensors");
  const auto missing = with_shards(files({"m-1.safetensors"}), {}, *shards, {});
  EXPECT_EQ(missing.error().cause, Cause::missing);
  EXPECT_TRUE(missing.error().message.contains("m-2.safetensors"));
  for (const char* bad : {"", "{}", "[]", R"({"weight_map":[]})", R"({"weight_map":{}})", R"({"weight_map":{"a":1}})",
                          R"({"weight_map":{"a":"../x.safetensors"}})", R"({"weight_map":{"a":"x.bin"}})"})
    EXPECT_EQ(read_shard_index(bad).error().cause, Cause::bad_answer) << bad;
}

TEST(PullerManifest, IsReadAsItWasWritten) {
  const Manifest made{.source = "https://hub/a/b",
                      .revision = std::string(40, 'c'),
                      .patterns = {.include = {"*.json"}, .exclude = {"x\"y"}},
                      .files = {{"a/b \"c\".json", 7, std::string(64, 'd')}}};
  const std::string text = write_manifest(made);
  const auto read = read_manifest(text);
  ASSERT_TRUE(read) << text;
  EXPECT_EQ(read->files.at(0).path, made.files[0].path);
  EXPECT_EQ(read->files.at(0).size, 7U);
  EXPECT_TRUE(is_of(*read, made.source, made.revision, made.patterns));
  EXPECT_FALSE(is_of(*read, made.source, made.revision, {}));
  EXPECT_FALSE(is_of(*read, "https://other", made.revision, made.patterns));
  EXPECT_FALSE(is_of(*read, made.source, std::string(40, 'e'), made.patterns));
}

TEST(PullerManifest, OfAVolumeThatOthersWriteIsNotBelieved) {
  const auto with = [](std::string_view path, std::string_view size) {
    return R"({"version":1,"source":"s","revision":"r","include":[],"exclude":[],"files":[{"path":")" +
           std::string(path) + R"(","size":)" + std::string(size) + R"(,"sha256":")" + std::string(64, 'a') + "\"}]}";
  };
  EXPECT_TRUE(read_manifest(with("a", "1")));
  EXPECT_FALSE(read_manifest(with("../a", "1")));
  EXPECT_FALSE(read_manifest(with("/a", "1")));
  EXPECT_FALSE(read_manifest(with("a", "-1")));
  EXPECT_FALSE(read_manifest(with("a", "\"1\"")));
  for (const char* bad : {"", "{}", "[]", R"({"version":2})", R"({"version":1,"revision":"r","files":[]})"})
    EXPECT_FALSE(read_manifest(bad)) << bad;
}

}  // namespace
}  // namespace stackgate::puller
