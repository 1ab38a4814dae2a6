#include "services/model/loading/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "services/model/loading/weights.hpp"
#include "tests/model/directory/lines.hpp"
#include "tests/model/small_model.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::model {
namespace {

using stackgate::test::TempDir;
using test::lines;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void write(const TempDir& folder, const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) folder.write(name, text);
}

DirectoryRead load(const TempDir& folder) { return load_directory(folder / "."); }

/// The small model in two files with an index.
std::map<std::string, std::string> sharded() {
  std::map<std::string, std::string> files = test::small_model();
  files.erase("model.safetensors");
  const auto tensors = expected_tensors(read_config(test::small_config).config);
  const std::span all(tensors);
  files["m-1.safetensors"] = test::safetensors_file(all.first(5));
  files["m-2.safetensors"] = test::safetensors_file(all.subspan(5), "F32");
  std::string map;
  for (std::size_t i = 0; i < all.size(); ++i)
    map += (i == 0 ? "\"" : ",\"") + all[i].name + (i < 5 ? "\":\"m-1.safetensors\"" : "\":\"m-2.safetensors\"");
  files["model.safetensors.index.json"] = R"({"weight_map":{)" + map + "}}";
  return files;
}

TEST(LoadDirectory, reads_a_model_in_one_file_and_maps_its_weights) {
  const TempDir folder;
  write(folder, test::small_model());
  const auto [model, findings] = load(folder);
  ASSERT_THAT(lines(findings), IsEmpty());
  const auto weights = Weights::map(folder / ".", model);
  ASSERT_TRUE(weights) << weights.error().problem;
  std::set<std::byte> seen;
  for (const auto& [name, tensor] : model.tensors) {
    const auto bytes = weights->bytes(tensor);
    ASSERT_EQ(bytes.size(), tensor.place.bytes);
    EXPECT_TRUE(seen.insert(bytes[0]).second) << name;
    EXPECT_TRUE(std::ranges::all_of(bytes, [&](std::byte each) { return each == bytes[0]; })) << name;
  }
  EXPECT_EQ(weights->mapped_bytes(), test::small_model()["model.safetensors"].size());
}

TEST(LoadDirectory, reads_shards_by_their_index) {
  const TempDir folder;
  write(folder, sharded());
  const auto [model, findings] = load(folder);
  ASSERT_THAT(lines(findings), IsEmpty());
  EXPECT_THAT(model.files, ElementsAre("m-1.safetensors", "m-2.safetensors"));
  EXPECT_EQ(model.tensors.at("lm_head.weight").file, 1U);
  EXPECT_EQ(model.tensors.at("lm_head.weight").place.dtype, Dtype::f32);
  std::filesystem::remove(folder / "m-2.safetensors");
  EXPECT_THAT(lines(load(folder).findings), Contains(HasSubstr("m-2.safetensors: is missing")));
}

TEST(LoadDirectory, follows_links_that_stay_inside_and_refuses_others) {
  const TempDir folder, outside;
  write(folder, test::small_model());
  std::filesystem::create_directory(folder / "..data");
  std::filesystem::rename(folder / "config.json", folder / "..data/config.json");
  std::filesystem::create_symlink("..data/config.json", folder / "config.json");
  EXPECT_THAT(lines(load(folder).findings), IsEmpty());
  for (const char* name : {"config.json", "model.safetensors", "tokenizer_config.json"}) {
    outside.write(name, test::small_model()[name]);
    std::filesystem::remove(folder / name);
    std::filesystem::create_symlink(outside / name, folder / name);
  }
  EXPECT_THAT(lines(load(folder).findings),
              ElementsAre("config.json: is a link that leads out of the directory",
                          "tokenizer_config.json: is a link that leads out of the directory",
                          "model.safetensors: is a link that leads out of the directory"));
}

TEST(LoadDirectory, is_told_by_the_directory_when_there_is_none) {
  const TempDir folder;
  EXPECT_THAT(lines(load_directory(folder / "absent").findings), ElementsAre(HasSubstr("absent: cannot be read")));
  EXPECT_THAT(lines(load(folder).findings),
              ElementsAre("model.safetensors: is missing", "config.json: is missing", "tokenizer.json: is missing"));
}

TEST(LoadDirectory, refuses_what_is_too_large_or_no_file) {
  const TempDir folder;
  write(folder, test::small_model());
  folder.write("generation_config.json", std::string(largest_generation_config + 1, ' '));
  std::filesystem::remove(folder / "tokenizer.json");
  ASSERT_EQ(::mkfifo((folder / "tokenizer.json").c_str(), 0600), 0);
  std::filesystem::remove(folder / "model.safetensors");
  std::filesystem::create_directory(folder / "model.safetensors");
  EXPECT_THAT(lines(load(folder).findings),
              ElementsAre("generation_config.json: has more than 1 MiB", "model.safetensors: is no file",
                          "tokenizer.json: the text is empty"));
}

TEST(LoadDirectory, names_pickles_and_headers_that_are_none) {
  const TempDir folder;
  auto files = test::small_model();
  files["pytorch_model.bin"] = std::exchange(files["model.safetensors"], "short");
  write(folder, files);
  EXPECT_THAT(lines(load(folder).findings), Contains(HasSubstr("model.safetensors: has 5 bytes")));
  std::filesystem::remove(folder / "model.safetensors");
  EXPECT_THAT(lines(load(folder).findings), ElementsAre(HasSubstr("pytorch_model.bin: is a pickle")));
}

TEST(Weights, notice_a_file_that_became_shorter) {
  const TempDir folder;
  write(folder, test::small_model());
  const auto read = load(folder);
  std::filesystem::resize_file(folder / "model.safetensors", 100);
  const auto weights = Weights::map(folder / ".", read.model);
  ASSERT_FALSE(weights);
  EXPECT_EQ(weights.error().problem, "has become shorter since it was checked");
}

}  // namespace
}  // namespace stackgate::model
