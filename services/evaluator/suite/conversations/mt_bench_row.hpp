// A question of MT-Bench, read. Pure.
//   {"question_id", "category", "turns": ["…", "…"], "reference": ["…", "…"]}
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

struct MtBenchRow {
  std::string id{}, category{};
  std::vector<std::string> turns{};      // 1 … 10
  std::vector<std::string> reference{};  // one for each turn, or empty
  std::vector<std::string> baseline{};   // another model's answers, or empty
};

/// The members that are joined to a row from files of answers.
inline constexpr std::string_view reference_member = "reference", baseline_member = "baseline";

std::expected<MtBenchRow, std::string> read_mt_bench_row(const json::Value& row);

/// The turns of a file of answers' row, {"question_id", "choices": [{"turns": […]}]}, or of {"turns": […]}; else null.
json::Value answered_turns(const json::Value& row);

/// MT-Bench's: 0.7 for writing and roleplay, 0.1 for stem and humanities, 0 for what has right answers; 0.7 for others.
double temperature_of(std::string_view category);

/// Whether answers are held against a reference: math, reasoning and coding.
bool wants_reference(std::string_view category);

}  // namespace stackgate::evaluator
