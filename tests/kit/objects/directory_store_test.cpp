#include "services/kit/objects/directory_store.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temp_dir.hpp"

namespace {

using namespace stackgate;
using objects::DirectoryStore;
using objects::Fault;
namespace fs = std::filesystem;

std::unique_ptr<objects::Store> store_at(const std::string& path) {
  auto opened = DirectoryStore::open_at(path, std::chrono::hours(24));
  if (!opened) throw std::runtime_error(opened.error().message);
  return std::move(*opened);
}

bool put_file(objects::Store& store, const std::string& key, std::string_view bytes) {
  auto upload = store.create(key, bytes.size());
  return upload && (*upload)->write(bytes) && (*upload)->commit();
}

std::size_t files_below(const std::string& path) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path)) count += entry.is_directory() ? 0 : 1;
  return count;
}

TEST(DirectoryStore, PutsAnObjectWhereItsKeySays) {
  const test::TempDir dir;
  const auto store = store_at(dir / "objects");
  ASSERT_TRUE(put_file(*store, "ab/cd/abcd", "text"));
  std::ifstream file(dir / "objects/ab/cd/abcd");
  std::string text;
  file >> text;
  EXPECT_EQ(text, "text");
  EXPECT_EQ(files_below(dir / "objects"), 1U);
}

TEST(DirectoryStore, KeepsUnfinishedUploadsOutOfSightAndRemovesThem) {
  const test::TempDir dir;
  const auto store = store_at(dir / "objects");
  auto upload = store->create("a", std::nullopt);
  ASSERT_TRUE(upload && (*upload)->write("x"));
  EXPECT_EQ(files_below(dir / "objects/+unfinished"), 1U);
  upload->reset();
  EXPECT_EQ(files_below(dir / "objects"), 0U);
}

TEST(DirectoryStore, SweepsOldUnfinishedUploadsOnlyAtStart) {
  const test::TempDir dir;
  (void)store_at(dir / "objects");
  dir.write("objects/+unfinished/old", "x");
  dir.write("objects/+unfinished/fresh", "x");
  fs::last_write_time(dir / "objects/+unfinished/old", fs::file_time_type::clock::now() - std::chrono::hours(25));
  (void)store_at(dir / "objects");
  EXPECT_FALSE(fs::exists(dir / "objects/+unfinished/old"));
  EXPECT_TRUE(fs::exists(dir / "objects/+unfinished/fresh"));
}

TEST(DirectoryStore, FollowsNoSymbolicLink) {
  const test::TempDir dir;
  const auto store = store_at(dir / "objects");
  dir.write("secret", "secret");
  fs::create_directory(dir / "outside");
  dir.write("outside/file", "outside");
  fs::create_symlink(dir / "secret", dir / "objects/link");
  fs::create_directory_symlink(dir / "outside", dir / "objects/folder");
  for (const char* key : {"link", "folder/file"}) {
    EXPECT_FALSE(store->stat(key)) << key;
    EXPECT_FALSE(store->open(key)) << key;
  }
  EXPECT_FALSE(put_file(*store, "folder/new", "x"));
  EXPECT_FALSE(fs::exists(dir / "outside/new"));
  ASSERT_TRUE(put_file(*store, "link", "mine"));  // replaces the link, not what it names
  EXPECT_EQ(fs::file_size(dir / "secret"), 6U);
  std::size_t seen = 0;
  ASSERT_TRUE(store->list("", [&](const objects::Entry&) { return ++seen > 0; }));
  EXPECT_EQ(seen, 1U);
}

TEST(DirectoryStore, ReadsNothingButRegularFiles) {
  const test::TempDir dir;
  const auto store = store_at(dir / "objects");
  ASSERT_EQ(::mkfifo((dir / "objects/fifo").c_str(), 0600), 0);
  EXPECT_FALSE(store->open("fifo"));  // and does not wait for a writer
  ASSERT_TRUE(put_file(*store, "folder/file", "x"));
  const auto folder = store->stat("folder");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().fault, Fault::missing);
}

