#include "services/inference/figures/families.hpp"

#include <array>
#include <string>

namespace stackgate::inference {
namespace {

constexpr std::string_view engine = "0";
constexpr std::array<double, 20> first_token_bounds{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5,
                                                    0.75,  1,     2.5,  5,    7.5,  10,   20,   40,  160,  640};
constexpr std::array<double, 16> whole_bounds{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 60, 120, 960, 7680};

std::string of_vllm(std::string_view name) { return std::string("vllm:").append(name); }

}  // namespace

std::span<const double> request_bounds() { return whole_bounds; }

BothHistograms::BothHistograms(metrics::Registry& registry, std::string_view nim, std::string_view vllm,
                               std::string_view help, std::span<const double> bounds)
    : nim_(nim.empty() ? nullptr : &registry.histogram(nim, help, {"model_name"}, bounds)),
      vllm_(registry.histogram(of_vllm(vllm), help, {"model_name", "engine"}, bounds)) {}

void BothHistograms::observe(std::string_view model, double value) const {
  if (nim_ != nullptr) nim_->at({model}).observe(value);
  vllm_.at({model, engine}).observe(value);
}

void BothHistograms::show(std::string_view model) const {
  if (nim_ != nullptr) nim_->at({model});
  vllm_.at({model, engine});
}

BothGauges::BothGauges(metrics::Registry& registry, std::string_view nim, std::string_view vllm, std::string_view help)
    : nim_(registry.gauge(nim, help, {"model_name"})),
      vllm_(registry.gauge(of_vllm(vllm), help, {"model_name", "engine"})) {}

void BothGauges::set(std::string_view model, double value) const {
  nim_.at({model}).set(value);
  vllm_.at({model, engine}).set(value);
}

BothCounters::BothCounters(metrics::Registry& registry, std::string_view nim, std::string_view vllm,
                           std::string_view help)
    : nim_(nim.empty() ? nullptr : &registry.counter(nim, help, {"model_name"})),
      vllm_(registry.counter(of_vllm(vllm), help, {"model_name", "engine"})) {}

void BothCounters::raise_to(std::string_view model, std::uint64_t total) const {
  const auto raise = [&](metrics::Counter& counter) {
    const std::uint64_t before = counter.value();
    if (total > before) counter.add(total - before);
  };
  if (nim_ != nullptr) raise(nim_->at({model}));
  raise(vllm_.at({model, engine}));
}

RequestFamilies::RequestFamilies(metrics::Registry& registry)
    : first_token(registry, "time_to_first_token_seconds", "time_to_first_token_seconds", "From request to first token",
                  first_token_bounds),
      whole(registry, "e2e_request_latency_seconds", "e2e_request_latency_seconds",
            "From request to the end of its answer", whole_bounds),
      running(registry, "num_requests_running", "num_requests_running", "Requests that are computed"),
      waiting(registry, "num_requests_waiting", "num_requests_waiting", "Requests without a place"),
      finished_(
          registry.counter("request_finish_total", "Requests by how they finished", {"model_name", "finished_reason"})),
      nim_success_(registry.counter("request_success_total", "Requests that were answered", {"model_name"})),
      success_(registry.counter("vllm:request_success_total", "Requests that were answered",
                                {"model_name", "engine", "finished_reason"})),
      failure_(
          registry.counter("request_failure_total", "Requests that failed, or whose client left", {"model_name"})) {}

void RequestFamilies::succeeded(std::string_view model, std::string_view reason) const {
  if (!reason.empty()) finished_.at({model, reason}).add();
  nim_success_.at({model}).add();
  success_.at({model, engine, reason}).add();
}

void RequestFamilies::failed(std::string_view model) const { failure_.at({model}).add(); }

}  // namespace stackgate::inference
