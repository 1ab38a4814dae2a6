// Scores written, and the metrics that give them. Pure.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "services/evaluator/score/reading.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator::scoring {

/// The members of "scores".
class Scores {
 public:
  explicit Scores(json::Writer& writer) : writer_(writer) {}
  void number(std::string_view name, double value);  // null where it is none
  void count(std::string_view name, std::uint64_t value) { writer_.member(name, value); }
  void numbers(std::string_view name, std::span<const double> values);
  /// The mean, and its standard error as "<name>_stderr": null for less than two.
  void mean(std::string_view name, std::span<const double> values);

 private:
  json::Writer& writer_;
};

/// Reads every item before it writes.
using Compute = Read<void> (*)(const json::Value& params, std::span<const Item> items, Scores& out);
struct Metric {
  std::string_view name;
  std::array<std::string_view, 5> params{};  // those that it knows; "" ends them
  Compute compute;
};

Read<void> score_exact_match(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_f1(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_bleu(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_chrf(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_rouge(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_string_check(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_perplexity(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_multiple_choice(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_pass_at_k(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_ranking(const json::Value& params, std::span<const Item> items, Scores& out);
Read<void> score_tool_calls(const json::Value& params, std::span<const Item> items, Scores& out);

}  // namespace stackgate::evaluator::scoring
