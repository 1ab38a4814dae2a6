#include "services/inference/adapters/memory.hpp"

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::inference {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;
using Result = std::expected<ServedAdapterPtr, std::string>;

AdapterVersion version(std::uint64_t key) {
  return {.record = {.id = fmt::format("id-{}", key), .name = fmt::format("a{}", key)},
          .key = key,
          .checked = {.rank = 4},
          .files = std::make_shared<AdapterFiles>(fmt::format("/nowhere/{}", key))};
}

/// Weights whose head's rank is the number in the directory's name.
std::expected<AdapterWeightsPtr, std::string> load_number(const std::string& directory) {
  auto weights = std::make_shared<model::AdapterWeights>();
  weights->head.rank = std::stoul(directory.substr(directory.rfind('/') + 1));
  weights->head.a.resize(100);
  return weights;
}

std::future<Result> acquire(AdapterMemory& memory, std::uint64_t key) {
  auto promise = std::make_shared<std::promise<Result>>();
  auto future = promise->get_future();
  memory.acquire(version(key), [promise](Result result) { promise->set_value(std::move(result)); });
  return future;
}

bool is_ready(const std::future<Result>& future, std::chrono::milliseconds limit = 50ms) {
  return future.wait_for(limit) == std::future_status::ready;
}

TEST(AdapterMemory, loads_when_it_is_asked_and_gives_the_same_again) {
  std::atomic<int> loads = 0;
  AdapterMemory memory({.load = [&](const std::string& directory) {
    ++loads;
    return load_number(directory);
  }});
  const Result first = acquire(memory, 7).get();
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)->weights->head.rank, 7);
  EXPECT_EQ((*first)->name, "a7");
  EXPECT_EQ((*first)->key, 7);
  auto second = acquire(memory, 7);
  EXPECT_TRUE(is_ready(second, 0ms)) << "it is in memory";
  EXPECT_EQ((*second.get())->weights, (*first)->weights);
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(memory.residency_of(7), Residency::resident);
  EXPECT_EQ(memory.load().adapters, 1);
  EXPECT_EQ(memory.load().bytes, 100 * sizeof(float));
}

TEST(AdapterMemory, waits_for_a_place_while_all_are_in_use) {
  AdapterMemory memory({.resident = 1, .memory = 2, .load = load_number});
  Result one = acquire(memory, 1).get(), two = acquire(memory, 2).get();
  auto three = acquire(memory, 3), four = acquire(memory, 4);
  EXPECT_FALSE(is_ready(three));
  one->reset();
  ASSERT_TRUE(is_ready(three, 5s)) << "who came first";
  EXPECT_FALSE(is_ready(four));
  EXPECT_EQ(memory.residency_of(1), Residency::disk);
  three.get()->reset();
  ASSERT_TRUE(is_ready(four, 5s));
  EXPECT_EQ((*two)->weights->head.rank, 2) << "in use all the time";
  EXPECT_EQ(memory.load().adapters, 2);
}

TEST(AdapterMemory, the_weights_alone_hold_their_adapter) {
  AdapterMemory memory({.resident = 1, .memory = 1, .load = load_number});
  AdapterWeightsPtr weights = weights_of(*acquire(memory, 1).get());
  auto two = acquire(memory, 2);
  EXPECT_FALSE(is_ready(two));
  EXPECT_EQ(weights->head.rank, 1);
  weights.reset();
  EXPECT_TRUE(is_ready(two, 5s));
}

TEST(AdapterMemory, tells_when_the_last_reader_of_what_is_gone_has_left) {
  std::mutex mutex;
  std::vector<std::uint64_t> gone;
  AdapterMemory memory({.load = load_number, .gone = [&](std::uint64_t key) {
                          const std::lock_guard lock(mutex);
                          gone.push_back(key);
                        }});
  Result one = acquire(memory, 1).get(), again = acquire(memory, 1).get();
  memory.forget(1);
  memory.forget(2);  // never asked for
  EXPECT_THAT(gone, ElementsAre(2));
  one->reset();
  EXPECT_THAT(gone, ElementsAre(2));
  EXPECT_EQ((*again)->weights->head.rank, 1);
  again->reset();
  EXPECT_THAT(gone, ElementsAre(2, 1));
  EXPECT_EQ(memory.load().adapters, 0);
  EXPECT_EQ(memory.load().bytes, 0);
}

TEST(AdapterMemory, tells_all_who_wait_when_it_cannot_be_loaded) {
  std::promise<void> go;
  std::atomic<int> failures = 0;
  AdapterMemory memory(
      {.load = [future = go.get_future().share()](const std::string&) -> std::expected<AdapterWeightsPtr, std::string> {
         future.wait();
         return std::unexpected("is broken");
       },
       .failed = [&](const AdapterVersion& which, const std::string&) { failures += which.key == 1; }});
  auto one = acquire(memory, 1), two = acquire(memory, 1);
  go.set_value();
  EXPECT_EQ(one.get().error(), "is broken");
  EXPECT_EQ(two.get().error(), "is broken");
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(memory.load().adapters, 0);
}

TEST(AdapterMemory, loads_early_only_where_nobody_has_to_leave) {
  std::atomic<int> loads = 0;
  AdapterMemory memory({.resident = 1, .memory = 2, .load = [&](const std::string& directory) {
                          ++loads;
                          return load_number(directory);
                        }});
  for (const std::uint64_t key : {1UL, 2UL, 3UL}) memory.load_early(version(key));
  for (int i = 0; i < 500 && loads < 2; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(loads, 2);
  EXPECT_EQ(memory.residency_of(3), Residency::disk);
  EXPECT_TRUE(acquire(memory, 3).get());
  EXPECT_EQ(memory.residency_of(1), Residency::disk) << "the oldest";
}

TEST(AdapterMemory, without_weights_gives_directories) {
  AdapterMemory memory({});
  auto one = acquire(memory, 1);
  ASSERT_TRUE(is_ready(one, 0ms));
  const ServedAdapterPtr adapter = *one.get();
  EXPECT_EQ(adapter->directory, "/nowhere/1");
  EXPECT_EQ(adapter->weights, nullptr);
}

TEST(AdapterMemory, answers_those_who_wait_when_it_ends_and_outlives_nobody_who_reads) {
  std::future<Result> waiting;
  Result held;
  {
    AdapterMemory memory({.resident = 1, .memory = 1, .load = load_number});
    held = acquire(memory, 1).get();
    waiting = acquire(memory, 2);
  }
  EXPECT_FALSE(waiting.get());
  EXPECT_EQ((*held)->weights->head.rank, 1);
}

TEST(AdapterMemory, many_at_once_get_what_they_asked_for_within_its_bounds) {
  AdapterMemory memory({.resident = 2, .memory = 4, .load = load_number});
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 dice(t);
      for (int i = 0; i < 2'000; ++i) {
        const std::uint64_t key = 1 + dice() % 12;
        const Result got = acquire(memory, key).get();
        if (!got || (*got)->weights->head.rank != key || memory.load().adapters > 4) ++wrong;
        if (dice() % 50 == 0) memory.forget(key);
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace stackgate::inference
