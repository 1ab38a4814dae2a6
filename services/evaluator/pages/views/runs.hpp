// The list of evaluations at /. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/evaluator/pages/views/frame.hpp"

namespace stackgate::evaluator::pages {

struct RunsView {
  std::span<const Evaluation> rows{};
  std::string state{}, framework{};  // the filter; "": all
  std::uint64_t page = 1, pages = 1, total = 0;
  std::int64_t now = 0;
};
html::Html runs_page(const RunsView& view);

/// What is shown of a run's progress: a JSON object {"progress": 0 to 100, "message", "task_status"}.
struct ShownProgress {
  double percent = -1;  // −1: not known
  std::string message{};
  std::vector<std::pair<std::string, std::string>> tasks{};
};
ShownProgress read_progress(std::string_view text);

}  // namespace stackgate::evaluator::pages
