#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/charts/charts.hpp"

namespace stackgate::charts {
namespace line_chart_detail {

constexpr double width = 760, height = 300, left = 70, right = 16, top = 10, bottom = 44;
constexpr std::size_t series_colours = 6;

std::string text_of(double number) { return fmt::format("{:.1f}", number); }

struct Range {
  double low = no_value, high = no_value;
  void take(double value) {
    low = std::isnan(low) ? value : std::min(low, value);
    high = std::isnan(high) ? value : std::max(high, value);
  }
};

class Drawing {
 public:
  explicit Drawing(const LineChart& chart) : chart_(chart) {
    Range x, y;
    for (const Line& line : chart.lines)
      for (const Point& point : line.points)
        if (is_drawn(point)) {
          x.take(point.x);
          y.take(point.y);
        }
    xs_ = ticks(x.low, x.high, 7);
    ys_ = ticks(y.low, y.high, 5);
  }

  html::Html draw() const {
    html::Html axes, lines, legend;
    for (const double each : ys_) {
      axes.put(R"(<line class="chart-grid" x1="{}" y1="{}" x2="{}" y2="{}"/>)", text_of(left), text_of(at_y(each)),
               text_of(width - right), text_of(at_y(each)));
      axes.put(R"(<text class="chart-tick" x="{}" y="{}" text-anchor="end">{}</text>)", text_of(left - 8),
               text_of(at_y(each) + 4), number_words(each));
    }
    for (const double each : xs_)
      axes.put(R"(<text class="chart-tick" x="{}" y="{}" text-anchor="middle">{}</text>)", text_of(at_x(each)),
               text_of(height - bottom + 18), number_words(each));
    axes.put(R"(<text class="chart-tick" x="{}" y="{}" text-anchor="end">{}</text>)", text_of(width - right),
             text_of(height - 8), chart_.x_label);
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      lines.put(R"(<path class="chart-line series-{}" d="{}"/>)", i % series_colours, path(chart_.lines[i]));
      legend.put(R"(<li><span class="chart-key series-{}"></span>{}</li>)", i % series_colours, chart_.lines[i].label);
    }
    return html::piece(
        R"(<figure class="chart"><svg viewBox="0 0 {} {}" role="img" aria-labelledby="{}-title {}-text"><title id="{}-title">{}</title><desc id="{}-text">{}</desc>{}{}</svg><figcaption>{}<ul class="chart-legend">{}</ul></figcaption></figure>)",
        text_of(width), text_of(height), chart_.id, chart_.id, chart_.id, chart_.title, chart_.id, chart_.description,
        axes, lines, chart_.y_label, legend);
  }

 private:
  static bool is_drawn(const Point& point) { return std::isfinite(point.x) && std::isfinite(point.y); }
  double at_x(double x) const { return left + (x - xs_.front()) / (xs_.back() - xs_.front()) * (width - left - right); }
  double at_y(double y) const {
    return height - bottom - (y - ys_.front()) / (ys_.back() - ys_.front()) * (height - top - bottom);
  }

  std::string path(const Line& line) const {
    std::string out;
    bool is_down = false;
    for (const Point& point : line.points) {
      if (is_drawn(point)) out += fmt::format("{}{:.1f} {:.1f}", is_down ? 'L' : 'M', at_x(point.x), at_y(point.y));
      is_down = is_drawn(point);
    }
    return out;
  }

  const LineChart& chart_;
  std::vector<double> xs_{}, ys_{};
};

}  // namespace line_chart_detail

html::Html line_chart(const LineChart& chart) { return line_chart_detail::Drawing(chart).draw(); }

}  // namespace stackgate::charts
