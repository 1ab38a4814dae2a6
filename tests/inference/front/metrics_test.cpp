#include "services/inference/front/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::inference {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Seconds = RequestFigures::Seconds;

TEST(ServingMetrics, parts_of_a_request_add_up) {
  metrics::Registry registry;
  ServingMetrics metrics(registry, "llama", 64, 0, [] { return BatchFacts{}; });
  metrics.ended({.outcome = "stop",
                 .prompt_tokens = 7,
                 .generated_tokens = 5,
                 .whole = Seconds(4),
                 .begun = Seconds(0.5),
                 .first_token = Seconds(2)});
  const std::string text = registry.render();
  const std::pair<const char*, double> sums[] = {
      {"vllm:request_queue_time_seconds", 0.5},   {"vllm:request_prefill_time_seconds", 1.5},
      {"vllm:request_decode_time_seconds", 2},    {"vllm:request_inference_time_seconds", 3.5},
      {"vllm:e2e_request_latency_seconds", 4},    {"vllm:time_to_first_token_seconds", 2},
      {"vllm:time_per_output_token_seconds", 0.5}};
  for (const auto& [name, sum] : sums)
    EXPECT_THAT(text, HasSubstr(std::string(name) + "_sum{model_name=\"llama\",engine=\"0\"} " +
                                ::testing::PrintToString(sum) + "\n"));
  EXPECT_THAT(text, HasSubstr("\ntime_to_first_token_seconds_sum{model_name=\"llama\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("lora_requests_info")));
}

TEST(ServingMetrics, what_chooses_no_token_has_no_time_to_it) {
  metrics::Registry registry;
  ServingMetrics metrics(registry, "llama", 64, 0, [] { return BatchFacts{}; });
  metrics.ended({.outcome = "stop", .prompt_tokens = 7, .whole = Seconds(4), .begun = Seconds(1)});
  metrics.ended({.outcome = ""});
  const std::string text = registry.render();
  EXPECT_THAT(text, HasSubstr("\nvllm:request_queue_time_seconds_count{model_name=\"llama\",engine=\"0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nvllm:time_to_first_token_seconds_count{model_name=\"llama\",engine=\"0\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nrequest_failure_total{model_name=\"llama\"} 1\n"));
}

TEST(ServingMetrics, adapters_of_requests_are_named) {
  metrics::Registry registry;
  ServingMetrics metrics(registry, "llama", 64, 8, [] {
    BatchFacts out;
    out.running_adapters = {"a", "b"};
    out.waiting_adapters = {"c"};
    return out;
  });
  EXPECT_THAT(
      registry.render(),
      HasSubstr(
          "\nvllm:lora_requests_info{max_lora=\"8\",waiting_lora_adapters=\"c\",running_lora_adapters=\"a,b\"} 1"));
}

TEST(ServingMetrics, steps_are_counted_by_their_tokens) {
  metrics::Registry registry;
  const auto stepped = step_figure(registry, "llama");
  for (const std::uint64_t tokens : {1U, 20U, 512U}) stepped(tokens);
  EXPECT_THAT(registry.render(),
              HasSubstr("\nvllm:iteration_tokens_total_bucket{model_name=\"llama\",engine=\"0\",le=\"32\"} 2\n"));
  EXPECT_THAT(registry.render(),
              HasSubstr("\nvllm:iteration_tokens_total_sum{model_name=\"llama\",engine=\"0\"} 533\n"));
}

}  // namespace
}  // namespace stackgate::inference
