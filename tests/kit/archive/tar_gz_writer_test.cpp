#include "services/kit/archive/tar_gz_writer.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>

#include "services/kit/base/try.hpp"
#include "tests/kit/archive/held.hpp"

namespace stackgate::archive {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Files = std::map<std::string, std::string>;

std::expected<std::string, std::string> pack(const Files& files, std::size_t piece = 1'000) {
  std::string packed;
  TarGzWriter writer([&](std::string_view bytes) -> std::expected<void, std::string> {
    packed += bytes;
    return {};
  });
  for (const auto& [name, text] : files) {
    TRY(writer.begin({name, text.size()}));
    for (std::size_t at = 0; at < text.size(); at += piece) TRY(writer.data(std::string_view(text).substr(at, piece)));
    TRY(writer.end());
  }
  TRY(writer.finish());
  return packed;
}

std::string error_of(const auto& done) { return done ? "none" : done.error(); }

const Files& samples() {
  static const Files files{{"adapter_config.json", "{}"},
                           {"adapter_model.safetensors", std::string(300'000, 'w') + "end"},
                           {"empty", ""},
                           {"f\xC3\xBCr/" + std::string(180, 'n'), "long"}};  // neither ASCII nor short
  return files;
}

TEST(TarGzWriter, WhatItWritesIsReadAgain) {
  const auto packed = pack(samples());
  ASSERT_TRUE(packed) << packed.error();
  Held held;
  const Outcome outcome = read_tar_gz(source_of(*packed, 100'000), held);
  EXPECT_THAT(outcome.findings, IsEmpty());
  EXPECT_EQ(held.files, samples());
}

TEST(TarGzWriter, TarUnpacksIt) {
  const std::filesystem::path dir = testing::TempDir() + "tar_gz_writer";
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir / "out");
  std::ofstream(dir / "a.tar.gz", std::ios::binary) << pack(samples()).value();
  ASSERT_EQ(std::system(("tar -xzf " + (dir / "a.tar.gz").string() + " -C " + (dir / "out").string()).c_str()), 0);
  for (const auto& [name, text] : samples()) {
    std::ifstream file(dir / "out" / name, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text) << name;
  }
}

TEST(TarGzWriter, TheSameFilesGiveTheSameBytes) { EXPECT_EQ(pack(samples()), pack(samples(), 77)); }

TEST(TarGzWriter, ArchivesCanBeReadIntoIt) {
  const std::string packed = pack({{"a", "1"}, {"b/c", "2"}}).value();
  std::string again;
  TarGzWriter writer([&](std::string_view bytes) -> std::expected<void, std::string> {
    again += bytes;
    return {};
  });
  EXPECT_THAT(read_tar_gz(source_of(packed, 1'000), writer).findings, IsEmpty());
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(again, packed);
}

TEST(TarGzWriter, NamesThatNoReaderTakesAreRefused) {
  for (const char* name : {"", "/etc/passwd", "../up", "a//b", "./a", "bad\x01"})
    EXPECT_THAT(error_of(pack({{name, "x"}})), HasSubstr("cannot be packed")) << name;
}

TEST(TarGzWriter, SizesMustBeKept) {
  const auto written = [](std::string_view bytes) -> std::expected<void, std::string> {
    TarGzWriter writer([](std::string_view) { return std::expected<void, std::string>{}; });
    TRY(writer.begin({"a", 3}));
    TRY(writer.data(bytes));
    return writer.end();
  };
  EXPECT_TRUE(written("123"));
  EXPECT_THAT(written("1234").error(), HasSubstr("more bytes"));
  EXPECT_THAT(written("12").error(), HasSubstr("1 bytes before"));
}

TEST(TarGzWriter, OneThatIsAbandonedInALargeFileGivesNoMoreBytes) {
  std::size_t given = 0;
  const auto began = std::chrono::steady_clock::now();
  {
    TarGzWriter writer([&](std::string_view bytes) -> std::expected<void, std::string> {
      given += bytes.size();
      return {};
    });
    ASSERT_TRUE(writer.begin({"large", std::uint64_t{1} << 40U}));
    ASSERT_TRUE(writer.data("begun"));
  }
  EXPECT_EQ(given, 0U);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30)) << "the missing terabyte was packed";
}

TEST(TarGzWriter, AFullDiskIsReportedInItsOwnWords) {
  std::uint64_t room = 1'000;
  TarGzWriter writer([&](std::string_view bytes) -> std::expected<void, std::string> {
    if (bytes.size() > room) return std::unexpected("no space left");
    room -= bytes.size();
    return {};
  });
  std::string noise(500'000, ' ');
  for (std::size_t i = 0, x = 1; i < noise.size(); ++i)
    noise[i] = static_cast<char>((x = x * 1103515245 + 12345) >> 16U);
  ASSERT_TRUE(writer.begin({"a", noise.size()}));
  auto done = writer.data(noise);
  if (done) done = writer.end();
  if (done) done = writer.finish();
  EXPECT_EQ(error_of(done), "no space left");
}

}  // namespace
}  // namespace stackgate::archive
