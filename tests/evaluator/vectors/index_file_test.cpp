#include "services/evaluator/vectors/index_file.hpp"

#include <cstring>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "services/kit/crypto/digest.hpp"
#include "tests/evaluator/vectors/clustered.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::evaluator {
namespace {

using Kind = IndexShape::Kind;
using testing::HasSubstr;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

EmbeddedIndex some_index(Kind kind, std::size_t count) {
  Clustered drawn(16, 8, 5);
  EmbeddedIndex index({.kind = kind, .dimension = 16, .graph = {.links = 4}}, count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(index.add(drawn.next()));
  return index;
}

void expect_same(const EmbeddedIndex& a, const EmbeddedIndex& b) {
  Clustered drawn(16, 8, 6);
  ASSERT_EQ(a.size(), b.size());
  for (int i = 0; i < 30; ++i) {
    const auto query = drawn.next();
    const auto left = a.nearest(query, 7), right = b.nearest(query, 7);
    ASSERT_EQ(left.size(), right.size());
    for (std::size_t j = 0; j < left.size(); ++j) {
      EXPECT_EQ(left[j].number, right[j].number);
      EXPECT_EQ(left[j].score, right[j].score);
    }
  }
}

/// With the checksum of what it holds now.
void write_signed(const test::TempDir& dir, std::string_view name, std::string bytes) {
  bytes.resize(bytes.size() - sizeof(crypto::Sha256));
  const auto sum = crypto::sha256(bytes);
  bytes.append(reinterpret_cast<const char*>(sum.data()), sum.size());
  dir.write(name, bytes);
}

TEST(IndexFile, is_read_as_it_was_written) {
  const test::TempDir dir;
  for (const Kind kind : {Kind::exact, Kind::hnsw})
    for (const std::size_t count : {0U, 1U, 400U}) {
      const EmbeddedIndex index = some_index(kind, count);
      ASSERT_TRUE(write_index(index, dir / "index"));
      const auto read = read_index(dir / "index");
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->shape().kind, kind);
      expect_same(index, *read);
      ASSERT_TRUE(write_index(*read, dir / "again"));
      EXPECT_EQ(bytes_of(dir / "again"), bytes_of(dir / "index"));
    }
}

TEST(IndexFile, replaces_the_old_one_whole_and_leaves_nothing_beside_it) {
  const test::TempDir dir;
  ASSERT_TRUE(write_index(some_index(Kind::exact, 3), dir / "index"));
  ASSERT_TRUE(write_index(some_index(Kind::exact, 5), dir / "index"));
  EXPECT_EQ(read_index(dir / "index")->size(), 5U);
  struct stat found{};
  EXPECT_NE(::stat((dir / "index.new").c_str(), &found), 0);
  const auto refused = write_index(some_index(Kind::exact, 3), dir / "nowhere/index");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("nowhere/index"));
}

TEST(IndexFile, that_is_not_there_is_told_from_a_damaged_one) {
  const test::TempDir dir;
  EXPECT_EQ(read_index(dir / "index").error().kind, NoIndex::absent);
  dir.write("index", "");
  EXPECT_EQ(read_index(dir / "index").error().kind, NoIndex::damaged);
}

TEST(IndexFile, damaged_anywhere_is_refused) {
  const test::TempDir dir;
  ASSERT_TRUE(write_index(some_index(Kind::hnsw, 40), dir / "index"));
  const std::string good = bytes_of(dir / "index");
  for (std::size_t at = 0; at < good.size(); at += 13) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    dir.write("bad", bad);
    const auto read = read_index(dir / "bad");
    ASSERT_FALSE(read) << at;
    EXPECT_THAT(read.error().message, HasSubstr("its checksum is wrong"));
  }
  for (std::size_t size = 0; size < good.size(); size += 101) {
    dir.write("bad", good.substr(0, size));
    EXPECT_FALSE(read_index(dir / "bad")) << size;
  }
}

/// What the checksum cannot know: a file that was written wrong.
TEST(IndexFile, wrong_numbers_are_refused_with_the_reason) {
  const test::TempDir dir;
  ASSERT_TRUE(write_index(some_index(Kind::hnsw, 40), dir / "index"));
  const std::string good = bytes_of(dir / "index");
  const std::size_t levels = 40 + std::size_t{40} * 16 * 4, lists = levels + std::size_t{40} * 4;
  const auto with = [&](std::size_t at, std::uint32_t value) {
    std::string bad = good;
    std::memcpy(bad.data() + at, &value, sizeof value);
    write_signed(dir, "bad", bad);
    const auto read = read_index(dir / "bad");
    return read ? std::string("fine") : read.error().message;
  };
  std::uint32_t kind = 0;
  std::memcpy(&kind, good.data() + 8, sizeof kind);
  EXPECT_EQ(with(8, kind), "fine");
  EXPECT_THAT(with(0, 0), HasSubstr("another version"));
  EXPECT_THAT(with(8, 2), HasSubstr("kind or metric"));
  EXPECT_THAT(with(16, 0), HasSubstr("dimension"));
  EXPECT_THAT(with(16, 32'768), HasSubstr("vectors end early"));
  EXPECT_THAT(with(20, 1), HasSubstr("too many edges"));
  EXPECT_THAT(with(24, 41), HasSubstr("cannot be used"));
  EXPECT_THAT(with(28, 1), HasSubstr("out of bounds"));
  EXPECT_THAT(with(32, 40), HasSubstr("begins at a vector that there is not"));
  EXPECT_THAT(with(40, 0x7fc00000), HasSubstr("no number"));
  EXPECT_THAT(with(levels, 100), HasSubstr("highest level"));
  EXPECT_THAT(with(lists, 9), HasSubstr("too many edges"));
  EXPECT_THAT(with(lists + 4, 40), HasSubstr("an edge leads to a vector that there is not"));
  EXPECT_THAT(with(lists, 0), HasSubstr("cannot be used"));
}

}  // namespace
}  // namespace stackgate::evaluator
