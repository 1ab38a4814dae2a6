// One evaluation: how far it is, scores with their errors, warnings, events. Pure.
#pragma once
#include <cstdint>
#include <span>

#include "services/evaluator/pages/views/frame.hpp"

namespace stackgate::evaluator::pages {

struct EvaluationView {
  const Evaluation& evaluation;
  std::span<const Event> events{};  // the last ones
  std::int64_t now = 0;
};
html::Html evaluation_page(const EvaluationView& view);
/// The part of it that changes while it runs: what the script asks for.
html::Html live_part(const EvaluationView& view);

}  // namespace stackgate::evaluator::pages
