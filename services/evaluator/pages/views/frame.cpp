#include "services/evaluator/pages/views/frame.hpp"

#include <cmath>

#include "services/kit/base/percent.hpp"
#include "services/kit/charts/charts.hpp"

namespace stackgate::evaluator::pages {

std::string path_of(std::string_view evaluation) { return "/evaluations/" + percent_encode(evaluation); }

std::string path_of_samples(std::string_view evaluation, std::string_view task, std::int64_t after) {
  return html::with_query(path_of(evaluation) + "/samples",
                          {{"task", task}, {"after", after < 0 ? std::string() : std::to_string(after)}});
}

html::Html state_badge(State state) { return html::state_badge(to_string(state)); }

html::Html value_words(double value, double error) {
  html::Html out;
  out.put("{}", charts::number_words(value));
  if (std::isfinite(value) && std::isfinite(error))
    out.put(R"( <span class="quiet">± {}</span>)", charts::number_words(error));
  return out;
}

}  // namespace stackgate::evaluator::pages
