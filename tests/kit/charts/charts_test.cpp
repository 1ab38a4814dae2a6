#include "services/kit/charts/charts.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

namespace stackgate::charts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Ticks, are_round_and_hold_both_ends) {
  EXPECT_THAT(ticks(0, 1, 6), ElementsAre(0, 0.2, testing::DoubleEq(0.4), testing::DoubleEq(0.6), 0.8, 1));
  EXPECT_THAT(ticks(0, 97, 6), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(ticks(-3, 4, 5), ElementsAre(-4, -2, 0, 2, 4));
  EXPECT_THAT(ticks(0, 0.0031, 4), ElementsAre(0, 0.002, 0.004));
}

TEST(Ticks, of_what_is_no_range_are_a_range) {
  for (const auto& [low, high] : {std::pair{0.0, 0.0}, {no_value, no_value}, {-infinity, infinity}, {5.0, 1.0}}) {
    const auto found = ticks(low, high, 6);
    ASSERT_GE(found.size(), 2U);
    EXPECT_LT(found.front(), found.back());
  }
  EXPECT_LE(ticks(-std::numeric_limits<double>::max() / 4, std::numeric_limits<double>::max() / 4, 6).size(), 20U);
}

TEST(Numbers, have_four_digits) {
  EXPECT_EQ(number_words(1.0 / 3), "0.3333");
  EXPECT_EQ(number_words(0), "0");
  EXPECT_EQ(number_words(-0.0), "0");
  EXPECT_EQ(number_words(1234.4), "1234");
  EXPECT_EQ(number_words(no_value), "–");
  EXPECT_EQ(number_words(infinity), "–");
}

BarChart chart() {
  return {.id = "c1",
          .title = "acc",
          .description = "a is better",
          .series = {"a", "b"},
          .groups = {{.label = "task", .bars = {{.value = 0.5, .low = 0.4, .high = 0.6}, {.value = 1}}}}};
}

TEST(BarChart, draws_values_and_errors_to_scale) {
  const std::string svg = bar_chart(chart()).str();
  // From 200 to 690 for 0 to 1.
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="chart-bar series-0" x="200.0" y="8.0" width="245.0" height="16.0"/>)"));
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="chart-bar series-1" x="200.0" y="27.0" width="490.0" height="16.0"/>)"));
  EXPECT_THAT(svg, HasSubstr(R"(<path class="chart-error" d="M396.0 12.0V20.0M396.0 16.0H494.0M494.0 12.0V20.0"/>)"));
  EXPECT_THAT(svg, HasSubstr(R"(role="img" aria-labelledby="c1-title c1-text"><title id="c1-title">acc</title>)"));
  EXPECT_THAT(svg, HasSubstr(R"(<desc id="c1-text">a is better</desc>)"));
  EXPECT_THAT(svg, HasSubstr(R"(</span>b</li>)"));
}

TEST(BarChart, has_no_bar_for_what_is_no_number) {
  BarChart with_holes = chart();
  with_holes.groups = {{.label = "t", .bars = {{.value = no_value, .low = 0, .high = infinity}, {.value = infinity}}}};
  const std::string svg = bar_chart(with_holes).str();
  EXPECT_THAT(svg, Not(HasSubstr("<rect")));
  EXPECT_THAT(svg, Not(HasSubstr("chart-error")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_THAT(svg, HasSubstr("–"));
}

TEST(BarChart, takes_values_below_nothing_and_labels_as_text) {
  BarChart hostile = chart();
  hostile.groups = {{.label = "<script>", .bars = {{.value = -1}}},
                    {.label = std::string(40, 'x') + "\xc3\xa9", .bars = {{.value = 1}}}};
  const std::string svg = bar_chart(hostile).str();
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="chart-bar series-0" x="200.0" y="8.0" width="245.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="chart-bar series-0" x="445.0")"));
  EXPECT_THAT(svg, HasSubstr(">" + std::string(30, 'x') + "…<"));
}

TEST(LineChart, leaves_gaps_where_there_is_no_number) {
  const std::string svg =
      line_chart({.id = "l",
                  .title = "loss",
                  .description = "falls",
                  .x_label = "step",
                  .y_label = "loss",
                  .lines = {{.label = "train", .points = {{0, 1}, {1, 0.5}, {2, no_value}, {3, 0}, {4, 0}}}}})
          .str();
  // x: 70 to 744 for 0 to 4; y: 256 to 10 for 0 to 1.
  EXPECT_THAT(svg, HasSubstr(R"(d="M70.0 10.0L238.5 133.0M575.5 256.0L744.0 256.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(<title id="l-title">loss</title><desc id="l-text">falls</desc>)"));
}

TEST(LineChart, of_nothing_is_an_empty_frame) {
  EXPECT_THAT(line_chart({.id = "l"}).str(), testing::AllOf(HasSubstr("<svg"), Not(HasSubstr("nan"))));
}

}  // namespace
}  // namespace stackgate::charts
