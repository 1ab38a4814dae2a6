#include "services/kit/base/inbox.hpp"

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace stackgate {
namespace {

struct Loop : Inbox {
  int wakes = 0;
  void wake() override { ++wakes; }
  using Inbox::close;
  using Inbox::run_tasks;
};

TEST(Inbox, wakes_once_for_all_that_waits) {
  const auto loop = std::make_shared<Loop>();
  std::string done;
  EXPECT_TRUE(loop->put([&] { done += 'a'; }));
  EXPECT_TRUE(loop->put_batched([&] { done += 'b'; }));  // no batch: like put()
  EXPECT_EQ(loop->wakes, 1);
  loop->run_tasks();
  EXPECT_EQ(done, "ab");
  loop->put_batched([&] { done += 'c'; });
  EXPECT_EQ(loop->wakes, 2);
}

TEST(Inbox, runs_what_a_task_puts_in_the_next_time) {
  const auto loop = std::make_shared<Loop>();
  int runs = 0;
  loop->put([&] { loop->put([&] { ++runs; }); });
  loop->run_tasks();
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(loop->wakes, 2);
  loop->run_tasks();
  EXPECT_EQ(runs, 1);
}

TEST(Inbox, a_batch_wakes_at_its_end) {
  const auto loop = std::make_shared<Loop>(), other = std::make_shared<Loop>();
  {
    const WakeBatch batch;
    const WakeBatch inner;
    EXPECT_FALSE(WakeBatch::is_waited_for());
    loop->put_batched([] {});
    loop->put_batched([] {});
    other->put_batched([] {});
    EXPECT_TRUE(WakeBatch::is_waited_for());
    EXPECT_EQ(loop->wakes + other->wakes, 0);
  }
  EXPECT_FALSE(WakeBatch::is_waited_for());
  EXPECT_EQ(loop->wakes, 1);
  EXPECT_EQ(other->wakes, 1);
}

TEST(Inbox, put_does_not_wait_for_a_batch) {
  const auto loop = std::make_shared<Loop>();
  {
    const WakeBatch batch;
    loop->put_batched([] {});
    loop->put([] {});
    EXPECT_EQ(loop->wakes, 1);
    loop->run_tasks();  // on its own thread, meanwhile
  }
  EXPECT_EQ(loop->wakes, 1);  // and not for nothing
}

TEST(Inbox, whoever_blocks_wakes_first) {
  const auto loop = std::make_shared<Loop>();
  const WakeBatch batch;
  loop->put_batched([] {});
  {
    const WakeBatch::Blocking blocking;
    EXPECT_EQ(loop->wakes, 1);
    loop->run_tasks();
    loop->put_batched([] {});
    EXPECT_EQ(loop->wakes, 2);
    loop->run_tasks();
  }
  loop->put_batched([] {});
  EXPECT_EQ(loop->wakes, 2);
}

TEST(Inbox, whoever_blocks_wakes_what_another_threads_batch_was_to_wake) {
  const auto loop = std::make_shared<Loop>();
  const WakeBatch batch;
  loop->put_batched([] {});
  std::thread([&] {
    const WakeBatch other;
    loop->put_batched([] {});
    const WakeBatch::Blocking blocking;
    EXPECT_EQ(loop->wakes, 1);
  }).join();
}

TEST(Inbox, takes_nothing_once_it_is_closed) {
  const auto loop = std::make_shared<Loop>();
  loop->close();
  const auto held = std::make_shared<int>();
  EXPECT_FALSE(loop->put([held] {}));
  const WakeBatch batch;
  EXPECT_FALSE(loop->put_batched([held] {}));
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(loop->wakes, 0);
}

TEST(Inbox, a_batch_keeps_whom_it_wakes) {
  auto loop = std::make_shared<Loop>();
  const std::weak_ptr<Loop> seen = loop;
  {
    const WakeBatch batch;
    loop->put_batched([] {});
    loop.reset();
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired());
}

}  // namespace
}  // namespace stackgate
