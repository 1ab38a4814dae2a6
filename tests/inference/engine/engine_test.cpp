#include "services/inference/engine/engine.hpp"

#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "tests/inference/engine/paged_model.hpp"

namespace stackgate::inference {
namespace {

using namespace std::chrono_literals;

using Opened = std::expected<std::unique_ptr<model::Graph>, std::string>;

EngineOptions options(std::size_t max_queue = 16) {
  return {.limits = {.schedule = {.sequences = 4, .step_tokens = 16, .waiting = 4}, .pages = 64, .page_tokens = 4},
          .max_queue = max_queue};
}

Opened opened() { return std::make_unique<test::PagedModel>(64, 4, test::vocabulary_size); }

struct Outcome {
  std::uint32_t tokens = 0;
  std::optional<JobFailure> failure{};
};

Job job(std::shared_ptr<std::promise<Outcome>> done, std::uint32_t max_tokens) {
  Job out{.text = {.ignore_eos = true}};
  out.sequences = {{.prompt = std::make_shared<const std::vector<TokenId>>(std::vector<TokenId>{'a', 'b'}),
                    .max_tokens = max_tokens}};
  out.events = {.progress =
                    [done](Progress&& progress) {
                      if (progress.finish) done->set_value({progress.tokens, std::nullopt});
                      return true;
                    },
                .failed = [done](JobFailure&& failure) { done->set_value({0, std::move(failure)}); }};
  return out;
}

std::pair<std::optional<JobId>, std::future<Outcome>> submit(Engine& engine, std::uint32_t max_tokens) {
  auto done = std::make_shared<std::promise<Outcome>>();
  auto future = done->get_future();
  return {engine.submit(job(std::move(done), max_tokens)), std::move(future)};
}

/// Figures are those of the last step, and are there a moment after its answers.
template <class Holds>
bool soon(Holds&& holds) {
  for (int i = 0; i < 5000 && !holds(); ++i) std::this_thread::sleep_for(1ms);
  return holds();
}

TEST(Engine, answers_from_several_threads_at_once) {
  Engine engine(options(1000), test::vocabulary(), opened);
  std::vector<std::jthread> threads;
  std::atomic<std::uint32_t> tokens = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint32_t i = 1; i <= 50; ++i) tokens += submit(engine, i).second.get().tokens;
    });
  threads.clear();
  EXPECT_EQ(tokens, 4U * 50 * 51 / 2);
  EXPECT_EQ(engine.not_ready(), "");
  EXPECT_TRUE(soon([&] { return engine.facts().generated_tokens == tokens; })) << engine.facts().generated_tokens;
}

TEST(Engine, is_not_ready_while_the_model_is_loaded_and_takes_requests_all_the_same) {
  std::promise<void> go;
  Engine engine(options(2), test::vocabulary(), [&go] {
    go.get_future().wait();
    return opened();
  });
  EXPECT_EQ(engine.not_ready(), "the model is being loaded");
  auto [first, one] = submit(engine, 3);
  auto [second, two] = submit(engine, 3);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(submit(engine, 3).first) << "the queue is full";
  EXPECT_EQ(engine.not_ready(1ms), "the model is being loaded");
  go.set_value();
  EXPECT_EQ(engine.not_ready(10s), "");
  EXPECT_EQ(one.get().tokens, 3U);
  EXPECT_EQ(two.get().tokens, 3U);
  EXPECT_EQ(engine.not_ready(), "");
  EXPECT_FALSE(engine.broken());
}

TEST(Engine, a_model_that_cannot_be_opened_fails_every_request) {
  Engine engine(options(), test::vocabulary(), []() -> Opened { return std::unexpected("no such weights"); });
  const Outcome got = submit(engine, 3).second.get();
  ASSERT_TRUE(got.failure);
  EXPECT_EQ(got.failure->message, "the model cannot be served: no such weights");
  EXPECT_TRUE(engine.broken());
  EXPECT_EQ(engine.not_ready(), "no such weights");
}

TEST(Engine, a_cancelled_job_reports_nothing_more_and_frees_its_place) {
  Engine engine(options(), test::vocabulary(), opened);
  auto [id, never] = submit(engine, 200);
  engine.cancel(*id);
  EXPECT_EQ(submit(engine, 2).second.get().tokens, 2U);
  EXPECT_TRUE(soon([&] { return engine.facts().running == 0; }));
}

TEST(Engine, its_end_fails_what_is_left) {
  auto engine = std::make_optional<Engine>(options(), test::vocabulary(), opened);
  std::vector<std::future<Outcome>> left;
  for (int i = 0; i < 10; ++i) left.push_back(submit(*engine, 250).second);
  engine.reset();
  for (auto& each : left) {
    const Outcome got = each.get();
    EXPECT_TRUE(got.tokens == 250 || (got.failure && got.failure->fault == JobFault::stopping));
  }
}

}  // namespace
}  // namespace stackgate::inference
