#include "services/customizer/pages/views/curves.hpp"

#include <string>

#include <fmt/format.h>

#include "services/kit/charts/charts.hpp"
#include "services/kit/html/frame.hpp"

namespace stackgate::customizer::pages {
namespace curves_detail {

charts::Line line_of(std::string label, std::span<const MetricPoint> points,
                     std::optional<double> MetricPoint::* member) {
  charts::Line out{.label = std::move(label)};
  for (const MetricPoint& each : points)
    if (const auto& value = each.*member) out.points.push_back({static_cast<double>(each.step), *value});
  return out;
}

std::string words_of(const charts::Line& line) {
  return fmt::format("{} from {} at step {} to {} at step {}", line.label, charts::number_words(line.points.front().y),
                     line.points.front().x, charts::number_words(line.points.back().y), line.points.back().x);
}

}  // namespace curves_detail

html::Html curves(std::span<const MetricPoint> points) {
  using namespace curves_detail;
  charts::LineChart chart{.id = "loss", .title = "Loss by step", .x_label = "step", .y_label = "loss"};
  for (charts::Line& each : std::array{line_of("training", points, &MetricPoint::train_loss),
                                       line_of("validation", points, &MetricPoint::val_loss)}) {
    if (each.points.empty()) continue;
    chart.description += (chart.description.empty() ? "" : "; ") + words_of(each);
    // The last value is what is looked for.
    each.label += fmt::format(" ({})", charts::number_words(each.points.back().y));
    chart.lines.push_back(std::move(each));
  }
  return chart.lines.empty() ? html::empty_words("No step was reported yet.") : charts::line_chart(chart);
}

}  // namespace stackgate::customizer::pages
