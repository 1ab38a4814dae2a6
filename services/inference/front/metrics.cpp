#include "services/inference/front/metrics.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stackgate::inference {
namespace {

constexpr std::array<double, 16> per_token_bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1,
                                                  0.15,  0.2,    0.3,   0.4,  0.5,   1,    2.5,   80};
constexpr std::array<double, 13> step_bounds{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
constexpr std::array<double, 14> token_bounds{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10'000, 100'000};

struct Count {
  std::string_view nim, vllm, help;  // nim: "" has none
  std::uint64_t (*read)(const BatchFacts&);
};
constexpr std::array<Count, 5> counts{{
    {"prompt_tokens_total", "prompt_tokens_total", "Tokens of prompts",
     [](const BatchFacts& f) { return f.prompt_tokens; }},
    {"generation_tokens_total", "generation_tokens_total", "Tokens generated",
     [](const BatchFacts& f) { return f.generated_tokens; }},
    {"", "prefix_cache_queries_total", "Tokens of prompts that were looked for in the cache",
     [](const BatchFacts& f) { return f.prompt_tokens; }},
    {"", "prefix_cache_hits_total", "Tokens of prompts that were found in it",
     [](const BatchFacts& f) { return f.reused_tokens; }},
    {"", "num_preemptions_total", "Sequences that gave their pages back and were computed again",
     [](const BatchFacts& f) { return f.preempted; }},
}};

/// vLLM's: which adapters requests have, as values of labels; the value is the time.
void show_adapters(metrics::Registry& registry, std::size_t most, const std::function<BatchFacts()>& facts) {
  registry.gauges_from("vllm:lora_requests_info",
                       "Adapters of requests that are computed and that wait; the time of this reading",
                       {"max_lora", "waiting_lora_adapters", "running_lora_adapters"}, [most, facts] {
                         const BatchFacts now = facts();
                         const auto time = std::chrono::system_clock::now().time_since_epoch();
                         return std::vector<metrics::Point>{
                             {.labels = {std::to_string(most), fmt::format("{}", fmt::join(now.waiting_adapters, ",")),
                                         fmt::format("{}", fmt::join(now.running_adapters, ","))},
                              .value = std::chrono::duration<double>(time).count()}};
                       });
}

}  // namespace

std::function<void(std::uint64_t tokens)> step_figure(metrics::Registry& registry, std::string_view model) {
  const BothHistograms figure(registry, "", "iteration_tokens_total", "Tokens of a step", step_bounds);
  figure.show(model);
  return [figure, model = std::string(model)](std::uint64_t tokens) {
    figure.observe(model, static_cast<double>(tokens));
  };
}

ServingMetrics::ServingMetrics(metrics::Registry& registry, std::string model, std::size_t step_sequences,
                               std::size_t step_adapters, std::function<BatchFacts()> facts)
    : model_(std::move(model)),
      requests_(registry),
      per_token_(registry, "time_per_output_token_seconds", "time_per_output_token_seconds",
                 "Between two tokens of a request, on average", per_token_bounds),
      prompt_(registry, "request_prompt_tokens", "request_prompt_tokens", "Tokens of a request's prompts",
              token_bounds),
      generated_(registry, "request_generation_tokens", "request_generation_tokens", "Tokens of a request's answers",
                 token_bounds),
      queued_(registry, "", "request_queue_time_seconds", "From request to its first step", request_bounds()),
      prefill_(registry, "", "request_prefill_time_seconds", "From first step to first token", request_bounds()),
      decode_(registry, "", "request_decode_time_seconds", "From first token to the end", request_bounds()),
      inference_(registry, "", "request_inference_time_seconds", "From first step to the end", request_bounds()) {
  for (const BothHistograms* each : {&requests_.first_token, &per_token_, &requests_.whole, &prompt_, &generated_,
                                     &queued_, &prefill_, &decode_, &inference_})
    each->show(model_);
  if (step_adapters > 0) show_adapters(registry, step_adapters, facts);
  registry.gauge("num_request_max", "Sequences that a step holds", {"model_name"})
      .at({model_})
      .set(static_cast<double>(step_sequences));
  const BothGauges cache(registry, "gpu_cache_usage_perc", "kv_cache_usage_perc",
                         "Share of the cache of keys and values in use, 0 to 1");
  std::vector<BothCounters> counted;
  counted.reserve(counts.size());
  for (const Count& each : counts) counted.emplace_back(registry, each.nim, each.vllm, each.help);
  registry.before_reading([facts = std::move(facts), counted, cache, model = model_, running = requests_.running,
                           waiting = requests_.waiting] {
    const BatchFacts now = facts();
    running.set(model, static_cast<double>(now.running));
    waiting.set(model, static_cast<double>(now.waiting));
    cache.set(model, now.cache_used);
    for (std::size_t i = 0; i < counts.size(); ++i) counted[i].raise_to(model, counts[i].read(now));
  });
}

void ServingMetrics::ended(const RequestFigures& figures) {
  if (figures.outcome.empty()) return requests_.failed(model_);
  requests_.succeeded(model_, figures.outcome);
  requests_.whole.observe(model_, figures.whole.count());
  prompt_.observe(model_, static_cast<double>(figures.prompt_tokens));
  generated_.observe(model_, static_cast<double>(figures.generated_tokens));
  if (!figures.begun) return;
  queued_.observe(model_, figures.begun->count());
  inference_.observe(model_, (figures.whole - *figures.begun).count());
  if (!figures.first_token) return;
  const double decoding = (figures.whole - *figures.first_token).count();
  requests_.first_token.observe(model_, figures.first_token->count());
  prefill_.observe(model_, (*figures.first_token - *figures.begun).count());
  decode_.observe(model_, decoding);
  if (figures.generated_tokens > 1)
    per_token_.observe(model_, decoding / static_cast<double>(figures.generated_tokens - 1));
}

}  // namespace stackgate::inference
