#include "services/evaluator/engine/asking.hpp"

#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/log/log.hpp"
#include "tests/kit/web/app_support.hpp"

namespace stackgate::evaluator {
namespace {

using namespace std::chrono_literals;

/// Each sample: "sample N", then "again: <answer>" to the judge.
class TwoRounds final : public Task {
 public:
  explicit TwoRounds(std::size_t samples) : samples_(samples) {}
  const std::string& name() const override { return name_; }
  std::size_t samples() const override { return samples_; }
  bool wants_likelihoods() const override { return false; }
  std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const override {
    if (replies.empty()) return {{.question = {.prompt = "sample " + std::to_string(sample)}}};
    if (replies.size() == 1 && replies[0].answer)
      return {{.whom = Whom::judge, .question = {.prompt = "again: " + replies[0].answer->text}}};
    return {};
  }
  Scored score(std::size_t, std::span<const Reply> replies) const override {
    const Reply& last = replies.back();
    return {.record = last.answer ? last.answer->text : "", .fault = last.fault};
  }
  TaskResult result(std::span<const std::vector<double>>, std::uint64_t) const override { return {}; }

 private:
  std::string name_ = "two-rounds";
  std::size_t samples_;
};

/// Says the prompt in brackets.
class AskingTest : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    app_ = web::test::start({{"POST", "/v1/completions",
                              [this](web::Call& call) -> web::Answer {
                                const auto body = call.json();
                                const std::string prompt(json::text_at((*body)->root, "prompt"));
                                {
                                  const std::lock_guard lock(mutex_);
                                  asked_.insert(prompt);
                                  most_ = std::max(most_, ++under_way_);
                                }
                                std::this_thread::sleep_for(delay_);
                                --under_way_;
                                if (prompt == refused_) return web::Failure{.status = 400, .message = "too odd"};
                                if (away_ > 0 && --away_ >= 0) return web::Failure{.status = 500, .message = "down"};
                                return http::Response{
                                    200, "application/json", {}, R"({"choices":[{"text":"<)" + prompt + ">\"}]}"};
                              }}},
                            {.pool_threads = 32});
  }
  Endpoint endpoint(std::string model = "m") {
    return Endpoint({.url = "http://127.0.0.1:" + std::to_string(app_->port()) + "/v1",
                     .model = std::move(model),
                     .max_retries = 0},
                    [this] { return stop_.load(); });
  }
  /// Records by sample, "fault: …" for those without.
  std::map<std::size_t, std::string> run(std::size_t samples, unsigned parallelism, bool* finished = nullptr) {
    std::map<std::size_t, std::string> out;
    Progress progress;
    progress.known = [this](const std::string& digest) -> std::optional<std::string> {
      const std::lock_guard lock(mutex_);
      const auto found = kept_.find(digest);
      return found == kept_.end() ? std::nullopt : std::optional(found->second);
    };
    progress.answers = [this](std::vector<std::pair<std::string, std::string>> answers) {
      const std::lock_guard lock(mutex_);
      for (auto& [digest, answer] : answers) kept_.emplace(std::move(digest), std::move(answer));
    };
    progress.samples = [&](std::vector<std::pair<std::size_t, Scored>> some) {
      for (auto& [sample, scored] : some)
        EXPECT_TRUE(out.emplace(sample, scored.fault.empty() ? scored.record : "fault: " + scored.fault).second);
    };
    progress.stop = [&] { return stop_.load() || (stop_after_ > 0 && out.size() >= stop_after_); };
    const Endpoint model = endpoint(), judge = endpoint("j");
    const bool done = ask_all(TwoRounds(samples), {answerer(model), answerer(judge)},
                              {.parallelism = parallelism, .patience = patience_, .pause = 50ms}, progress);
    if (finished != nullptr) *finished = done;
    return out;
  }

  std::mutex mutex_;
  std::multiset<std::string> asked_;
  std::map<std::string, std::string> kept_;
  std::atomic<int> under_way_ = 0, away_ = 0;
  int most_ = 0;
  std::string refused_;
  std::chrono::milliseconds delay_{0}, patience_{0};
  std::atomic<bool> stop_ = false;
  std::size_t stop_after_ = 0;
  std::unique_ptr<web::App> app_;
};

TEST_F(AskingTest, asks_every_sample_in_rounds_and_side_by_side) {
  delay_ = 30ms;
  const auto out = run(20, 8);
  ASSERT_EQ(out.size(), 20U);
  EXPECT_EQ(out.at(7), "<again: <sample 7>>");
  EXPECT_EQ(asked_.size(), 40U);
  EXPECT_LE(most_, 8);
  EXPECT_GE(most_, 4);
}

TEST_F(AskingTest, asks_nothing_twice_when_it_begins_again) {
  run(10, 4);
  asked_.clear();
  EXPECT_EQ(run(10, 4).at(3), "<again: <sample 3>>");
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(run(11, 4).size(), 11U);
  EXPECT_EQ(asked_.size(), 2U);
}

TEST_F(AskingTest, a_question_that_is_refused_costs_its_sample_only) {
  refused_ = "sample 2";
  const auto out = run(4, 2);
  EXPECT_THAT(out.at(2), testing::AllOf(testing::StartsWith("fault: "), testing::HasSubstr("too odd")));
  EXPECT_EQ(out.at(3), "<again: <sample 3>>");
}

TEST_F(AskingTest, waits_for_an_endpoint_that_is_away) {
  away_ = 3;
  patience_ = 10'000ms;
  EXPECT_EQ(run(2, 2).at(1), "<again: <sample 1>>");
  away_ = 1'000'000;
  patience_ = 0ms;
  EXPECT_THAT(run(3, 2).at(2), testing::StartsWith("fault: "));
}

TEST_F(AskingTest, stops_when_told) {
  delay_ = 10ms;
  stop_after_ = 5;
  bool finished = true;
  const auto out = run(1'000, 4, &finished);
  EXPECT_FALSE(finished);
  EXPECT_LT(out.size(), 200U);
}

TEST_F(AskingTest, has_nothing_to_do_without_samples) {
  bool finished = false;
  EXPECT_TRUE(run(0, 4, &finished).empty());
  EXPECT_TRUE(finished);
}

TEST(StoredAnswer, reads_as_it_was_written) {
  const Answer answer{.text = "a\n\"é\"",
                      .tool_calls = R"([{"id":"1"}])",
                      .finish_reason = "stop",
                      .prompt_tokens = 3,
                      .completion_tokens = 4,
                      .likelihood = Likelihood{.sum = -0.1 - 1e-9, .tokens = 2, .is_greedy = true}};
  const auto again = read_stored_answer(stored_answer(answer));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text, answer.text);
  EXPECT_EQ(again->tool_calls, answer.tool_calls);
  EXPECT_EQ(again->likelihood->sum, answer.likelihood->sum);
  EXPECT_TRUE(again->likelihood->is_greedy);
  EXPECT_EQ(again->prompt_tokens, 3U);
  EXPECT_FALSE(read_stored_answer("no"));
}

TEST(Digest, differs_with_everything_that_matters) {
  const Question question{.prompt = "p"};
  Question other = question;
  other.temperature = 1;
  const std::set<std::string> all = {digest_of("t", 0, 0, "m", question), digest_of("u", 0, 0, "m", question),
                                     digest_of("t", 1, 0, "m", question), digest_of("t", 0, 1, "m", question),
                                     digest_of("t", 0, 0, "n", question), digest_of("t", 0, 0, "m", other)};
  EXPECT_EQ(all.size(), 6U);
}

}  // namespace
}  // namespace stackgate::evaluator
