// What dashboards and autoscalers read of a server of models that computes itself.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "services/inference/engine/batch.hpp"
#include "services/inference/figures/families.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::inference {

/// To be told of each step's tokens.
std::function<void(std::uint64_t tokens)> step_figure(metrics::Registry& registry, std::string_view model);

/// One request, once it has ended.
struct RequestFigures {
  using Seconds = std::chrono::duration<double>;
  std::string_view outcome;  // finish reason; "" when it failed or the client left
  std::uint64_t prompt_tokens = 0, generated_tokens = 0;
  Seconds whole{0};
  std::optional<Seconds> begun{}, first_token{};  // from the request on; nothing: it chose no token
};

/// Thread-safe.
class ServingMetrics {
 public:
  /// `facts` is asked at each reading; `step_sequences`: how many a step holds; `step_adapters`: how many
  /// different adapters, 0 where none are served.
  ServingMetrics(metrics::Registry& registry, std::string model, std::size_t step_sequences, std::size_t step_adapters,
                 std::function<BatchFacts()> facts);
  void ended(const RequestFigures& figures);

 private:
  const std::string model_;
  const RequestFamilies requests_;
  const BothHistograms per_token_, prompt_, generated_;
  const BothHistograms queued_, prefill_, decode_, inference_;  // parts of a request's time
};

}  // namespace stackgate::inference
