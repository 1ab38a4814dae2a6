#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "services/kit/jobs/queue.hpp"
#include "services/kit/jobs/worker.hpp"
#include "tests/kit/sql/engines.hpp"

namespace stackgate::jobs {
namespace {

using namespace std::chrono_literals;

class Jobs : public sql::test::OnBothEngines {
 protected:
  void SetUp() override {
    OnBothEngines::SetUp();
    if (IsSkipped()) return;
    const std::array all = {migration(1)};
    ASSERT_TRUE(sql::migrate(*database_, all));
  }
  Queue queue(std::string owner, std::chrono::seconds lease = 60s) { return {*database_, std::move(owner), lease}; }
  /// As if so many seconds had passed since the last renewal.
  void age_lease(int seconds) { must("UPDATE job SET lease_until = lease_until - $1", {std::int64_t{seconds}}); }
  static Job read(Queue& queue, const std::string& id) { return queue.read(id).value().value(); }
  static bool becomes(Queue& queue, const std::string& id, State state) {
    for (int i = 0; i < 1000; ++i, std::this_thread::sleep_for(10ms))
      if (read(queue, id).state == state) return true;
    return false;
  }
};

TEST_P(Jobs, are_claimed_in_their_order_and_by_kind) {
  Queue one = queue("one");
  const std::string first = one.enqueue("train", "{\"n\":1}")->id, second = one.enqueue("train", "{}")->id;
  one.enqueue("other", "{}");
  const auto got = one.claim("train").value();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->id, first);
  EXPECT_EQ(got->input, "{\"n\":1}");
  EXPECT_EQ(got->attempts, 1);
  EXPECT_EQ(got->owner, "one");
  EXPECT_EQ(one.claim("train").value()->id, second);
  EXPECT_FALSE(one.claim("train").value());
}

TEST_P(Jobs, have_one_worker_until_its_lease_runs_out) {
  Queue one = queue("one"), two = queue("two");
  const std::string id = one.enqueue("train", "{}")->id;
  ASSERT_TRUE(one.claim("train").value());
  EXPECT_FALSE(two.claim("train").value());
  age_lease(50);
  EXPECT_TRUE(one.renew(id)->ours);
  age_lease(50);
  EXPECT_FALSE(two.claim("train").value());
  age_lease(50);
  const auto taken = two.claim("train").value();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->attempts, 2);
  EXPECT_FALSE(one.renew(id)->ours);
  EXPECT_FALSE(one.finish(id, State::succeeded, "{}").value());
  EXPECT_FALSE(one.note_progress(id, "{}").value());
  EXPECT_TRUE(two.finish(id, State::succeeded, "{\"ok\":true}").value());
  EXPECT_EQ(read(one, id).result, "{\"ok\":true}");
  EXPECT_EQ(read(one, id).state, State::succeeded);
}

TEST_P(Jobs, of_one_key_are_one) {
  Queue one = queue("one");
  const auto first = one.enqueue("train", "{}", "key"), again = one.enqueue("train", "{\"other\":1}", "key");
  EXPECT_TRUE(first->is_new);
  EXPECT_FALSE(again->is_new);
  EXPECT_EQ(first->id, again->id);
  EXPECT_NE(one.enqueue("train", "{}")->id, one.enqueue("train", "{}")->id);
}

TEST_P(Jobs, that_wait_are_cancelled_at_once_and_those_that_run_are_asked) {
  Queue one = queue("one");
  const std::string waits = one.enqueue("train", "{}")->id;
  EXPECT_EQ(one.cancel(waits).value(), State::cancelled);
  EXPECT_FALSE(one.claim("train").value());
  const std::string runs = one.enqueue("train", "{}")->id;
  ASSERT_TRUE(one.claim("train").value());
  EXPECT_FALSE(one.renew(runs)->cancel_requested);
  EXPECT_EQ(one.cancel(runs).value(), State::running);
  EXPECT_TRUE(one.renew(runs)->cancel_requested);
  EXPECT_TRUE(one.finish(runs, State::succeeded, "{}").value());
  EXPECT_EQ(one.cancel(runs).value(), State::succeeded);
  EXPECT_FALSE(one.cancel("none").value());
}

TEST_P(Jobs, put_back_wait_out_their_pause) {
  Queue one = queue("one");
  const std::string id = one.enqueue("train", "{}")->id;
  one.claim("train");
  EXPECT_TRUE(one.put_back(id, 3600s, true).value());
  EXPECT_FALSE(one.claim("train").value());
  must("UPDATE job SET not_before = 0");
  EXPECT_EQ(one.claim("train").value()->attempts, 2);
  EXPECT_TRUE(one.put_back(id, 0s, false).value());
  EXPECT_EQ(one.claim("train").value()->attempts, 2);
}

