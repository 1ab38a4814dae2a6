#include "services/kit/archive/zip_writer.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "services/kit/base/try.hpp"

namespace stackgate::archive {
namespace zip_writer_tests {

TEST(ZipWriter, WhatItWritesIsUnpacked) {
  std::string packed;
  ZipWriter zip([&](std::string_view bytes) -> std::expected<void, std::string> {
    packed += bytes;
    return {};
  });
  const std::string large(300'000, 'x');
  ASSERT_TRUE(zip.begin("results.json"));
  ASSERT_TRUE(zip.data("{}"));
  ASSERT_TRUE(zip.begin("empty.jsonl"));
  ASSERT_TRUE(zip.begin("samples/large.jsonl"));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(zip.data(large));
  ASSERT_TRUE(zip.finish());
  EXPECT_LT(packed.size(), large.size());

  const std::filesystem::path dir = testing::TempDir() + "zip_writer";
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "a.zip", std::ios::binary) << packed;
  ASSERT_EQ(std::system(("cd " + dir.string() + " && python3 -m zipfile -e a.zip out && python3 -m zipfile -t a.zip")
                            .c_str()),  // NOLINT(concurrency-mt-unsafe): one thread
            0);
  const auto text = [&](const char* name) {
    std::ostringstream out;
    out << std::ifstream(dir / "out" / name, std::ios::binary).rdbuf();
    return out.str();
  };
  EXPECT_EQ(text("results.json"), "{}");
  EXPECT_EQ(std::filesystem::file_size(dir / "out" / "empty.jsonl"), 0U);
  EXPECT_EQ(text("samples/large.jsonl").size(), 10 * large.size());
}

TEST(ZipWriter, SaysWhatItsTakerSaid) {
  ZipWriter zip([](std::string_view) -> std::expected<void, std::string> { return std::unexpected("gone"); });
  ASSERT_TRUE(zip.begin("a"));
  std::expected<void, std::string> done;
  for (int i = 0; i < 100 && done; ++i) done = zip.data(std::string(100'000, static_cast<char>(i)));
  if (done) done = zip.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), "gone");
}

TEST(ZipWriter, TakesPlainNamesOnly) {
  ZipWriter zip([](std::string_view) -> std::expected<void, std::string> { return {}; });
  for (const char* name : {"", "../x", "/x", "a//b"}) EXPECT_FALSE(zip.begin(name)) << name;
}

}  // namespace zip_writer_tests
}  // namespace stackgate::archive
