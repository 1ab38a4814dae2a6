#include "services/evaluator/retrieval/embedding_log.hpp"

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>

#include "tests/support/temp_dir.hpp"

namespace stackgate::evaluator {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<float> all_of(const EmbeddingLog& log) {
  std::vector<float> out;
  EXPECT_TRUE(log.read([&](std::uint64_t first, std::span<const float> vectors) {
    EXPECT_EQ(first * log.dimension(), out.size());
    out.insert(out.end(), vectors.begin(), vectors.end());
    return true;
  }));
  return out;
}

TEST(EmbeddingLog, goes_on_where_it_was) {
  const test::TempDir dir;
  {
    auto log = EmbeddingLog::open(dir / "log");
    ASSERT_TRUE(log) << log.error();
    EXPECT_EQ(log->size(), 0U);
    ASSERT_TRUE(log->append(2, std::vector<float>{1, 2, 3, 4}));
    ASSERT_TRUE(log->append(2, std::vector<float>{5, 6}));
    EXPECT_FALSE(log->append(3, std::vector<float>{5, 6, 7})) << "another dimension";
    EXPECT_FALSE(log->append(2, std::vector<float>{5}));
  }
  auto log = EmbeddingLog::open(dir / "log");
  EXPECT_EQ(log->size(), 3U);
  EXPECT_EQ(log->dimension(), 2U);
  ASSERT_TRUE(log->append(2, std::vector<float>{7, 8}));
  EXPECT_THAT(all_of(*log), testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(EmbeddingLog, torn_or_damaged_anywhere_gives_what_is_whole_before) {
  const test::TempDir dir;
  {
    auto log = EmbeddingLog::open(dir / "log");
    for (float i = 0; i < 5; ++i) ASSERT_TRUE(log->append(2, std::vector<float>{i, i}));
  }
  const std::string good = bytes_of(dir / "log");
  for (std::size_t size = 0; size <= good.size(); ++size) {
    dir.write("torn", good.substr(0, size));
    auto log = EmbeddingLog::open(dir / "torn");
    ASSERT_TRUE(log);
    EXPECT_EQ(log->size(), size < 12 ? 0 : (size - 12) / 20) << size;
    ASSERT_TRUE(log->append(2, std::vector<float>{9, 9}));
    const auto vectors = all_of(*log);
    EXPECT_EQ(vectors.back(), 9);
    EXPECT_EQ(vectors.size() / 2, log->size());
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    dir.write("bad", bad);
    auto log = EmbeddingLog::open(dir / "bad");
    ASSERT_TRUE(log);
    EXPECT_LT(log->size(), 5U) << at;
    const auto vectors = all_of(*log);
    for (std::size_t i = 0; i < vectors.size(); ++i) EXPECT_EQ(vectors[i], static_cast<float>(i / 2)) << at;
  }
}

TEST(EmbeddingLog, belongs_to_one_at_a_time_and_is_gone_once_removed) {
  const test::TempDir dir;
  auto log = EmbeddingLog::open(dir / "log");
  ASSERT_TRUE(log->append(1, std::vector<float>{1}));
  EXPECT_FALSE(EmbeddingLog::open(dir / "log", [] { return true; })) << "stopped while it waited";
  std::atomic<int> size = -1;
  std::jthread other([&] { size = static_cast<int>(EmbeddingLog::open(dir / "log")->size()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(size, -1);
  log->remove();
  {
    const EmbeddingLog gone = std::move(*log);
  }
  other.join();
  EXPECT_EQ(size, 0);
}

TEST(EmbeddingLog, that_cannot_be_there_says_so) {
  const auto log = EmbeddingLog::open("/nowhere/at/all");
  ASSERT_FALSE(log);
  EXPECT_THAT(log.error(), testing::HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace stackgate::evaluator