TEST_P(Jobs, are_listed_by_pages_the_newest_first) {
  Queue one = queue("one");
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(one.enqueue("train", "{}")->id);
  const auto page = one.list("train", std::nullopt, 2).value();
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[0].id, ids[4]);
  EXPECT_EQ(one.list("train", std::nullopt, 9, page[1].id)->size(), 3U);
  EXPECT_TRUE(one.list("train", State::running, 9)->empty());
  EXPECT_TRUE(one.list("other", std::nullopt, 9)->empty());
}

TEST_P(Jobs, that_ended_long_ago_are_removed) {
  Queue one = queue("one");
  const std::string ended = one.enqueue("train", "{}")->id, open = one.enqueue("train", "{}")->id;
  one.cancel(ended);
  EXPECT_EQ(one.remove_finished(3600s).value(), 0);
  must("UPDATE job SET changed_at = changed_at - 4000");
  EXPECT_EQ(one.remove_finished(3600s).value(), 1);
  EXPECT_FALSE(one.read(ended).value());
  EXPECT_TRUE(one.read(open).value());
}

TEST_P(Jobs, are_done_once_by_many_workers) {
  Queue one = queue("one"), two = queue("two");
  std::mutex mutex;
  std::multiset<std::string> done;
  const auto handler = [&](Attempt& attempt) {
    const std::lock_guard lock(mutex);
    done.insert(attempt.job().id);
    return Outcome{};
  };
  std::set<std::string> ids;
  for (int i = 0; i < 40; ++i) ids.insert(one.enqueue("train", "{}")->id);
  {
    const WorkerOptions options{.kind = "train", .threads = 3, .look = 10ms};
    Worker a(one, options, handler), b(two, options, handler);
    for (const std::string& id : ids) EXPECT_TRUE(becomes(one, id, State::succeeded));
  }
  EXPECT_EQ(done.size(), ids.size());
}

TEST_P(Jobs, end_as_their_handler_says) {
  Queue one = queue("one");
  const std::string fails = one.enqueue("train", "fail")->id, throws = one.enqueue("train", "throw")->id,
                    again = one.enqueue("train", "again")->id;
  const Worker worker(one, {.kind = "train", .attempts = 3, .look = 10ms}, [](Attempt& attempt) -> Outcome {
    if (attempt.job().input == "throw") throw std::runtime_error("a \"quoted\" reason");
    if (attempt.job().input == "again") return {.kind = Outcome::Kind::again, .result = "{\"tries\":1}"};
    return {.kind = Outcome::Kind::failed, .result = "{\"why\":1}"};
  });
  EXPECT_TRUE(becomes(one, fails, State::failed));
  EXPECT_EQ(read(one, fails).result, "{\"why\":1}");
  EXPECT_TRUE(becomes(one, throws, State::failed));
  EXPECT_EQ(read(one, throws).result, R"({"error":"a \"quoted\" reason"})");
  EXPECT_TRUE(becomes(one, again, State::failed));
  EXPECT_EQ(read(one, again).attempts, 3);
}

TEST_P(Jobs, that_end_their_process_again_and_again_are_given_up) {
  Queue one = queue("one");
  const std::string id = one.enqueue("train", "{}")->id;
  must("UPDATE job SET attempts = 3");
  std::atomic<bool> called = false;
  const Worker worker(one, {.kind = "train", .attempts = 3, .look = 10ms}, [&](Attempt&) {
    called = true;
    return Outcome{};
  });
  EXPECT_TRUE(becomes(one, id, State::failed));
  EXPECT_EQ(read(one, id).result, R"({"error":"given up after 3 attempts"})");
  EXPECT_FALSE(called);
}

TEST_P(Jobs, under_way_hear_of_a_cancellation_and_of_the_end) {
  Queue one = queue("one");
  std::atomic<int> running = 0;
  const auto wait_for_stop = [&](Attempt& attempt) {
    ++running;
    attempt.note_progress("{\"percent\":10}");
    while (!attempt.stop_requested()) std::this_thread::sleep_for(5ms);
    return Outcome{.kind = Outcome::Kind::failed, .result = "{\"partial\":1}"};
  };
  const std::string id = one.enqueue("train", "{}")->id;
  {
    const Worker worker(one, {.kind = "train", .look = 10ms, .heartbeat = 20ms}, wait_for_stop);
    EXPECT_TRUE(becomes(one, id, State::running));
    for (int i = 0; i < 500 && read(one, id).result.empty(); ++i) std::this_thread::sleep_for(10ms);
    EXPECT_EQ(read(one, id).result, "{\"percent\":10}");
    one.cancel(id);
    EXPECT_TRUE(becomes(one, id, State::cancelled));
    EXPECT_EQ(read(one, id).result, "{\"partial\":1}");
  }
  const std::string left = one.enqueue("train", "{}")->id;
  {
    const Worker worker(one, {.kind = "train", .look = 10ms}, wait_for_stop);
    for (int i = 0; i < 500 && running < 2; ++i) std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(read(one, left).state, State::queued);  // for another replica, and no attempt is counted
  EXPECT_EQ(read(one, left).attempts, 0);
}

ON_BOTH_ENGINES(Jobs);

}  // namespace
}  // namespace stackgate::jobs