TEST(DirectoryStore, SaysThatAKeyIsAnothersFolder) {
  const test::TempDir dir;
  const auto store = store_at(dir / "objects");
  ASSERT_TRUE(put_file(*store, "a", "x"));
  auto below = store->create("a/b", 1);
  ASSERT_TRUE(below && (*below)->write("x"));
  const auto committed = (*below)->commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().fault, Fault::refused) << committed.error().message;
  below->reset();
  EXPECT_EQ(files_below(dir / "objects"), 1U);
}

TEST(DirectoryStore, GivesADescriptorForSendfile) {
  const test::TempDir dir;
  const auto store = store_at(dir / "objects");
  ASSERT_TRUE(put_file(*store, "a", "text"));
  const auto download = store->open("a");
  ASSERT_TRUE(download);
  char bytes[8];
  EXPECT_EQ(::pread((*download)->descriptor(), bytes, sizeof bytes, 0), 4);
}

TEST(DirectoryStore, TellsAFileThatWasCutFromOneThatEnds) {
  const test::TempDir dir;
  const auto store = store_at(dir / "objects");
  ASSERT_TRUE(put_file(*store, "a", "text"));
  auto download = store->open("a");
  ASSERT_TRUE(download);
  fs::resize_file(dir / "objects/a", 0);
  char bytes[8];
  const auto count = (*download)->read(bytes);
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().fault, Fault::broken);
}

TEST(DirectoryStore, SaysWhatIsWrongWithItsDirectory) {
  const test::TempDir dir;
  dir.write("file", "x");
  const auto opened = DirectoryStore::open_at(dir / "file", std::chrono::hours(1));
  ASSERT_FALSE(opened);
  EXPECT_TRUE(opened.error().message.contains("object directory " + (dir / "file"))) << opened.error().message;
}

TEST(DirectoryStore, SaysAtTheCheckThatItsDirectoryIsGone) {
  const test::TempDir dir;
  const auto store = store_at(dir / "objects");
  ASSERT_TRUE(store->check());
  fs::remove_all(dir / "objects");
  EXPECT_FALSE(store->check());
}

// A file system of 256 KiB of its own; needs root.
class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(dir_ / "small");
    if (::mount("tmpfs", (dir_ / "small").c_str(), "tmpfs", 0, "size=256k") != 0)
      GTEST_SKIP() << "this process may not mount a small file system";
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2((dir_ / "small").c_str(), MNT_DETACH);
  }
  test::TempDir dir_;
  bool mounted_ = false;
};

TEST_F(FullDisk, IsToldBeforeTheFirstByteWhenTheSizeIsKnown) {
  const auto store = store_at(dir_ / "small/objects");
  const auto upload = store->create("a", 1'000'000);
  ASSERT_FALSE(upload);
  EXPECT_EQ(upload.error().fault, Fault::full) << upload.error().message;
  EXPECT_EQ(files_below(dir_ / "small"), 0U);
}

TEST_F(FullDisk, IsToldInTheMiddleOtherwiseAndNothingStays) {
  const auto store = store_at(dir_ / "small/objects");
  {
    auto upload = store->create("a", std::nullopt);
    ASSERT_TRUE(upload);
    objects::Expected<void> written;
    for (int i = 0; i < 100 && written; ++i) written = (*upload)->write(std::string(10'000, 'x'));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().fault, Fault::full) << written.error().message;
    EXPECT_FALSE((*upload)->commit());
  }
  EXPECT_EQ(files_below(dir_ / "small"), 0U);
  EXPECT_TRUE(put_file(*store, "b", std::string(100'000, 'y')));
}

// kill -9 between any two calls: the object is there whole or not at all.
TEST(DirectoryStore, SurvivesAKillAtAnyMoment) {
  const test::TempDir dir;
  const std::string bytes(3'000'000, 'z');
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto store = store_at(dir / "objects");
      for (int i = 0;; ++i) put_file(*store, "k/" + std::to_string(i % 3), bytes);
    }
    ::usleep(static_cast<useconds_t>(2'000 + round * 1'700));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto store = store_at(dir / "objects");
    ASSERT_TRUE(store->list("", [&](const objects::Entry& entry) {
      EXPECT_EQ(entry.info.size, bytes.size()) << entry.key;
      return true;
    }));
  }
}

}  // namespace
