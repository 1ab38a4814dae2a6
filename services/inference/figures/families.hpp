// What dashboards and autoscalers read of a server of models: each figure under NIM's name and under vLLM's ("vllm:…").
// Thread-safe; the registry outlives them.
// Source: NIM for LLMs, "Observability"; vLLM, docs/design/metrics.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "services/kit/metrics/registry.hpp"

namespace stackgate::inference {

/// Of whole requests and their parts, in seconds.
std::span<const double> request_bounds();

class BothHistograms {
 public:
  /// An empty `nim` has none.
  BothHistograms(metrics::Registry& registry, std::string_view nim, std::string_view vllm, std::string_view help,
                 std::span<const double> bounds);
  void observe(std::string_view model, double value) const;
  /// So that it is there before anything was observed.
  void show(std::string_view model) const;

 private:
  metrics::Family<metrics::Histogram>* nim_;
  metrics::Family<metrics::Histogram>& vllm_;
};

class BothGauges {
 public:
  BothGauges(metrics::Registry& registry, std::string_view nim, std::string_view vllm, std::string_view help);
  void set(std::string_view model, double value) const;

 private:
  metrics::Family<metrics::Gauge>& nim_;
  metrics::Family<metrics::Gauge>& vllm_;
};

/// A total that somebody else counts.
class BothCounters {
 public:
  /// An empty `nim` has none.
  BothCounters(metrics::Registry& registry, std::string_view nim, std::string_view vllm, std::string_view help);
  void raise_to(std::string_view model, std::uint64_t total) const;

 private:
  metrics::Family<metrics::Counter>* nim_;
  metrics::Family<metrics::Counter>& vllm_;
};

/// Requests, how they ended and how long they took: what every server of models knows, whoever computes.
class RequestFamilies {
 public:
  explicit RequestFamilies(metrics::Registry& registry);
  /// `reason`: why the engine stopped; empty: not known here.
  void succeeded(std::string_view model, std::string_view reason) const;
  void failed(std::string_view model) const;

  const BothHistograms first_token, whole;  // seconds
  const BothGauges running, waiting;

 private:
  metrics::Family<metrics::Counter>& finished_;
  metrics::Family<metrics::Counter>& nim_success_;
  metrics::Family<metrics::Counter>& success_;
  metrics::Family<metrics::Counter>& failure_;
};

}  // namespace stackgate::inference
