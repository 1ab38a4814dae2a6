#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/charts/charts.hpp"

namespace stackgate::charts {
namespace bar_chart_detail {

constexpr double width = 760, label_width = 200, value_width = 70, top = 8;
constexpr double bar_height = 16, bar_gap = 3, group_gap = 16, axis_height = 26;
constexpr std::size_t series_colours = 6, longest_label = 30;

std::string text_of(double number) { return fmt::format("{:.1f}", number); }

/// By characters, so that none is cut in two.
std::string shortened(std::string_view text) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U) continue;
    if (++characters > longest_label) return std::string(text.substr(0, i)) + "…";
  }
  return std::string(text);
}

class Drawing {
 public:
  explicit Drawing(const BarChart& chart) : chart_(chart) {
    double low = 0, high = 0;
    for (const BarGroup& group : chart.groups)
      for (const Bar& bar : group.bars)
        for (const double each : {bar.value, bar.low, bar.high})
          if (std::isfinite(each)) {
            low = std::min(low, each);
            high = std::max(high, each);
          }
    ticks_ = ticks(low, high, 6);
  }

  html::Html draw() {
    double y = top;
    for (std::size_t i = 0; i < chart_.groups.size(); ++i) y = group(chart_.groups[i], y) + group_gap;
    const double bottom = chart_.groups.empty() ? top : y - group_gap;
    html::Html axis;
    for (const double each : ticks_) {
      axis.put(R"(<line class="chart-grid" x1="{}" y1="{}" x2="{}" y2="{}"/>)", text_of(at(each)), text_of(top),
               text_of(at(each)), text_of(bottom));
      axis.put(R"(<text class="chart-tick" x="{}" y="{}" text-anchor="middle">{}</text>)", text_of(at(each)),
               text_of(bottom + 18), number_words(each));
    }
    html::Html out;
    out.put(
        R"(<figure class="chart"><svg viewBox="0 0 {} {}" role="img" aria-labelledby="{}-title {}-text"><title id="{}-title">{}</title><desc id="{}-text">{}</desc>{}{}</svg>{}</figure>)",
        text_of(width), text_of(bottom + axis_height), chart_.id, chart_.id, chart_.id, chart_.title, chart_.id,
        chart_.description, axis, bars_, legend());
    return out;
  }

 private:
  double at(double value) const {
    const double low = ticks_.front(), high = ticks_.back();
    return label_width + (value - low) / (high - low) * (width - label_width - value_width);
  }

  double group(const BarGroup& group, double y) {
    const std::size_t count = std::max<std::size_t>(group.bars.size(), 1);
    const double height = static_cast<double>(count) * (bar_height + bar_gap) - bar_gap;
    bars_.put(R"(<text class="chart-label" x="{}" y="{}" text-anchor="end">{}</text>)", text_of(label_width - 10),
              text_of(y + height / 2 + 4), shortened(group.label));
    for (std::size_t i = 0; i < group.bars.size(); ++i)
      bar(group.bars[i], i, y + static_cast<double>(i) * (bar_height + bar_gap));
    return y + height;
  }

  void bar(const Bar& bar, std::size_t series, double y) {
    const double zero = at(0), middle = y + bar_height / 2;
    double end = zero;
    if (std::isfinite(bar.value)) {
      end = at(bar.value);
      bars_.put(R"(<rect class="chart-bar series-{}" x="{}" y="{}" width="{}" height="{}"/>)", series % series_colours,
                text_of(std::min(zero, end)), text_of(y), text_of(std::abs(end - zero)), text_of(bar_height));
    }
    if (std::isfinite(bar.low) && std::isfinite(bar.high)) {
      const std::string a = text_of(at(bar.low)), b = text_of(at(bar.high)), above = text_of(middle - 4),
                        below = text_of(middle + 4);
      bars_.put(R"(<path class="chart-error" d="M{} {}V{}M{} {}H{}M{} {}V{}"/>)", a, above, below, a, text_of(middle),
                b, b, above, below);
      end = std::max(end, at(bar.high));
    }
    bars_.put(R"(<text class="chart-value" x="{}" y="{}">{}</text>)", text_of(std::max(end, zero) + 6),
              text_of(middle + 4), number_words(bar.value));
  }

  html::Html legend() const {
    html::Html out, items;
    if (chart_.series.empty()) return out;
    for (std::size_t i = 0; i < chart_.series.size(); ++i)
      items.put(R"(<li><span class="chart-key series-{}"></span>{}</li>)", i % series_colours, chart_.series[i]);
    return out.put(R"(<figcaption><ul class="chart-legend">{}</ul></figcaption>)", items);
  }

  const BarChart& chart_;
  std::vector<double> ticks_{};
  html::Html bars_{};
};

}  // namespace bar_chart_detail

html::Html bar_chart(const BarChart& chart) { return bar_chart_detail::Drawing(chart).draw(); }

}  // namespace stackgate::charts
