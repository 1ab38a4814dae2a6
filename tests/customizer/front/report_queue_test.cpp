#include "services/customizer/front/report_queue.hpp"

#include <future>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/kit/sql/engines.hpp"

namespace stackgate::customizer {
namespace {

using namespace std::chrono_literals;

class ReportQueueTest : public sql::test::OnBothEngines {
 protected:
  using Answer = sql::Expected<Records::Reported>;

  void SetUp() override {
    OnBothEngines::SetUp();
    if (IsSkipped()) return;
    const auto done = sql::migrate(*database_, customization_migrations());
    ASSERT_TRUE(done) << done.error().message;
    records_.emplace(*database_);
    for (const std::string name : {"a", "b"}) {
      ASSERT_TRUE(records_->create({.name = name, .model = "m", .request = "{}", .warnings = "[]"}));
      jobs_.push_back(find(name));
    }
  }
  Stored find(const std::string& name) { return records_->find(name).value().value(); }
  static std::string step(const Stored& of, std::uint64_t number) {
    return fmt::format(R"({{"event":"step","job_id":"{}","step":{},"max_steps":99,"loss":1.5}})", of.job.id, number);
  }
  static std::future<Answer> add(ReportQueue& queue, const Stored& of, std::string body) {
    std::promise<Answer> promise;
    auto out = promise.get_future();
    EXPECT_TRUE(queue.add({of.job.id, of.token, std::move(body)},
                          [kept = std::move(promise)](Answer answer) mutable { kept.set_value(std::move(answer)); }));
    return out;
  }
  std::uint64_t step_of(const Stored& of) { return read_progress(find(of.job.id).job.progress).step; }

  std::optional<Records> records_;
  std::vector<Stored> jobs_;
};

TEST_P(ReportQueueTest, answers_what_is_stored) {
  ReportQueue queue(*records_, {.pause = 20ms});
  for (std::uint64_t i = 1; i <= 5; ++i) {
    auto first = add(queue, jobs_[0], step(jobs_[0], i)), second = add(queue, jobs_[1], step(jobs_[1], i));
    EXPECT_EQ(first.get().value().problem, "");
    EXPECT_EQ(step_of(jobs_[0]), i);
    EXPECT_EQ(second.get().value().problem, "");
    EXPECT_EQ(step_of(jobs_[1]), i);
  }
}

TEST_P(ReportQueueTest, commits_once_for_many_and_at_once_for_one) {
  ReportQueue queue(*records_, {.pause = 500ms});
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(add(queue, jobs_[0], step(jobs_[0], 1)).get());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 400ms) << "one alone does not wait";
  std::vector<std::future<Answer>> rest;
  for (std::size_t i = 2; i < 60; ++i) rest.push_back(add(queue, jobs_[i % 2], step(jobs_[i % 2], i)));
  EXPECT_EQ(rest.front().wait_for(100ms), std::future_status::timeout) << "what comes behind it shares a commit";
  EXPECT_EQ(step_of(jobs_[0]), 1U);
  for (auto& each : rest) EXPECT_EQ(each.get().value().problem, "");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s) << "one pause for all of them";
  EXPECT_EQ(records_->points(jobs_[0].job.id, 0, 100).value().size(), 30U);
  EXPECT_EQ(records_->points(jobs_[1].job.id, 0, 100).value().size(), 29U);
}

TEST_P(ReportQueueTest, answers_each_for_itself) {
  ReportQueue queue(*records_, {.pause = 100ms});
  (void)add(queue, jobs_[0], step(jobs_[0], 1)).get();
  Stored stranger = jobs_[1];
  stranger.token = jobs_[0].token;
  Stored broken = jobs_[1];
  broken.job.id = "\xff";  // no engine takes it: as a part of a path anybody may send it
  auto good = add(queue, jobs_[0], step(jobs_[0], 2)), unknown = add(queue, stranger, step(stranger, 2)),
       other = add(queue, jobs_[0], step(jobs_[1], 3)), unfit = add(queue, broken, step(jobs_[1], 2));
  EXPECT_TRUE(good.get().value().known);
  EXPECT_FALSE(unknown.get().value().known);
  EXPECT_THAT(other.get().value().problem, testing::HasSubstr("another job"));
  const Answer refused = unfit.get();
  EXPECT_TRUE(!refused || !refused->known);
  EXPECT_EQ(step_of(jobs_[0]), 2U);
  EXPECT_EQ(step_of(jobs_[1]), 0U);
}

TEST_P(ReportQueueTest, stores_what_waits_before_it_ends) {
  std::future<Answer> last;
  {
    ReportQueue queue(*records_, {.pause = 1h});
    (void)add(queue, jobs_[0], step(jobs_[0], 1)).get();
    last = add(queue, jobs_[0], step(jobs_[0], 2));
  }
  EXPECT_EQ(last.get().value().problem, "");
  EXPECT_EQ(step_of(jobs_[0]), 2U);
}

TEST_P(ReportQueueTest, takes_so_many) {
  ReportQueue queue(*records_, {.pause = 1h, .most = 2});
  (void)add(queue, jobs_[0], step(jobs_[0], 1)).get();
  auto first = add(queue, jobs_[0], step(jobs_[0], 2)), second = add(queue, jobs_[0], step(jobs_[0], 3));
  EXPECT_FALSE(queue.add({jobs_[0].job.id, jobs_[0].token, step(jobs_[0], 4)}, [](const Answer&) { ADD_FAILURE(); }));
}

ON_BOTH_ENGINES(ReportQueueTest);

}  // namespace
}  // namespace stackgate::customizer
