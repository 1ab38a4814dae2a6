// One task file as a Task.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "services/evaluator/suite/harness/sample.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator::harness {

class HarnessTask final : public Task {
 public:
  explicit HarnessTask(TaskParts parts) : parts_(std::move(parts)) {}

  const std::string& name() const override { return parts_.config.name; }
  std::size_t samples() const override { return parts_.samples; }
  bool wants_likelihoods() const override { return parts_.config.output != OutputType::generate_until; }
  std::vector<Asked> next(std::size_t sample, std::span<const Reply> replies) const override;
  Scored score(std::size_t sample, std::span<const Reply> replies) const override;
  TaskResult result(std::span<const std::vector<double>> values, std::uint64_t failed) const override;

 private:
  Question question_about(const Pair& pair) const;
  Question question_of(const Prompt& prompt, std::uint32_t repeat) const;

  void score_texts(const Sample& sample, std::size_t index, std::span<const Reply> replies, Scored& out) const;
  void score_pairs(const Sample& sample, std::size_t index, std::span<const Likelihood> likelihoods, Scored& out) const;
  void write_doc(json::Writer& w, const Sample& sample, std::size_t index) const;
  std::string score_name(const MetricConfig& metric, std::size_t filter, std::string_view behind) const;

  TaskParts parts_;
};

}  // namespace stackgate::evaluator::harness
