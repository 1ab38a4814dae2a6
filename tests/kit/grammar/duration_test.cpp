#include "services/kit/grammar/duration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::validate::grammar {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(PrometheusDuration, ReadsUnitsInTheirOrder) {
  const std::pair<std::string_view, std::chrono::milliseconds> table[] = {
      {"0", 0ms},
      {"30s", 30s},
      {"1m", 1min},
      {"1h30m", 90min},
      {"1d", 24h},
      {"1w", 168h},
      {"1y", 8760h},
      {"500ms", 500ms},
      {"0s", 0ms},
      {"1y2w3d4h5m6s7ms", 8760h + 336h + 72h + 4h + 5min + 6s + 7ms},
      {"1m500ms", 60500ms},
      {"00030s", 30s},
      {"292y", 8760h * 292},
  };
  for (const auto& [text, value] : table) {
    const auto parsed = parse_prometheus_duration(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().problem;
    EXPECT_EQ(*parsed, value) << text;
  }
}

TEST(PrometheusDuration, RefusesOtherTextAndSaysWhatToWrite) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"", "30s"},
      {"30", "\"30s\""},
      {"30sec", "\"30s\""},
      {"1min", "\"1m\""},
      {"1H", "\"1h\""},
      {"1.5m", "1m30s"},
      {".5m", "1h30m"},
      {"1m1h", "larger ones first"},
      {"1s1s", "each unit once"},
      {"30 s", "\"30s\""},
      {" 30s", "\"30s\""},
      {"-1s", "for example"},
      {"s", "for example"},
      {"1x", "units"},
      {"1us", "units"},
      {"300y", "290 years"},
      {"99999999999999999999999y", "290 years"},
      {"1m30", "for example"},
      {"1h\xff", "units"},
      {"00", "\"00s\""},
  };
  for (const auto& [text, cure] : table) {
    const auto parsed = parse_prometheus_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().fix, HasSubstr(std::string(cure))) << text << ": " << parsed.error().problem;
  }
}

TEST(GoDuration, ReadsWhatGoReads) {
  const std::pair<std::string_view, std::chrono::nanoseconds> table[] = {
      {"0", 0ns},
      {"-0", 0ns},
      {"1.5h", 90min},
      {"-1.5h", -90min},
      {"+5s", 5s},
      {"1h15m30.918s", 4530918ms},
      {"1ns", 1ns},
      {"1us", 1us},
      {"1µs", 1us},
      {"1μs", 1us},
      {"5.s", 5s},
      {".5s", 500ms},
      {"1s1h", 3601s},
      {"9223372036854775807ns", std::chrono::nanoseconds::max()},
      {"-9223372036854775808ns", std::chrono::nanoseconds::min()},
      {"0.3333333333333333333h", 20min},
  };
  for (const auto& [text, value] : table) {
    const auto parsed = parse_go_duration(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().problem;
    EXPECT_EQ(*parsed, value) << text;
  }
}

TEST(GoDuration, RefusesWhatGoRefuses) {
  for (const std::string_view text :
       {"", "3", "-", "s", ".", "-.", ".s", "+.s", "1d", "1 s", "--1s", "9223372036854775808ns",
        "9223372036854775807us", "3000000h", "-9223372036854775809ns", "1h\xff"})
    EXPECT_FALSE(parse_go_duration(text)) << text;
}

}  // namespace
}  // namespace stackgate::validate::grammar
