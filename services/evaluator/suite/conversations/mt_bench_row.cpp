#include "services/evaluator/suite/conversations/mt_bench_row.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::size_t most_turns = 10;
constexpr std::array<std::pair<std::string_view, double>, 8> temperatures = {{{"writing", 0.7},
                                                                              {"roleplay", 0.7},
                                                                              {"extraction", 0},
                                                                              {"math", 0},
                                                                              {"coding", 0},
                                                                              {"reasoning", 0},
                                                                              {"stem", 0.1},
                                                                              {"humanities", 0.1}}};

std::vector<std::string> texts_of(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value& each : list.items()) out.emplace_back(each.string());
  return out;
}

}  // namespace

std::expected<MtBenchRow, std::string> read_mt_bench_row(const json::Value& row) {
  MtBenchRow out{.id = json::scalar_text(json::value_at(&row, {"question_id"})),
                 .category = std::string(json::text(&row, {"category"})),
                 .turns = texts_of(json::value_at(&row, {"turns"})),
                 .reference = texts_of(json::value_at(&row, {reference_member})),
                 .baseline = texts_of(json::value_at(&row, {baseline_member}))};
  if (out.turns.empty() || out.turns.size() > most_turns) return std::unexpected(R"(has no "turns", or more than 10)");
  if (std::ranges::any_of(out.turns, &std::string::empty)) return std::unexpected("has a turn that is no text");
  if (out.category.empty()) out.category = "general";
  // What is there for one turn alone is no reference for the others.
  for (auto* const each : {&out.reference, &out.baseline})
    if (each->size() < out.turns.size()) each->clear();
  return out;
}

json::Value answered_turns(const json::Value& row) {
  const auto choices = json::items(&row, {"choices"});
  const json::Value turns = json::value_at(choices.empty() ? &row : &choices.front(), {"turns"});
  return turns.is_array() ? turns : json::Value();
}

double temperature_of(std::string_view category) {
  const auto* const found = std::ranges::find(temperatures, category, [](const auto& each) { return each.first; });
  return found == temperatures.end() ? 0.7 : found->second;
}

bool wants_reference(std::string_view category) {
  return category == "math" || category == "reasoning" || category == "coding";
}

}  // namespace stackgate::evaluator
