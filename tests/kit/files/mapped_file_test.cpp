#include "services/kit/files/mapped_file.hpp"

#include <cerrno>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/support/temp_dir.hpp"

namespace stackgate::files {
namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, has_the_bytes_of_the_file_wherever_it_is_moved) {
  const test::TempDir folder;
  folder.write("a", "some bytes");
  auto file = MappedFile::open(folder / "a");
  ASSERT_TRUE(file);
  file->will_need();
  MappedFile other = std::move(*file);
  EXPECT_EQ(text_of(other), "some bytes");
  EXPECT_TRUE(file->bytes().empty());  // NOLINT(bugprone-use-after-move): it is empty afterwards
  MappedFile third;
  third = std::move(other);
  EXPECT_EQ(text_of(third), "some bytes");
}

TEST(MappedFile, outlives_the_name_of_its_file) {
  const test::TempDir folder;
  folder.write("a", "some bytes");
  const auto file = MappedFile::open(folder / "a");
  ASSERT_TRUE(file);
  std::filesystem::remove(folder / "a");
  EXPECT_EQ(text_of(*file), "some bytes");
}

TEST(MappedFile, is_empty_for_an_empty_file_and_an_error_for_what_is_none) {
  const test::TempDir folder;
  folder.write("empty", "");
  ASSERT_TRUE(MappedFile::open(folder / "empty"));
  EXPECT_TRUE(MappedFile::open(folder / "empty")->bytes().empty());
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  for (const char* none : {"absent", "empty/absent", ".", "fifo"}) {
    const auto file = MappedFile::open(folder / none);
    ASSERT_FALSE(file) << none;
    EXPECT_EQ(file.error(), ENOENT) << none;
  }
}

}  // namespace
}  // namespace stackgate::files
