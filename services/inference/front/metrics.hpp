// What dashboards and autoscalers read of a server of models, under NIM's names and vLLM's ("vllm:…").
// Source: NIM for LLMs, "Observability"; vLLM, docs/design/metrics.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "services/inference/engine/batch.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::inference {

/// One request, once it has ended.
struct RequestFigures {
  std::string_view outcome;  // finish reason; "" when it failed or the client left
  std::uint64_t prompt_tokens = 0, generated_tokens = 0;
  std::chrono::duration<double> first_token{0}, whole{0};
};

/// Thread-safe.
class ServingMetrics {
 public:
  /// `facts` is asked at each reading; `most_requests`: how many sequences a step holds.
  ServingMetrics(metrics::Registry& registry, std::string model, std::size_t most_requests,
                 std::function<BatchFacts()> facts);
  void ended(const RequestFigures& figures);

 private:
  struct Both {  // one figure under two names
    metrics::Histogram* nim;
    metrics::Histogram* vllm;
    void observe(double value) const;
  };
  Both histogram(metrics::Registry& registry, std::string_view name, std::string_view help,
                 std::span<const double> bounds) const;

  const std::string model_;
  Both first_token_, per_token_, whole_, prompt_, generated_;
  metrics::Family<metrics::Counter>& finished_;
  metrics::Family<metrics::Counter>& nim_success_;
  metrics::Family<metrics::Counter>& success_;
  metrics::Family<metrics::Counter>& failure_;
};

}  // namespace stackgate::inference
