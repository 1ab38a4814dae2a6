#include "services/guardrail/front/threads.hpp"

#include <atomic>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.hpp"

namespace stackgate::guardrail {
namespace {

class ThreadsTest : public testing::Test {
 protected:
  ThreadsTest() : database_(sql::Database::open("sqlite:" + (folder_ / "db"), "").value()) {
    EXPECT_TRUE(sql::migrate(*database_, conversation_migrations()).has_value());
    threads_ = std::make_shared<Threads>(database_, "owner", ConversationOptions{});
  }
  ~ThreadsTest() override { threads_->settle(); }

  std::expected<OpenConversation, web::Failure> open(const std::string& id) const {
    std::promise<std::expected<OpenConversation, web::Failure>> promise;
    threads_->open(id, [&](auto opened) { promise.set_value(std::move(opened)); });
    return promise.get_future().get();
  }

  const test::TempDir folder_{};
  std::shared_ptr<sql::Database> database_;
  std::shared_ptr<Threads> threads_;
};

TEST_F(ThreadsTest, turns_of_one_thread_follow_each_other) {
  constexpr int turns = 30;
  std::atomic<int> inside = 0, most = 0, left = turns;
  std::promise<void> all;
  for (int i = 0; i < turns; ++i)
    threads_->open("one", [&, i](std::expected<OpenConversation, web::Failure> opened) {
      ASSERT_TRUE(opened.has_value());
      most = std::max(most.load(), ++inside);
      std::thread([&, i, conversation = std::move(*opened)]() mutable {
        --inside;
        threads_->close(std::move(conversation), {{"user", std::to_string(i)}, {"assistant", "a"}}, "{}",
                        [&](std::expected<void, web::Failure> kept) {
                          EXPECT_TRUE(kept.has_value());
                          if (--left == 0) all.set_value();
                        });
      }).detach();
    });
  all.get_future().wait();
  EXPECT_EQ(most, 1);
  const auto whole = open("one");
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->messages.size(), 2U * turns);
  threads_->close(*whole, {}, {}, [](const auto&) {});
}

TEST_F(ThreadsTest, too_many_that_wait_are_refused_and_others_are_not) {
  auto first = open("one");
  std::atomic<int> refused = 0;
  for (int i = 0; i < 40; ++i)
    threads_->open("one", [&](std::expected<OpenConversation, web::Failure> opened) {
      if (!opened) {
        EXPECT_EQ(opened.error().status, 429);
        ++refused;
      } else {
        threads_->close(std::move(*opened), {}, {}, [](const auto&) {});
      }
    });
  EXPECT_EQ(refused, 8);
  auto other = open("two");
  ASSERT_TRUE(other.has_value());
  threads_->close(std::move(*other), {}, {}, [](const auto&) {});
  threads_->close(std::move(*first), {}, {}, [](const auto&) {});
}

TEST_F(ThreadsTest, turns_that_wait_for_another_replica_hold_up_no_others) {
  constexpr int held = 12;  // more than threads that ask the database
  Conversations replica(*database_, "replica", ConversationOptions{});
  std::vector<OpenConversation> theirs;
  std::atomic<int> came = 0;
  for (int i = 0; i < held; ++i) {
    const std::string id = "held " + std::to_string(i);
    theirs.push_back(replica.try_open(id).value().value());
    threads_->open(id, [&](std::expected<OpenConversation, web::Failure> opened) {
      ASSERT_TRUE(opened.has_value());
      ++came;
      threads_->close(std::move(*opened), {}, {}, [](const auto&) {});
    });
  }
  const auto begun = std::chrono::steady_clock::now();
  auto free = open("free");
  ASSERT_TRUE(free.has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  EXPECT_EQ(came, 0);
  threads_->close(std::move(*free), {}, {}, [](const auto&) {});
  for (const OpenConversation& each : theirs) EXPECT_TRUE(replica.release(each).value());
  threads_->settle();
  EXPECT_EQ(came, held);
}

TEST_F(ThreadsTest, a_removed_thread_begins_anew) {
  auto opened = open("one");
  std::promise<void> kept;
  threads_->close(std::move(*opened), {{"user", "x"}}, "{}", [&](const auto&) { kept.set_value(); });
  kept.get_future().wait();
  std::promise<bool> removed;
  threads_->remove("one", [&](std::expected<bool, web::Failure> there) { removed.set_value(there.value()); });
  EXPECT_TRUE(removed.get_future().get());
  auto again = open("one");
  EXPECT_TRUE(again->messages.empty());
  threads_->close(std::move(*again), {}, {}, [](const auto&) {});
}

TEST_F(ThreadsTest, a_turn_of_a_thread_that_was_removed_meanwhile_is_a_conflict) {
  auto opened = open("one");
  std::promise<bool> removed;
  threads_->remove("one", [&](std::expected<bool, web::Failure> there) { removed.set_value(there.value()); });
  EXPECT_TRUE(removed.get_future().get());
  std::promise<int> status;
  threads_->close(std::move(*opened), {{"user", "x"}}, "{}",
                  [&](const auto& kept) { status.set_value(kept ? 200 : kept.error().status); });
  EXPECT_EQ(status.get_future().get(), 409);
}

TEST_F(ThreadsTest, a_database_that_fails_holds_no_thread) {
  ASSERT_TRUE(database_->run("ALTER TABLE conversation RENAME TO away", {}).has_value());
  const auto refused = open("one");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().status, 503);
  ASSERT_TRUE(database_->run("ALTER TABLE away RENAME TO conversation", {}).has_value());
  std::promise<bool> second;
  threads_->open("one", [&](auto opened) {
    second.set_value(opened.has_value());
    if (opened) threads_->close(std::move(*opened), {}, {}, [](const auto&) {});
  });
  auto came = second.get_future();
  ASSERT_EQ(came.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_TRUE(came.get());
}

}  // namespace
}  // namespace stackgate::guardrail
