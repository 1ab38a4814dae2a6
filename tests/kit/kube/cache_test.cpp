#include "services/kit/kube/cache.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace stackgate::kube {
namespace {

Object object(const std::string& ns, const std::string& name, int size = 0) {
  bool valid = false;
  Object out = Object::parse(
      R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"("},"size":)" + std::to_string(size) + "}",
      valid);
  EXPECT_TRUE(valid);
  return out;
}

int size_of(const json::Value& value) { return static_cast<int>(value.find("size")->integer()); }

TEST(PlainCache, is_written_while_readers_never_pause) {
  Cache<int> cache(size_of);
  const auto begun = std::chrono::steady_clock::now();
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t)
    readers.emplace_back([&] {
      while (!done) wrong += cache.find("ml", "1").value_or(1) % 50 != 1;
    });
  for (int i = 0; i < 2000; ++i) {
    cache.upsert(object("ml", std::to_string(i % 50), i).root());
    if (i % 7 == 0) cache.remove(object("ml", std::to_string(i % 50)).root());
    if (i % 100 == 0) cache.relist_began();
    if (i % 100 == 90) cache.relist_ended();
  }
  done = true;
  for (auto& each : readers) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20)) << "readers keep the writer out";
}

TEST(PlainCache, keeps_the_projection_and_drops_what_a_new_list_does_not_hold) {
  Cache<int> cache(size_of);
  cache.relist_began();
  cache.upsert(object("ml", "a", 7).root());
  cache.upsert(object("", "wide", 8).root());
  cache.relist_ended();
  EXPECT_EQ(cache.find("ml", "a"), 7);
  EXPECT_EQ(cache.find("", "wide"), 8);
  cache.relist_began();
  cache.upsert(object("ml", "b", 9).root());
  EXPECT_EQ(cache.size(), 3U);
  cache.relist_ended();
  EXPECT_EQ(cache.size(), 1U);
  cache.remove(object("ml", "b").root());
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace stackgate::kube
