#include "services/inference/front/metrics.hpp"

#include <array>

namespace stackgate::inference {
namespace {

constexpr std::string_view engine = "0", prefix = "vllm:";
constexpr std::array<double, 20> first_token_bounds{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5,
                                                    0.75,  1,     2.5,  5,    7.5,  10,   20,   40,  160,  640};
constexpr std::array<double, 16> per_token_bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1,
                                                  0.15,  0.2,    0.3,   0.4,  0.5,   1,    2.5,   80};
constexpr std::array<double, 16> whole_bounds{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 60, 120, 960, 7680};
constexpr std::array<double, 14> token_bounds{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10'000, 100'000};

struct Gauge {
  std::string_view nim, vllm, help;
  double (*read)(const BatchFacts&);
};
constexpr std::array<Gauge, 3> gauges{{
    {"num_requests_running", "num_requests_running", "Sequences in the steps",
     [](const BatchFacts& f) { return static_cast<double>(f.running); }},
    {"num_requests_waiting", "num_requests_waiting", "Sequences without a place",
     [](const BatchFacts& f) { return static_cast<double>(f.waiting); }},
    {"gpu_cache_usage_perc", "kv_cache_usage_perc", "Share of the cache of keys and values in use, 0 to 1",
     [](const BatchFacts& f) { return f.cache_used; }},
}};

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

}  // namespace

void ServingMetrics::Both::observe(double value) const {
  nim->observe(value);
  vllm->observe(value);
}

ServingMetrics::Both ServingMetrics::histogram(metrics::Registry& registry, std::string_view name,
                                               std::string_view help, std::span<const double> bounds) const {
  return {&registry.histogram(name, help, {"model_name"}, bounds).at({model_}),
          &registry.histogram(std::string(prefix) + std::string(name), help, {"model_name", "engine"}, bounds)
               .at({model_, engine})};
}

ServingMetrics::ServingMetrics(metrics::Registry& registry, std::string model, std::size_t most_requests,
                               std::function<BatchFacts()> facts)
    : model_(std::move(model)),
      first_token_(
          histogram(registry, "time_to_first_token_seconds", "From request to first token", first_token_bounds)),
      per_token_(histogram(registry, "time_per_output_token_seconds", "Between two tokens of a request, on average",
                           per_token_bounds)),
      whole_(histogram(registry, "e2e_request_latency_seconds", "From request to the end of its answer", whole_bounds)),
      prompt_(histogram(registry, "request_prompt_tokens", "Tokens of a request's prompts", token_bounds)),
      generated_(histogram(registry, "request_generation_tokens", "Tokens of a request's answers", token_bounds)),
      finished_(
          registry.counter("request_finish_total", "Requests by how they finished", {"model_name", "finished_reason"})),
      nim_success_(registry.counter("request_success_total", "Requests that were answered", {"model_name"})),
      success_(registry.counter("vllm:request_success_total", "Requests that were answered",
                                {"model_name", "engine", "finished_reason"})),
      failure_(
          registry.counter("request_failure_total", "Requests that failed, or whose client left", {"model_name"})) {
  struct Written {
    metrics::Gauge* gauge;
    double (*read)(const BatchFacts&);
  };
  struct Counted {
    metrics::Counter* counter;
    std::uint64_t (*read)(const BatchFacts&);
  };
  std::vector<Written> written;
  std::vector<Counted> counted;
  for (const Gauge& each : gauges) {
    written.push_back({&registry.gauge(each.nim, each.help, {"model_name"}).at({model_}), each.read});
    written.push_back(
        {&registry.gauge(std::string(prefix) + std::string(each.vllm), each.help, {"model_name", "engine"})
              .at({model_, engine}),
         each.read});
  }
  registry.gauge("num_request_max", "Sequences that a step holds", {"model_name"})
      .at({model_})
      .set(static_cast<double>(most_requests));
  for (const Count& each : counts) {
    if (!each.nim.empty())
      counted.push_back({&registry.counter(each.nim, each.help, {"model_name"}).at({model_}), each.read});
    counted.push_back(
        {&registry.counter(std::string(prefix) + std::string(each.vllm), each.help, {"model_name", "engine"})
              .at({model_, engine}),
         each.read});
  }
  registry.before_reading([facts = std::move(facts), written, counted] {
    const BatchFacts now = facts();
    for (const Written& each : written) each.gauge->set(each.read(now));
    for (const Counted& each : counted) {
      const std::uint64_t value = each.read(now), before = each.counter->value();
      if (value > before) each.counter->add(value - before);
    }
  });
}

void ServingMetrics::ended(const RequestFigures& figures) {
  if (figures.outcome.empty()) return failure_.at({model_}).add();
  finished_.at({model_, figures.outcome}).add();
  nim_success_.at({model_}).add();
  success_.at({model_, engine, figures.outcome}).add();
  first_token_.observe(figures.first_token.count());
  whole_.observe(figures.whole.count());
  prompt_.observe(static_cast<double>(figures.prompt_tokens));
  generated_.observe(static_cast<double>(figures.generated_tokens));
  if (figures.generated_tokens > 1)
    per_token_.observe((figures.whole - figures.first_token).count() /
                       static_cast<double>(figures.generated_tokens - 1));
}

}  // namespace stackgate::inference
