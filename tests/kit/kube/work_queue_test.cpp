#include "services/kit/kube/work_queue.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace stackgate::kube::work_queue_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(WorkQueue, never_gives_a_key_to_two_workers_and_loses_no_addition) {
  constexpr int keys = 50, producers = 2, workers = 4, rounds = 4'000;
  WorkQueue<int> queue;
  std::array<std::atomic<int>, keys> wanted{}, served{}, in_work{};
  std::atomic<int> clashes{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w) {
    threads.emplace_back([&] {
      while (const auto work = queue.get()) {
        const auto key = static_cast<std::size_t>(work->key);
        if (++in_work[key] != 1) ++clashes;
        served[key] = wanted[key].load();  // what was wanted before an addition is seen after it
        --in_work[key];
        queue.done(work->key);
      }
    });
  }
  std::vector<std::thread> adding;
  for (int p = 0; p < producers; ++p) {
    adding.emplace_back([&, p] {
      for (int i = 0; i < rounds; ++i) {
        const int key = (i * 7 + p) % keys;
        ++wanted[static_cast<std::size_t>(key)];
        if (i % 3 == 0)
          queue.add_after(key, std::chrono::milliseconds(i % 4));
        else
          queue.add(key, i % 3 == 1 ? Priority::normal : Priority::low);
      }
    });
  }
  for (auto& thread : adding) thread.join();
  const auto limit = Clock::now() + 10s;
  const auto idle = [&] {
    const QueueNumbers numbers = queue.numbers();
    return numbers.depth() + numbers.delayed + numbers.in_work == 0;
  };
  while (!idle() && Clock::now() < limit) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(idle());
  queue.shut_down();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
  for (std::size_t key = 0; key < keys; ++key) EXPECT_EQ(served[key], wanted[key]) << key;
}

TEST(WorkQueue, a_delay_ends_in_time_although_the_worker_that_kept_the_time_took_work) {
  WorkQueue<int> queue;
  std::atomic<bool> release{false};
  std::atomic<Clock::rep> delayed_at{0};
  const auto worker = [&] {
    while (const auto work = queue.get()) {
      if (work->key == 1)
        while (!release) std::this_thread::sleep_for(1ms);
      if (work->key == 2) delayed_at = Clock::now().time_since_epoch().count();
      queue.done(work->key);
    }
  };
  std::thread first(worker), second(worker);
  std::this_thread::sleep_for(20ms);  // both wait
  queue.add_after(2, 100ms);
  const auto due = Clock::now() + 100ms;
  std::this_thread::sleep_for(10ms);
  queue.add(1);  // occupies one of them, perhaps the one that keeps the time
  for (int i = 0; i < 2'000 && delayed_at == 0; ++i) std::this_thread::sleep_for(1ms);
  release = true;
  queue.shut_down();
  first.join();
  second.join();
  ASSERT_NE(delayed_at, 0);
  const Clock::time_point when{Clock::duration(delayed_at)};
  EXPECT_GE(when, due - 5ms);
  EXPECT_LE(when, due + 500ms);
}

TEST(WorkQueue, a_shorter_delay_is_noticed_by_a_worker_that_waits_for_a_longer_one) {
  WorkQueue<int> queue;
  queue.add_after(1, 60s);
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    queue.add_after(2, 10ms);
  });
  const auto begun = Clock::now();
  const auto work = queue.get();
  later.join();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->key, 2);
  EXPECT_LT(Clock::now() - begun, 10s);
}

TEST(WorkQueue, shut_down_wakes_those_who_wait_and_lets_work_end) {
  WorkQueue<int> queue;
  queue.add(1);
  queue.add(2);
  const auto work = queue.get();
  ASSERT_TRUE(work);
  std::atomic<int> answered{0};
  std::thread waiting([&] {
    while (queue.get().has_value()) ++answered;
  });
  while (answered == 0) std::this_thread::sleep_for(1ms);
  queue.shut_down();
  waiting.join();
  EXPECT_EQ(answered, 1);
  queue.done(1);
  queue.done(2);
  EXPECT_EQ(queue.get(), std::nullopt);
}

TEST(WorkQueue, done_wakes_another_worker_for_a_key_that_was_added_meanwhile) {
  WorkQueue<int> queue;
  queue.add(7);
  ASSERT_TRUE(queue.get());
  std::atomic<int> got{0};
  std::thread worker([&] {
    if (const auto work = queue.get()) got = work->key;
  });
  std::this_thread::sleep_for(20ms);
  queue.add(7);
  queue.done(7);
  for (int i = 0; i < 2'000 && got == 0; ++i) std::this_thread::sleep_for(1ms);
  queue.shut_down();
  worker.join();
  EXPECT_EQ(got, 7);
}

TEST(WorkQueue, a_delay_of_nothing_wakes_a_worker) {
  WorkQueue<int> queue;
  std::atomic<int> got{0};
  std::thread worker([&] {
    if (const auto work = queue.get()) got = work->key;
  });
  std::this_thread::sleep_for(20ms);
  queue.add_after(5, 0ms);
  for (int i = 0; i < 2'000 && got == 0; ++i) std::this_thread::sleep_for(1ms);
  queue.shut_down();
  worker.join();
  EXPECT_EQ(got, 5);
}

}  // namespace
}  // namespace stackgate::kube::work_queue_test
