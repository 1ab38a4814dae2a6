// Charts as SVG inside of a page: bars with error bars, and lines. No script; titles and descriptions for who does not
// see them; colours are classes (`style`), so that light and dark are the page's. Pure.
//
// Values that are no number (NaN, infinities) are not drawn; a bar without a value says "–".
#pragma once
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/html/html.hpp"

namespace stackgate::charts {

inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

struct Bar {
  double value = no_value;
  double low = no_value, high = no_value;  // ends of the error bar; no_value: none
};
/// Bars that stand together: one for each series.
struct BarGroup {
  std::string label{};
  std::vector<Bar> bars{};
};
struct BarChart {
  std::string id{};  // of its elements: unique in the page; letters, digits and "-"
  std::string title{}, description{};
  std::vector<std::string> series{};
  std::vector<BarGroup> groups{};
};
/// Lying bars on one scale that has 0 in it.
html::Html bar_chart(const BarChart& chart);

struct Point {
  double x = 0, y = no_value;
};
struct Line {
  std::string label{};
  std::vector<Point> points{};  // x ascending; a y that is no number is a gap
};
struct LineChart {
  std::string id{};
  std::string title{}, description{};
  std::string x_label{}, y_label{};
  std::vector<Line> lines{};
};
html::Html line_chart(const LineChart& chart);

/// Round numbers (1, 2 or 5 times a power of ten apart) from at most `low` to at least `high`; some `wanted` of them.
/// 0 and 1 where the ends are no numbers or equal nothing.
std::vector<double> ticks(double low, double high, int wanted);
/// At most four digits that count: "0.3333", "1234", "1.2e+09", "–" for what is no number.
std::string number_words(double value);

/// Of the classes above. Colours: the page's --ink, --soft, --line and --accent.
extern const std::string_view style;

}  // namespace stackgate::charts
