#include "services/kit/metrics/registry.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.hpp"

namespace stackgate::metrics {
namespace {

using testing::HasSubstr;

TEST(Registry, renders_counters_gauges_and_histograms_in_exposition_format) {
  Registry registry;
  auto& reviews = registry.counter("reviews_total", "Reviews.", {"kind", "verdict"});
  reviews.at({"InferenceService", "denied"}).add(2);
  reviews.at({"InferenceCache", "allowed"}).add();
  registry.gauge("temperature", "Warmth.").at().set(1.5);
  static constexpr double bounds[] = {0.1, 1};
  auto& latency = registry.histogram("latency_seconds", "Time.", {}, bounds).at();
  for (const double seconds : {0.05, 0.1, 0.5, 7.0}) latency.observe(seconds);
  registry.gauge_from("asked", "Asked.", [] { return 4.0; });
  EXPECT_EQ(registry.render(),
            "# HELP reviews_total Reviews.\n# TYPE reviews_total counter\n"
            "reviews_total{kind=\"InferenceCache\",verdict=\"allowed\"} 1\n"
            "reviews_total{kind=\"InferenceService\",verdict=\"denied\"} 2\n"
            "# HELP temperature Warmth.\n# TYPE temperature gauge\ntemperature 1.5\n"
            "# HELP latency_seconds Time.\n# TYPE latency_seconds histogram\n"
            "latency_seconds_bucket{le=\"0.1\"} 2\nlatency_seconds_bucket{le=\"1\"} "
            "3\nlatency_seconds_bucket{le=\"+Inf\"} 4\n"
            "latency_seconds_sum 7.65\nlatency_seconds_count 4\n"
            "# HELP asked Asked.\n# TYPE asked gauge\nasked 4\n");
}

TEST(Registry, escapes_help_and_label_values) {
  Registry registry;
  registry.counter("a_total", "one\\two\nthree \"four\"", {"l"}).at({"a\\b\n\"c\""});
  EXPECT_EQ(
      registry.render(),
      "# HELP a_total one\\\\two\\nthree \"four\"\n# TYPE a_total counter\na_total{l=\"a\\\\b\\n\\\"c\\\"\"} 0\n");
}

TEST(Registry, writes_numbers_that_JSON_could_not) {
  Registry registry;
  registry.gauge("a", "A.").at().set(std::numeric_limits<double>::infinity());
  registry.gauge("b", "B.").at().set(std::numeric_limits<double>::quiet_NaN());
  registry.gauge("c", "C.").at().set(1e300);
  EXPECT_THAT(registry.render(), HasSubstr("\na +Inf\n"));
  EXPECT_THAT(registry.render(), HasSubstr("\nb NaN\n"));
  EXPECT_THAT(registry.render(), HasSubstr("\nc 1e+300\n"));
}

TEST(Registry, programming_errors_are_told_where_they_are_made) {
  Registry registry;
  auto& family = registry.counter("a_total", "A.", {"l"});
  EXPECT_THROW(registry.gauge("a_total", "A."), std::invalid_argument);
  EXPECT_THROW(registry.gauge("1a", "A."), std::invalid_argument);
  EXPECT_THROW(registry.gauge("a-b", "A."), std::invalid_argument);
  EXPECT_THROW(registry.gauge("b", "B.", {"a:b"}), std::invalid_argument);
  EXPECT_THROW(registry.gauge("b", "B.", {"__a"}), std::invalid_argument);
  EXPECT_THROW(registry.histogram("h", "H.", {"le"}), std::invalid_argument);
  static constexpr double wrong[] = {1, 0.5};
  EXPECT_THROW(registry.histogram("h", "H.", {}, wrong), std::invalid_argument);
  EXPECT_THROW(family.at({}), std::invalid_argument);
  EXPECT_THROW(family.at({"x", "y"}), std::invalid_argument);
}

TEST(Registry, brings_values_up_to_date_before_each_reading) {
  Registry registry;
  auto& gauge = registry.gauge("readings", "How often.").at();
  registry.before_reading([&gauge] { gauge.add(1); });
  EXPECT_NE(registry.render().find("readings 1\n"), std::string::npos);
  EXPECT_EQ(registry.snapshot().at(0).points.at(0).value, 2);
}

TEST(Registry, gauges_whose_labels_come_and_go_show_what_there_is) {
  Registry registry;
  std::vector<Point> points{{.labels = {"one", "a \"word\""}, .value = 2}, {.labels = {"two"}, .value = 1}};
  registry.gauges_from("failing", "What fails.", {"name", "reason"}, [&points] { return points; });
  EXPECT_THAT(registry.render(),
              HasSubstr("# TYPE failing gauge\nfailing{name=\"one\",reason=\"a \\\"word\\\"\"} 2\n"));
  EXPECT_EQ(registry.render().find("two"), std::string::npos) << "it has another number of labels";
  EXPECT_EQ(registry.snapshot().at(0).label_names, (std::vector<std::string>{"name", "reason"}));
  EXPECT_EQ(registry.snapshot().at(0).points.size(), 1U);
  points.clear();
  EXPECT_EQ(registry.render(), "# HELP failing What fails.\n# TYPE failing gauge\n");
}

TEST(Registry, counts_exactly_under_many_threads_that_make_and_render_at_once) {
  Registry registry;
  auto& family = registry.counter("a_total", "A.", {"l"});
  auto& histogram = registry.histogram("h_seconds", "H.");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        family.at({std::to_string(i % 200)}).add();
        histogram.at().observe(1e-4);
        if (i % 5000 == 0) (void)registry.render();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(family.at({std::to_string(i)}).value(), 400U);
  EXPECT_THAT(registry.render(), HasSubstr("h_seconds_count 80000\n"));
}

TEST(Registry, promtool_finds_nothing_to_complain_about) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "promtool is not installed (Debian: prometheus)";
  Registry registry;
  registry.counter("stackgate_reviews_total", "Reviews.", {"kind"}).at({"Inference\"Service\n"}).add();
  registry.histogram("stackgate_review_duration_seconds", "Time of a review.", {"kind"}).at({"x"}).observe(0.001);
  registry.gauge("stackgate_ready", "1 when ready.").at().set(1);
  const test::TempDir dir;
  dir.write("metrics", registry.render());
  EXPECT_EQ(std::system(("promtool check metrics <" + dir / "metrics").c_str()), 0);
}

}  // namespace
}  // namespace stackgate::metrics
